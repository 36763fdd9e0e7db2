package proc

import (
	"fmt"
	"io/fs"
	"os"
)

// Detach starts a process that has nothing more to do with us: a session of its own, the root folder, standard input
// from the null device, output and errors appended to log (nil: the null device), no other descriptor, default signal
// actions, exactly the given environment. It is not waited for; it lives on when we end, and so does our terminal
// without it.
//
// argv[0] is the path to run, usually Executable(). In a session leader without a terminal an open of a terminal must
// carry O_NOCTTY, or that terminal becomes its own.
func Detach(argv, env []string, log *os.File) (Identity, error) {
	if len(argv) == 0 || argv[0] == "" {
		return Identity{}, &StartError{"find", "", fs.ErrNotExist}
	}
	ResetSignals()
	if err := DetachDescriptors(); err != nil {
		return Identity{}, &StartError{"start", argv[0], err}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return Identity{}, &StartError{"open", os.DevNull, err}
	}
	defer null.Close()
	if log == nil {
		log = null
	}
	path := argv[0]
	if path == selfLink {
		// ps shows the name we were called by, not the link.
		argv = append([]string{os.Args[0]}, argv[1:]...)
	}
	id, err := launch(path, argv, append([]string{}, env...), null, log) // an env of nil would stand for our own
	if err != nil {
		return Identity{}, &StartError{"start", path, reason(err)}
	}
	return id, nil
}

// Executable is a path that runs this very program again: /proc/self/exe where it exists, which works although the file
// was replaced or deleted meanwhile (go run deletes it), else os.Executable.
func Executable() (string, error) {
	if _, err := os.Readlink(selfLink); err == nil {
		return selfLink, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot tell where this program is: %w", err)
	}
	return path, nil
}

const selfLink = "/proc/self/exe"
