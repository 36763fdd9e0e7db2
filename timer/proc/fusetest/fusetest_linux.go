package fusetest

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// FS is a file system with nothing in its one folder.
type FS struct {
	Dir string // where it is mounted

	dev     int // the connection with the kernel
	mu      sync.Mutex
	answers bool
	asked   [][]byte // and not answered
}

// Mount mounts one that answers nothing, until the end of the test, which is skipped where there
// can be none.
func Mount(t *testing.T) *FS {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a file system that does not answer")
	}
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("there is no FUSE here: ", err)
	}
	fs := &FS{Dir: t.TempDir(), dev: fd}
	if err := unix.Mount("silent", fs.Dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)); err != nil {
		unix.Close(fd)
		t.Skip("FUSE cannot be mounted here: ", err)
	}
	served := make(chan struct{})
	go func() { defer close(served); fs.serve() }()
	t.Cleanup(func() {
		// What waits has an error from then on.
		if err := unix.Unmount(fs.Dir, unix.MNT_FORCE|unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
		<-served
		unix.Close(fd)
	})
	return fs
}

// Answer has it answer from now on, also what was asked before; not, if not.
func (fs *FS) Answer(does bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.answers = does; does {
		for _, request := range fs.asked {
			fs.answer(request)
		}
		fs.asked = nil
	}
}

// Asked is how many requests wait for an answer.
func (fs *FS) Asked() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return len(fs.asked)
}

// The requests that are known, as linux/fuse.h numbers them.
const (
	opForget, opGetattr, opStatfs, opInit, opOpendir, opReaddir, opReleasedir, opAccess, opInterrupt, opBatchForget = 2, 3, 17, 26, 27, 28, 29, 34, 36, 42
)

// serve reads requests until the file system is gone.
func (fs *FS) serve() {
	for {
		buf := make([]byte, 1<<17)
		n, err := unix.Read(fs.dev, buf)
		switch {
		case err == unix.EINTR || err == unix.ENOENT || err == unix.EAGAIN: // ENOENT: it was interrupted
			continue
		case err != nil || n < 40:
			return
		}
		request := buf[:n]
		switch op := binary.NativeEndian.Uint32(request[4:]); op {
		case opForget, opBatchForget, opInterrupt: // which nobody waits for
		case opInit:
			fs.answer(request)
		default:
			fs.mu.Lock()
			if fs.answers {
				fs.answer(request)
			} else {
				fs.asked = append(fs.asked, request)
			}
			fs.mu.Unlock()
		}
	}
}

// answer answers a request: there is a folder, and nothing in it.
func (fs *FS) answer(request []byte) {
	var body []byte
	errno := syscall.Errno(0)
	order := binary.NativeEndian
	switch order.Uint32(request[4:]) {
	case opInit:
		body = make([]byte, 64)
		order.PutUint32(body[0:], 7)  // the version
		order.PutUint32(body[4:], 31) // and the smaller number of it
		order.PutUint32(body[20:], 4096)
	case opGetattr:
		body = make([]byte, 104)
		attr := body[16:]
		order.PutUint64(attr[0:], 1)              // the inode
		order.PutUint32(attr[60:], 0o40000|0o755) // the mode
		order.PutUint32(attr[64:], 2)             // links
	case opStatfs:
		body = make([]byte, 80)
	case opOpendir:
		body = make([]byte, 16)
	case opReaddir, opReleasedir, opAccess:
	default:
		errno = syscall.ENOENT
	}
	reply := make([]byte, 16, 16+len(body))
	order.PutUint32(reply[0:], uint32(16+len(body)))
	order.PutUint32(reply[4:], uint32(-int32(errno)))
	copy(reply[8:16], request[8:16])                  // which request it is
	_, _ = unix.Write(fs.dev, append(reply, body...)) // it may have been interrupted
}
