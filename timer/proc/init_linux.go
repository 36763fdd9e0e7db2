package proc

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// initPID is the number of the process that gets the orphans of all others.
const initPID = 1

// init keeps the main thread for the main goroutine, because the kernel gives orphans to that
// thread. So no child of ours is started there.
func init() {
	if os.Getpid() == initPID {
		runtime.LockOSThread()
	}
}

// AsInit calls f and returns its result. Only the main goroutine may call it, as early as possible.
// In the first process of a machine or of a container it also waits for orphans, which would
// otherwise stay as zombies.
//
// It never takes the end of one of our processes from the goroutine that waits for it: a child
// belongs to the thread that started it, f runs on other threads than the main one, and AsInit only
// waits for children of the main thread.
func AsInit(f func() int) int {
	if os.Getpid() != initPID {
		return f()
	}
	childEnded, returned := make(chan os.Signal, 1), make(chan int, 1)
	signal.Notify(childEnded, syscall.SIGCHLD)
	go func() { returned <- f() }()
	for {
		reapOrphans()
		select {
		case <-childEnded:
		case code := <-returned:
			return code
		}
	}
}

// reapOrphans waits for the ended children of the calling thread.
func reapOrphans() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WNOTHREAD|unix.WALL, nil)
		if err != unix.EINTR && pid <= 0 {
			return
		}
	}
}
