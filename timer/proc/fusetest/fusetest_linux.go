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

// FS is a file system with one folder, which is empty.
type FS struct {
	Dir string // where it is mounted

	dev     int // the connection with the kernel
	mu      sync.Mutex
	answers bool
	pending [][]byte // the requests that were not answered
}

// Mount mounts an FS that answers nothing, until the end of the test. It skips the test if it
// cannot mount one.
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
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)
	if err := unix.Mount("silent", fs.Dir, "fuse", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		unix.Close(fd)
		t.Skip("FUSE cannot be mounted here: ", err)
	}
	served := make(chan struct{})
	go func() { defer close(served); fs.serve() }()
	t.Cleanup(func() {
		// After this, system calls that wait for an answer return an error.
		if err := unix.Unmount(fs.Dir, unix.MNT_FORCE|unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
		<-served
		unix.Close(fd)
	})
	return fs
}

// Answer makes the file system answer, or not, from now on. It also answers the pending requests.
func (fs *FS) Answer(answers bool) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.answers = answers; answers {
		for _, request := range fs.pending {
			fs.answer(request)
		}
		fs.pending = nil
	}
}

// Asked returns how many requests wait for an answer.
func (fs *FS) Asked() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return len(fs.pending)
}

// The numbers of the requests that an FS knows, as in linux/fuse.h.
const (
	opForget      = 2
	opGetattr     = 3
	opStatfs      = 17
	opInit        = 26
	opOpendir     = 27
	opReaddir     = 28
	opReleasedir  = 29
	opAccess      = 34
	opInterrupt   = 36
	opBatchForget = 42
)

// serve reads requests until the file system is unmounted.
func (fs *FS) serve() {
	for {
		buf := make([]byte, 1<<17)
		n, err := unix.Read(fs.dev, buf)
		switch {
		case err == unix.EINTR || err == unix.ENOENT || err == unix.EAGAIN: // ENOENT: interrupted
			continue
		case err != nil || n < 40:
			return
		}
		request := buf[:n]
		switch op := binary.NativeEndian.Uint32(request[4:]); op {
		case opForget, opBatchForget, opInterrupt: // these have no reply
		case opInit:
			fs.answer(request)
		default:
			fs.mu.Lock()
			if fs.answers {
				fs.answer(request)
			} else {
				fs.pending = append(fs.pending, request)
			}
			fs.mu.Unlock()
		}
	}
}

// answer answers a request: the folder exists and is empty.
func (fs *FS) answer(request []byte) {
	var body []byte
	errno := syscall.Errno(0)
	order := binary.NativeEndian
	switch order.Uint32(request[4:]) {
	case opInit:
		body = make([]byte, 64)
		order.PutUint32(body[0:], 7)  // the major version
		order.PutUint32(body[4:], 31) // the minor version
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
	copy(reply[8:16], request[8:16])                  // the id of the request
	_, _ = unix.Write(fs.dev, append(reply, body...)) // fails if the request was interrupted
}
