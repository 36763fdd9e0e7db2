package proc

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// first is the number of the process that gets the orphans of all others.
const first = 1

// The main thread is where the kernel puts orphans. It is kept from starting processes of ours: for
// as long as the main goroutine has it no other one runs there.
func init() {
	if os.Getpid() == first {
		runtime.LockOSThread()
	}
}

// AsInit calls f and returns what it does. It is for the main goroutine alone, and as early as can
// be. In the first process of a machine or of a container orphans are waited for meanwhile, which
// would stay as zombies otherwise: nobody else does.
//
// How a process of ours ended is never taken away from who waits for it. To the kernel a child
// belongs to the thread that started it; f runs on others than the main thread, to which orphans
// are given, and only that one's are waited for here.
func AsInit(f func() int) int {
	if os.Getpid() != first {
		return f()
	}
	died, ended := make(chan os.Signal, 1), make(chan int, 1)
	signal.Notify(died, syscall.SIGCHLD)
	go func() { ended <- f() }()
	for {
		reapOrphans()
		select {
		case <-died:
		case code := <-ended:
			return code
		}
	}
}

// reapOrphans waits for those children of the calling thread that have ended.
func reapOrphans() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WNOTHREAD|unix.WALL, nil)
		if err != unix.EINTR && pid <= 0 {
			return
		}
	}
}
