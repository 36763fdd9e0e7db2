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

// maxFamilyFile is the largest size of the file of the family, in bytes.
const maxFamilyFile = 64 << 10

// familySetting returns a setting from the file config in the home of ouro. Its lines are
// KEY=VALUE, with an optional "export" before them, optional quotes around the value and comments
// after "#". Other programs own the file, so only the two keys of email are read. Without the file,
// or the key, the setting is "". A file that other users can read is refused, because it holds a
// secret.
func familySetting(home, key string) (string, error) {
	if home == "" || !slices.Contains([]string{resendKey, resendFrom}, key) {
		return "", nil
	}
	path := filepath.Join(home, "config")
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", transient("reading %s for %s: %s", path, key, plain.Line(err.Error()))
	}
	switch {
	case !info.Mode().IsRegular():
		return "", nil // a folder of that name is not the file
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return "", exposedError(path, "%s is not read for %s, because others may read or write it (mode %04o): chmod 600 it", path, key, info.Mode().Perm())
	case info.Size() > maxFamilyFile:
		return "", localError("%s is not read for %s, because it has more than %d bytes", path, key, maxFamilyFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", transient("reading %s for %s: %s", path, key, plain.Line(err.Error()))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFamilyFile))
	if err != nil {
		return "", transient("reading %s for %s: %s", path, key, plain.Line(err.Error()))
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
