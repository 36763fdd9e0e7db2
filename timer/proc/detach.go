package proc

import (
	"fmt"
	"os"
)

// Detach starts a process that is independent of this one. It has a session of its own, the root
// folder, the null device as standard input, no other descriptor, default signal actions, and
// exactly the given environment. Its output and errors are appended to log (nil: the null device).
// It lives on when this process or its terminal ends.
//
// argv[0] is the path to run, usually Executable(). A session leader without a terminal must open
// terminals with O_NOCTTY, or the first that it opens becomes its own.
func Detach(argv, env []string, log *os.File) (Identity, error) {
	p, err := Start(Spec{Argv: argv, Dir: rootFolder(), Env: env, Umask: -1, Stdout: log, Stderr: log, detached: true})
	if err != nil {
		return Identity{}, err
	}
	return p.Identity(), nil
}

// Executable returns a path that runs this very program again. It prefers /proc/self/exe, which
// works even if the file was replaced or deleted (go run deletes it), to os.Executable.
func Executable() (string, error) {
	if _, err := os.Readlink(selfLink); err == nil {
		return selfLink, nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("the path of this program is not known: %w", err)
	}
	return path, nil
}

// selfLink is a link of the kernel to the program of the process that opens it.
const selfLink = "/proc/self/exe"
