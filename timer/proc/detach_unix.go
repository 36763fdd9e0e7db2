//go:build unix

package proc

import (
	"os"
	"runtime"
	"syscall"
)

// launch starts the process of Detach. If that ends before we do, it does not stay as a zombie.
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
	go reapUnseen(f.pid)
	return id, nil
}
