package proc

import (
	"fmt"
	"io/fs"
	"os"
)

// Detach starts a process that is independent of us. It has a session of its own, the root folder,
// the null device as standard input, no other descriptor, default signal actions, and exactly the
// given environment. Its output and errors are appended to log (nil: the null device). Nobody waits
// for it. It lives on when we or our terminal end.
//
// argv[0] is the path to run, usually Executable(). A session leader without a terminal must open
// terminals with O_NOCTTY, or such a terminal becomes its own.
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
		// ps shows the name by which we were called, not the link.
		argv = append([]string{os.Args[0]}, argv[1:]...)
	}
	// a nil env would mean our own
	id, err := launch(path, argv, append([]string{}, env...), null, log)
	if err != nil {
		return Identity{}, &StartError{"start", path, reason(err)}
	}
	return id, nil
}

// Executable returns a path that runs this very program again: /proc/self/exe if there is one,
// because it works even if the file was replaced or deleted meanwhile (go run deletes it), and
// otherwise os.Executable.
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
