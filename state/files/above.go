package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// linksMost bounds the links on the way to a folder, as the system does.
const linksMost = 40

// unsafeAbove is a folder above the state in which others could put something else in its place.
type unsafeAbove struct {
	path  string
	text  string // what is wrong with it
	chmod bool   // that is its permissions, and it is ours
}

func (u *unsafeAbove) Error() string { return u.path + " " + u.text }

// hint is what to type.
func (u *unsafeAbove) hint() string {
	if u.chmod {
		return "chmod go-w " + quoted(u.path) + ", or set OURO_HOME to a folder below your own"
	}
	return "set OURO_HOME to a folder below your own"
}

// safeWay refuses a path on which somebody else could put another folder in the place of ours, with the rule that sshd has for the way to
// authorized_keys (StrictModes) and sudo for its plugins: each folder up to / belongs to root or to us, and neither group nor others can
// write to it, a group of our own included. But where only who owns a name may remove it (the sticky bit, as /tmp has it) anybody may write. Links
// are followed one by one: whoever can replace one, or a folder on the way to it, decides where it leads. What is not there yet is made by
// us.
func safeWay(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	rest, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	at, links := string(filepath.Separator), 0
	if err := aboveAt(at); err != nil {
		return err
	}
	for parts := split(rest); len(parts) > 0; {
		part := parts[0]
		parts = parts[1:]
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		switch {
		case missing(err):
			return nil
		case err != nil:
			return err
		case info.Mode()&os.ModeSymlink != 0:
			if u := ownedAbove(next, info); u != nil {
				return u
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
		if at = next; len(parts) == 0 { // ours, which guard looks at
			return nil
		}
		if part == ".." { // it was looked at on the way down
			continue
		}
		if err := aboveAt(at); err != nil {
			return err
		}
	}
	return nil
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == filepath.Separator })
}

// aboveAt looks at one folder.
func aboveAt(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if u := ownedAbove(path, info); u != nil {
		return u
	}
	if mode := info.Mode(); mode.Perm()&0o022 != 0 && mode&os.ModeSticky == 0 {
		uid, _ := owner(info)
		return &unsafeAbove{path: path, text: "can be written by others, who could put another folder in the place of what is below it", chmod: uid == os.Geteuid()}
	}
	return nil
}

// ownedAbove looks at the owner of a folder or of a link.
func ownedAbove(path string, info os.FileInfo) *unsafeAbove {
	uid, ok := owner(info)
	if !ok || uid == 0 || uid == os.Geteuid() || unmapped(uid) {
		return nil
	}
	return &unsafeAbove{path: path, text: fmt.Sprintf("belongs to user %d, who could put another folder in the place of what is below it, and this is user %d", uid, os.Geteuid())}
}

// guardAbove refuses a state folder on the way to which others could put another in its place.
func (s *Store) guardAbove() error {
	if s.inspect {
		return nil
	}
	err := safeWay(s.dir)
	var u *unsafeAbove
	if errors.As(err, &u) {
		return fmt.Errorf("%w: %w; %s%s", state.ErrUnusable, u, map[bool]string{true: "type: "}[u.chmod], u.hint())
	}
	return fail("looking at the folders above the state", err)
}
