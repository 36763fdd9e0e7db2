package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// linksMost bounds the links on the way to a folder, as the system does.
const linksMost = 40

// Above refuses a path, with *Error, on which somebody else could put another folder in the
// place of ours, with the rule that sshd has for the way to authorized_keys (StrictModes) and sudo
// for its plugins: each folder up to / belongs to root or to us, and neither group nor others can
// write to it, a group of our own included. But where only who owns a name may remove it (the
// sticky bit, as /tmp has it) anybody may write. Links are followed one by one: whoever can replace
// one, or a folder on the way to it, decides where it leads. What is not there yet is made by us.
func Above(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	rest, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	at, links := string(filepath.Separator), 0
	root, err := os.Lstat(at)
	if err == nil {
		err = aboveAt(at, root)
	}
	if err != nil {
		return err
	}
	for parts := split(rest); len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return nil
		case err != nil:
			return err
		case info.Mode()&os.ModeSymlink != 0:
			if err := ownedAbove(next, info); err != nil {
				return err
			}
			if links++; links > linksMost {
				return fmt.Errorf("%s leads through more than %d links", path, linksMost)
			}
			to, err := os.Readlink(next)
			if err != nil {
				return err
			}
			if filepath.IsAbs(to) {
				at = string(filepath.Separator)
			}
			parts = append(split(to), parts...)
			continue
		}
		if at = next; len(parts) == 0 { // ours, which Home looks at
			return nil
		}
		if part == ".." { // it was looked at on the way down
			continue
		}
		if err := aboveAt(at, info); err != nil {
			return err
		}
	}
	return nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// aboveAt looks at one folder.
func aboveAt(path string, info os.FileInfo) error {
	if err := ownedAbove(path, info); err != nil {
		return err
	}
	if mode := info.Mode(); othersWrite(mode) && mode&os.ModeSticky == 0 {
		e := &Error{Reason: OthersWrite, Path: path, Text: path + " can be written by others, who could put another folder in the place of what is below it", to: elsewhere}
		if uid, _ := Owner(info); uid == self() {
			e.typed, e.to = true, "chmod go-w "+word(path)+", or "+elsewhere
		}
		return e
	}
	return nil
}

// elsewhere is what helps in any case.
const elsewhere = "set OURO_HOME to a folder below your own"

// ownedAbove looks at the owner of a folder or of a link.
func ownedAbove(path string, info os.FileInfo) error {
	uid, ok := Owner(info)
	if !ok || uid == 0 || uid == self() || unmapped(uid) {
		return nil
	}
	return &Error{Reason: NotOurs, Path: path, to: elsewhere, Text: fmt.Sprintf("%s belongs to user %d, who could put another folder in the place of what is below it, and this is user %d",
		path, uid, self())}
}
