package agent

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// How many bytes of a stream are kept: of its beginning, of its end, and of what comes after the
// answer.
const (
	maxHead = 64 << 10
	maxTail = 64 << 10
	maxLate = 64 << 10
)

// recorder keeps what a process writes to a stream in the file of its last reminder. It never
// exceeds its bounds, on disk and in memory, and never fails: what cannot be kept is lost.
type recorder struct {
	also io.Writer // gets everything, too; may be nil

	mu      sync.Mutex
	file    *os.File // nil if nothing is kept
	head    int      // how many bytes of the beginning may still be written
	tail    []byte   // the end of what came after the beginning
	total   int64
	omitted int64 // bytes since the last flush that are neither in the file nor in tail
	cut     bool  // an earlier flush has omitted something
}

// rotate begins the file that create makes. If create is nil, nothing is kept.
func (r *recorder) rotate(create func() (*os.File, error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeFile()
	r.head, r.tail, r.total, r.omitted, r.cut = maxHead, nil, 0, 0, false
	if create == nil {
		return
	}
	if f, err := create(); err == nil {
		r.file = f
	}
}

// add keeps b. The caller holds mu.
func (r *recorder) add(b []byte) {
	if r.also != nil {
		_, _ = r.also.Write(b)
	}
	r.total += int64(len(b))
	if n := min(r.head, len(b)); n > 0 {
		r.write(b[:n])
		r.head -= n
		b = b[n:]
	}
	if r.tail = append(r.tail, b...); len(r.tail) > 2*maxTail {
		r.omitted += int64(len(r.tail) - maxTail)
		r.tail = append(r.tail[:0], r.tail[len(r.tail)-maxTail:]...)
	}
}

// Write is add for a caller that does not hold mu.
func (r *recorder) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(b)
	return len(b), nil
}

// flush writes the tail into the file, and returns what the process has written so far. A little
// more may be kept after that.
func (r *recorder) flush() Written {
	r.mu.Lock()
	defer r.mu.Unlock()
	if over := len(r.tail) - maxTail; over > 0 {
		r.omitted += int64(over)
		r.tail = r.tail[over:]
	}
	if r.omitted > 0 {
		r.cut = true
		r.write(fmt.Appendf(nil, "\n[... %d of %d bytes left out ...]\n", r.omitted, r.total))
	}
	r.write(r.tail)
	r.head, r.tail, r.omitted = maxLate, nil, 0
	return Written{Bytes: r.total, Truncated: r.cut}
}

// end closes the file.
func (r *recorder) end() {
	r.flush()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closeFile()
}

// write writes to the file, if there is one.
func (r *recorder) write(b []byte) {
	if r.file != nil && len(b) > 0 {
		_, _ = r.file.Write(b)
	}
}

// closeFile closes the file, if there is one.
func (r *recorder) closeFile() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}
