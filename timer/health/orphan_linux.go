package health

import (
	"runtime"
	"syscall"
)

// diesWithUs has the kernel kill a child when we are killed and cannot do it ourselves. The kernel
// looks at the thread that started the child, not at the process: the calling goroutine keeps that
// thread, and with it the child, until release. What the child has started is not reached.
func diesWithUs(attr *syscall.SysProcAttr) (release func()) {
	runtime.LockOSThread()
	attr.Pdeathsig = syscall.SIGKILL
	return runtime.UnlockOSThread
}
