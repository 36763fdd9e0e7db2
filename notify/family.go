package notify

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// Settings of email that the whole ouro family shares.
const (
	resendKey  = "RESEND_API_KEY"
	resendFrom = "NOTIFY_EMAIL_FROM"
)

// familyLimit is the most bytes the family's file may have.
const familyLimit = 64 << 10

// family is a setting of the file config in the home of ouro, which holds lines of KEY=VALUE and
// may have an "export" in front, quotes around the value and comments after "#". It is a file of
// others: only the two keys of email are read of it. Without the file, or the key, it is "". A file
// that others may read is refused, as it holds a secret.
func family(home, key string) (string, error) {
	if home == "" || !slices.Contains([]string{resendKey, resendFrom}, key) {
		return "", nil
	}
	path := filepath.Join(home, "config")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", passing("reading %s for %s: %s", path, key, plain.Line(err.Error()))
	}
	switch {
	case !info.Mode().IsRegular():
		return "", nil // a folder of that name is none of ours
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", mendable("%s is not read for %s, because others may read or write it (mode %04o): chmod 600 it", path, key, info.Mode().Perm())
	case info.Size() > familyLimit:
		return "", mendable("%s is not read for %s, because it has more than %d bytes", path, key, familyLimit)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", passing("reading %s for %s: %s", path, key, plain.Line(err.Error()))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, familyLimit))
	if err != nil {
		return "", passing("reading %s for %s: %s", path, key, plain.Line(err.Error()))
	}
	found := ""
	for line := range strings.Lines(string(data)) {
		if name, value, ok := assignment(line); ok && name == key {
			found = value // the last one counts, as in a shell
		}
	}
	return found, nil
}

// assignment reads a line of KEY=VALUE.
func assignment(line string) (name, value string, ok bool) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "\uFEFF"))
	if rest, exported := strings.CutPrefix(line, "export"); exported && strings.TrimLeft(rest, " \t") != rest {
		line = strings.TrimLeft(rest, " \t")
	}
	name, value, ok = strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || strings.HasPrefix(name, "#") {
		return "", "", false
	}
	if value != "" && (value[0] == '"' || value[0] == '\'') {
		if inner, _, closed := strings.Cut(value[1:], value[:1]); closed {
			return name, inner, true
		}
	}
	for i := range len(value) {
		if value[i] == '#' && (i == 0 || value[i-1] == ' ' || value[i-1] == '\t') {
			value = strings.TrimSpace(value[:i])
			break
		}
	}
	return name, value, true
}
