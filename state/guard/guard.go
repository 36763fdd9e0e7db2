// Package guard says whether a folder can be trusted with what is run in our name, and why not:
// whose it is, who else can write to it or put another one in its place, and what file system it is
// on. It changes nothing.
package guard

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
)

// Home refuses, with state.ErrUnusable, a state folder that must not be used: one that others can
// write to, or that belongs to another user, as when sudo kept HOME. It may be a link; what it
// stands for is looked at. One that is not there is os.ErrNotExist.
func Home(path string) error { return folder(path, os.Stat) }

// Folder is Home of a folder in it, which may be no link.
func Folder(path string) error { return folder(path, os.Lstat) }

func folder(path string, stat func(string) (os.FileInfo, error)) error {
	info, err := stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: the state folder: %w", state.ErrUnusable, err)
	}
	if !info.IsDir() {
		kind := "is not a folder"
		if info.Mode()&os.ModeSymlink != 0 {
			kind = "is a link, which may lead anywhere"
		}
		return fmt.Errorf("%w: %s %s; move it away", state.ErrUnusable, path, kind)
	}
	if uid, ok := Owner(info); ok && uid != os.Geteuid() {
		return fmt.Errorf("%w: %s belongs to user %d and this is user %d; run it as that user, or set OURO_HOME to a folder of your own",
			state.ErrUnusable, path, uid, os.Geteuid())
	}
	if runtime.GOOS != "windows" && othersWrite(info.Mode()) {
		return fmt.Errorf("%w: %s can be written by others, who could have anything run in your name; type: chmod go-w %s",
			state.ErrUnusable, path, path)
	}
	return nil
}

// self is the user that this process acts as. It does not change, and is asked for with each of very many files.
var self = sync.OnceValue(os.Geteuid)

// File refuses a file of such an owner and mode when somebody else could have put something into
// it; root is trusted, as everything of root's is.
func File(path string, uid int, mode os.FileMode) error {
	if self := self(); uid != self && uid != 0 {
		return fmt.Errorf("%w: %s belongs to user %d and this is user %d; look at it, then type: chown %d %s", state.ErrUnusable, path, uid, self, self, state.ShellLine([]string{path}))
	}
	if othersWrite(mode) {
		return fmt.Errorf("%w: %s can be written by others; look at it, then type: chmod go-w %s", state.ErrUnusable, path, state.ShellLine([]string{path}))
	}
	return nil
}

// othersWrite reports whether group or others may write.
func othersWrite(mode os.FileMode) bool { return mode.Perm()&0o022 != 0 }

// Plain refuses what is no plain file, a link to one included. What is not there is fine.
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
	return fmt.Errorf("%w: %s is not a plain file; look at it, then type: rm %s", state.ErrUnusable, path, path)
}
