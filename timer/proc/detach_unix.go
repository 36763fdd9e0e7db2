//go:build unix

package proc

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// launch starts the process of Detach. If it ends before we do, it does not stay as a zombie.
func launch(path string, argv, env []string, stdin, output *os.File) (Identity, error) {
	attr := &syscall.ProcAttr{
		Dir:   "/",
		Env:   env,
		Files: []uintptr{stdin.Fd(), output.Fd(), output.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	f := spawn(path, argv, attr, -1)
	runtime.KeepAlive(stdin)
	runtime.KeepAlive(output)
	if f.err != nil {
		return Identity{}, f.err
	}
	id := identify(f.pid)
	go func() {
		for {
			if _, err := unix.Wait4(f.pid, nil, 0, nil); err != unix.EINTR {
				return
			}
		}
	}()
	return id, nil
}
