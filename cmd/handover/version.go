package handover

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// newerVersion reports whether version a comes after b by semantic versioning. A text that is not a
// version is neither newer nor older.
func newerVersion(a, b string) bool {
	x, xOK := versionOf(a)
	y, yOK := versionOf(b)
	if !xOK || !yOK {
		return false
	}
	if c := slices.Compare(x.numbers[:], y.numbers[:]); c != 0 {
		return c > 0
	}
	switch {
	case x.pre == "" || y.pre == "":
		return x.pre == "" && y.pre != "" // 1.0.0 comes after 1.0.0-rc.1
	}
	p, q := strings.Split(x.pre, "."), strings.Split(y.pre, ".")
	return slices.CompareFunc(p, q, func(a, b string) int {
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
	}) > 0
}

type version struct {
	numbers [3]int
	pre     string
}

// versionOf reads 1.2.3, v1.2.3-rc.1 or 1.2.3+build.
func versionOf(text string) (v version, ok bool) {
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "v"), "+")
	text, v.pre, _ = strings.Cut(text, "-")
	parts := strings.Split(text, ".")
	if len(parts) != len(v.numbers) {
		return v, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return v, false
		}
		v.numbers[i] = n
	}
	return v, true
}
