package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
)

// outlet writes lines to a stream that somebody may read slowly, or not at all: one goroutine does,
// so that lines of different speakers do not mix, and no speaker waits for the reader but who asks
// to.
type outlet struct {
	to   io.Writer
	mark func(lost int) []byte // is written in the place of lines that were left out
	done chan struct{}         // closed when nothing is written any more

	mu    sync.Mutex
	some  sync.Cond // something below has changed
	text  []byte    // whole lines
	lost  int       // lines that found no room, behind text
	ended bool

	writing int   // bytes that are being written
	err     error // nobody reads what is written
}

const (
	// outletMost is how much waits for the reader at most.
	outletMost = 4 << 20
	// outletEnough is how much may wait before who can wait does so.
	outletEnough = 64 << 10
)

// Why lines are not written, where the reader is there.
var (
	errUnread = errors.New("nobody reads it")
	errCut    = errors.New("it was not waited for")
)

func newOutlet(to io.Writer, mark func(lost int) []byte) *outlet {
	o := &outlet{to: to, mark: mark, done: make(chan struct{})}
	o.some.L = &o.mu
	go o.work()
	return o
}

// put has lines written, if there is room for them.
func (o *outlet) put(lines []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return o.err
	case o.lost > 0 || len(o.text)+len(lines) > outletMost:
		o.lost += bytes.Count(lines, []byte("\n"))
		return errUnread
	}
	o.add(lines)
	return nil
}

// give has lines written, and waits until there is room for more.
func (o *outlet) give(lines []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.add(lines)
	}
	for o.err == nil && len(o.text) > outletEnough {
		o.some.Wait()
	}
	return o.err
}

// add takes in lines. The caller holds mu.
func (o *outlet) add(lines []byte) {
	o.text = append(o.text, lines...)
	o.some.Broadcast()
}

// Write is put for lines that are made with the means of fmt.
func (o *outlet) Write(lines []byte) (int, error) { return len(lines), o.put(lines) }

// work writes what comes.
func (o *outlet) work() {
	defer close(o.done)
	o.mu.Lock()
	defer o.mu.Unlock()
	var writing []byte
	for o.err == nil {
		if len(o.text) == 0 && o.lost == 0 {
			if o.ended {
				return
			}
			o.some.Wait()
			continue
		}
		writing, o.text = o.text, writing[:0]
		if o.lost > 0 {
			writing = append(writing, o.mark(o.lost)...)
			o.lost = 0
		}
		o.writing = len(writing)
		o.some.Broadcast()
		o.mu.Unlock()
		_, err := o.to.Write(writing)
		o.mu.Lock()
		o.writing = 0
		if o.err == nil && err != nil {
			o.err = err
			o.some.Broadcast()
		}
	}
}

// close returns when all was written, or when ctx ends, and the error of who could not be written
// to. left is how much was not written. Nothing may be given any more.
func (o *outlet) close(ctx context.Context) (left int64, err error) {
	o.mu.Lock()
	o.ended = true
	o.some.Broadcast()
	o.mu.Unlock()
	select {
	case <-o.done:
	case <-ctx.Done():
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case <-o.done:
	default:
		o.err = errCut
	}
	if o.err == errCut {
		return int64(len(o.text) + o.writing), nil
	}
	return 0, o.err
}

// sameStream reports whether two streams are one file, pipe, socket or terminal.
func sameStream(a, b io.Writer) bool {
	f, ok := a.(*os.File)
	g, ok2 := b.(*os.File)
	if !ok || !ok2 {
		return a == b
	}
	x, err := f.Stat()
	if err != nil {
		return false
	}
	y, err := g.Stat()
	return err == nil && os.SameFile(x, y)
}
