package notify

import (
	"runtime"
	"syscall"
)

// diesWithUs makes the kernel kill a child when this process is killed. The kernel watches the
// thread that started the child, not the process. So the calling goroutine keeps that thread until
// release, which must be called when the child has ended. What the child has started is not
// reached.
func diesWithUs(attr *syscall.SysProcAttr) (release func()) {
	runtime.LockOSThread()
	attr.Pdeathsig = syscall.SIGKILL
	return runtime.UnlockOSThread
}
