package proc

import (
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawnRequest asks the spawner for one child.
type spawnRequest struct {
	path  string
	argv  []string
	attr  *syscall.ProcAttr
	umask int
	reply chan<- forked
}

// spawner returns the channel on which a thread with a umask of its own takes requests. It returns
// nil if a thread cannot have a umask of its own, because many containers refuse unshare.
var spawner = sync.OnceValue(func() chan<- spawnRequest {
	requests, ready := make(chan spawnRequest), make(chan error)
	go startSpawner(requests, ready)
	if <-ready != nil {
		return nil
	}
	return requests
})

// startSpawner makes one thread the spawner. It avoids the main thread, because /proc/self shows
// the umask and folder of that one.
func startSpawner(requests <-chan spawnRequest, ready chan<- error) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		locked := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(locked)
			runSpawner(requests, ready)
		}()
		<-locked // it is on another thread, because this goroutine still has the main one
		runtime.UnlockOSThread()
		return
	}
	runSpawner(requests, ready)
}

// runSpawner forks the children of all requests. Its thread shares umask and folder with no other,
// and blocks no signal. The thread never goes back to the runtime, because these changes cannot be
// undone.
func runSpawner(requests <-chan spawnRequest, ready chan<- error) {
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
	for r := range requests {
		if r.umask != umask {
			unix.Umask(r.umask)
			umask = r.umask
		}
		r.reply <- forkExec(r.path, r.argv, r.attr)
	}
}

// unshare gives the calling thread a umask and folder of its own. It is a variable so that tests
// can take it away.
var unshare = func() error { return unix.Unshare(unix.CLONE_FS) }

// spawn forks and executes with the given umask.
func spawn(path string, argv []string, attr *syscall.ProcAttr, umask int) forked {
	requests := spawner()
	if requests == nil {
		return spawnHere(path, argv, attr, umask)
	}
	if umask < 0 || umask == ownUmask() {
		return spawnHere(path, argv, attr, -1) // this thread has it, and need not ask the spawner
	}
	// The spawner's thread has kept the folder that the process had when it began.
	if attr.Dir == "" {
		if dir, err := os.Getwd(); err == nil {
			here := *attr
			here.Dir = dir
			attr = &here
		}
	}
	reply := make(chan forked)
	requests <- spawnRequest{path, argv, attr, umask, reply}
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

// diesWithUs makes the kernel kill a child when this process is killed. The kernel watches the
// thread that started the child, not the process. So the calling goroutine keeps that thread until
// release. What the child has started is not reached.
func diesWithUs(attr *syscall.SysProcAttr) (release func()) {
	runtime.LockOSThread()
	attr.Pdeathsig = syscall.SIGKILL
	return runtime.UnlockOSThread
}
