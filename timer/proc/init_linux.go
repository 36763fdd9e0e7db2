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

// The kernel gives orphans to the main thread. No child of ours must be started on it: as long as
// the main goroutine has it, no other goroutine runs there.
func init() {
	if os.Getpid() == first {
		runtime.LockOSThread()
	}
}

// AsInit calls f and returns its result. Only the main goroutine may call it, as early as possible.
// In the first process of a machine or of a container it meanwhile waits for orphans. Nobody else
// does, and they would stay as zombies.
//
// It never takes the end of one of our processes from the goroutine that waits for it. For the
// kernel a child belongs to the thread that started it. f runs on other threads than the main one,
// and AsInit only waits for children of the main thread, which gets the orphans.
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

// reapOrphans waits for the ended children of the calling thread.
func reapOrphans() {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG|unix.WNOTHREAD|unix.WALL, nil)
		if err != unix.EINTR && pid <= 0 {
			return
		}
	}
}
