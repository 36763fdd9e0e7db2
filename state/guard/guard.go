// Package guard says whether a folder can be trusted with what is run in our name, and why not:
// whose it is, who else can write to it or put another one in its place, and what file system it is
// on. It changes nothing.
package guard

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
)

// Reason is why a path cannot be used.
type Reason string

// The reasons.
const (
	OthersWrite Reason = "others_write" // somebody else can write to it
	Everybody   Reason = "everybody"    // everybody writes to it, as to /tmp
	NotOurs     Reason = "not_ours"     // it belongs to somebody else
	Link        Reason = "link"         // it is a link, which may lead anywhere
	NoFolder    Reason = "no_folder"    // it is not a folder, and should be one
	NoFile      Reason = "no_file"      // it is not a plain file, and should be one
)

// Error is a path that cannot be used, or through which somebody else could have anything run in
// our name. It is state.ErrUnusable.
type Error struct {
	Reason Reason
	Path   string
	Text   string // what is wrong with it, as a sentence that names it

	first string // what to do before anything else; empty: nothing
	to    string // what to do, or to type
	typed bool   // it begins with a command
}

// Hint is what to do about it.
func (e *Error) Hint() string {
	if e.first != "" {
		return e.first + ", then: " + e.to
	}
	return e.to
}

func (e *Error) Error() string {
	to := e.to
	if e.typed {
		to = "type: " + to
	}
	if e.first != "" {
		to = e.first + ", then " + to
	}
	return fmt.Sprintf("%v: %s; %s", state.ErrUnusable, e.Text, to)
}

func (e *Error) Unwrap() error { return state.ErrUnusable }

// word is a path as it is pasted into a shell.
func word(path string) string { return state.ShellLine([]string{path}) }

// Home refuses, with *Error, a state folder that must not be used: one that others can write to, or
// that belongs to another user, as when sudo kept HOME. It may be a link; what it stands for is
// looked at. One that is not there is os.ErrNotExist.
func Home(path string) error {
	err := folder(path, os.Stat, "set OURO_HOME to a folder of yours")
	if e, ok := errors.AsType[*Error](err); !ok || e.Reason != OthersWrite {
		return err
	}
	if info, failed := os.Stat(path); failed != nil || info.Mode()&os.ModeSticky == 0 {
		return err
	}
	// It was made for that, and has to stay so.
	return &Error{Everybody, path, path + " is a folder that everybody writes to", "",
		"set OURO_HOME to one in it, such as " + word(filepath.Join(path, "ouro")), false}
}

// Folder is Home of a folder in it, which may be no link.
func Folder(path string) error {
	return folder(path, os.Lstat, "mv "+word(path)+" "+word(path+".away"))
}

// folder looks at a folder; instead is what to do when it is none.
func folder(path string, stat func(string) (os.FileInfo, error), instead string) error {
	info, err := stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return err
	case err != nil:
		return fmt.Errorf("%w: the state folder: %w", state.ErrUnusable, err)
	case info.Mode()&os.ModeSymlink != 0:
		return &Error{Link, path, path + " is a link, which may lead anywhere", "look where it leads", "rm " + word(path), true}
	case !info.IsDir():
		return &Error{NoFolder, path, path + " is not a folder", "", instead, false}
	}
	if uid, ok := Owner(info); ok && uid != self() {
		return &Error{NotOurs, path, fmt.Sprintf("%s belongs to user %d and this is user %d", path, uid, self()),
			"", "run it as that user, or set OURO_HOME to a folder of yours", false}
	}
	if runtime.GOOS != "windows" && othersWrite(info.Mode()) {
		return &Error{OthersWrite, path, path + " can be written by others, who could have anything run in your name", "", "chmod go-w " + word(path), true}
	}
	return nil
}

// self is the user that this process acts as. It does not change, and is asked for with each of
// very many files.
var self = sync.OnceValue(os.Geteuid)

// File refuses, with *Error, a file of such an owner and mode when somebody else could have put
// something into it; root is trusted, as everything of root's is.
func File(path string, uid int, mode os.FileMode) error {
	if self := self(); uid != self && uid != 0 {
		return &Error{NotOurs, path, fmt.Sprintf("%s belongs to user %d, who could have anything run in your name, and this is user %d", path, uid, self),
			"look at it", fmt.Sprintf("chown %d %s; as a user who may not: cp %[2]s %[3]s && mv %[3]s %[2]s", self, word(path), word(path+".mine")), true}
	}
	if othersWrite(mode) {
		return &Error{OthersWrite, path, path + " can be written by others", "look at it", "chmod go-w " + word(path), true}
	}
	return nil
}

// othersWrite reports whether group or others may write.
func othersWrite(mode os.FileMode) bool { return mode.Perm()&0o022 != 0 }

// Plain refuses, with *Error, what is not a plain file, a link to one included. What is not there
// is fine.
func Plain(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: the state folder: %w", state.ErrUnusable, err)
	case !info.Mode().IsRegular():
		return NotPlain(path)
	}
	return nil
}

// NotPlain is the error of Plain, for who has found it out otherwise.
func NotPlain(path string) error {
	return &Error{NoFile, path, path + " is not a plain file", "look at it", "rm " + word(path), true}
}
