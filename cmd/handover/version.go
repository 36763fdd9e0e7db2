package handover

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// newerVersion reports whether version a comes after b by semantic versioning. A text that is not a
// version, such as 1.2.3, v1.2.3-rc.1 or 1.2.3+build, is neither newer nor older.
func newerVersion(a, b string) bool {
	form := regexp.MustCompile(`^v?(\d+)\.(\d+)\.(\d+)(?:-([^+]*))?(?:\+.*)?$`)
	x, y := form.FindStringSubmatch(a), form.FindStringSubmatch(b)
	if x == nil || y == nil {
		return false
	}
	if c := slices.CompareFunc(x[1:4], y[1:4], compareIdentifiers); c != 0 {
		return c > 0
	}
	if x[4] == "" || y[4] == "" {
		return x[4] == "" && y[4] != "" // 1.0.0 comes after 1.0.0-rc.1
	}
	return slices.CompareFunc(strings.Split(x[4], "."), strings.Split(y[4], "."), compareIdentifiers) > 0
}

// compareIdentifiers compares numbers as numbers, and puts them before words.
func compareIdentifiers(a, b string) int {
	m, mErr := strconv.Atoi(a)
	n, nErr := strconv.Atoi(b)
	switch {
	case mErr == nil && nErr == nil:
		return cmp.Compare(m, n)
	case mErr == nil:
		return -1
	case nErr == nil:
		return 1
	}
	return strings.Compare(a, b)
}
