package proc

import (
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// The kernel counts ru_maxrss in KiB.
const rssUnit = 1024

// order is one child for the spawner to fork.
type order struct {
	path  string
	argv  []string
	attr  *syscall.ProcAttr
	umask int
	reply chan<- forked
}

// spawner takes orders. It is nil if a thread cannot have a umask of its own (many containers
// refuse unshare).
var spawner = sync.OnceValue(func() chan<- order {
	orders, ready := make(chan order), make(chan error)
	go hire(orders, ready)
	if <-ready != nil {
		return nil
	}
	return orders
})

// hire makes one thread the spawner. It must not be the main thread, whose umask and folder
// /proc/self shows.
func hire(orders <-chan order, ready chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		locked := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(locked)
			serve(orders, ready)
		}()
		<-locked // another thread, because this one is taken
		runtime.UnlockOSThread()
		return
	}
	serve(orders, ready)
}

// serve forks the ordered children, forever, on a thread that shares umask and folder with no other
// and blocks no signal. The thread never goes back to the runtime, because these changes cannot be
// undone.
func serve(orders <-chan order, ready chan<- error) {
	if err := unshare(); err != nil {
		ready <- err
		return // a locked thread ends with its goroutine
	}
	// A child inherits the mask of the thread that forks it. Ours may come from our caller.
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, nil); err != nil {
		ready <- err
		return
	}
	ready <- nil
	umask := -1
	for o := range orders {
		if o.umask != umask {
			unix.Umask(o.umask)
			umask = o.umask
		}
		o.reply <- forkExec(o.path, o.argv, o.attr)
	}
}

// unshare gives the calling thread a umask and folder of its own. It is a variable so that tests
// can take it away.
var unshare = func() error { return unix.Unshare(unix.CLONE_FS) }

// spawn forks and executes with the given umask.
func spawn(path string, argv []string, attr *syscall.ProcAttr, umask int) forked {
	orders := spawner()
	if orders == nil {
		return spawnHere(path, argv, attr, umask)
	}
	// this thread already has what the child needs, which saves the way to the spawner
	if umask == ownUmask() && attr.Dir != "" {
		return spawnHere(path, argv, attr, -1)
	}
	// The spawner's own umask and folder are as old as its thread.
	if umask < 0 {
		umask = Umask()
	}
	if attr.Dir == "" {
		if dir, err := os.Getwd(); err == nil {
			here := *attr
			here.Dir = dir
			attr = &here
		}
	}
	reply := make(chan forked)
	orders <- order{path, argv, attr, umask, reply}
	return <-reply
}

// ownUmask is the umask of this process, which does not change if there is a spawner.
var ownUmask = sync.OnceValue(Umask)

// spawnHere forks on a thread that goes back to the runtime. It blocks no signal during that time.
func spawnHere(path string, argv []string, attr *syscall.ProcAttr, umask int) forked {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ours unix.Sigset_t
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &unix.Sigset_t{}, &ours); err != nil {
		return forked{err: err}
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &ours, nil)
	return spawnLocked(path, argv, attr, umask)
}
