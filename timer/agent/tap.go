package agent

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// How many bytes of a stream are kept, of its beginning, of its end, and of what comes after the
// answer.
const (
	headMost = 64 << 10
	tailMost = 64 << 10
	lateMost = 64 << 10
)

// tap keeps what a process writes, in the file of its last reminder. It never exceeds its bounds,
// on disk and in memory, and never fails: what cannot be kept is lost.
type tap struct {
	also io.Writer // gets all of it, too; nil: nobody

	mu    sync.Mutex
	file  *os.File // nil: nothing is kept
	head  int      // bytes of the beginning that may still be written
	tail  []byte   // the end of what came after
	total int64
	left  int64 // bytes that are neither in the file nor in tail, since the last settle
	cut   bool  // there were some before
}

// rotate begins a new file; nil: none.
func (t *tap) rotate(create func() (*os.File, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closeFile()
	t.head, t.tail, t.total, t.left, t.cut = headMost, nil, 0, 0, false
	if create == nil {
		return
	}
	if f, err := create(); err == nil {
		t.file = f
	}
}

// add keeps some more. The caller holds mu.
func (t *tap) add(b []byte) {
	if t.also != nil {
		_, _ = t.also.Write(b)
	}
	t.total += int64(len(b))
	if n := min(t.head, len(b)); n > 0 {
		t.write(b[:n])
		t.head -= n
		b = b[n:]
	}
	if t.tail = append(t.tail, b...); len(t.tail) > 2*tailMost {
		t.left += int64(len(t.tail) - tailMost)
		t.tail = append(t.tail[:0], t.tail[len(t.tail)-tailMost:]...)
	}
}

// Write is add for a caller that does not hold mu.
func (t *tap) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(b)
	return len(b), nil
}

// settle writes what is missing into the file and returns what was written so far. A little more
// may follow.
func (t *tap) settle() Written {
	t.mu.Lock()
	defer t.mu.Unlock()
	if over := len(t.tail) - tailMost; over > 0 {
		t.left += int64(over)
		t.tail = t.tail[over:]
	}
	if t.left > 0 {
		t.cut = true
		t.write(fmt.Appendf(nil, "\n[... %d of %d bytes left out ...]\n", t.left, t.total))
	}
	t.write(t.tail)
	t.head, t.tail, t.left = lateMost, nil, 0
	return Written{Bytes: t.total, Truncated: t.cut}
}

// end closes the file.
func (t *tap) end() {
	t.settle()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closeFile()
}

func (t *tap) write(b []byte) {
	if t.file != nil && len(b) > 0 {
		_, _ = t.file.Write(b)
	}
}

func (t *tap) closeFile() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}
