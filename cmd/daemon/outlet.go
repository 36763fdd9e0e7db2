package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
)

// outlet writes lines to a stream that somebody may read slowly, or not at all: one goroutine does, so that lines of different
// speakers do not mix, and no speaker waits for the reader but who asks to.
type outlet struct {
	to   io.Writer
	mark func(lost int) []byte // is written in the place of lines that were left out
	Done chan struct{}         // closed when nothing is written any more

	mu    sync.Mutex
	some  sync.Cond // something below has changed
	Text  []byte    // whole lines
	lost  int       // lines that found no room, behind text
	ended bool

	writing int   // bytes that are being written
	err     error // nobody reads what is written
}

const (
	// OutletMost is how much waits for the reader at most.
	OutletMost = 4 << 20
	// OutletEnough is how much may wait before who can wait does so.
	OutletEnough = 64 << 10
)

// Why lines are not written, where the reader is there.
var (
	ErrUnread = errors.New("nobody reads it")
	errCut    = errors.New("it was not waited for")
)

func NewOutlet(to io.Writer, mark func(lost int) []byte) *outlet {
	o := &outlet{to: to, mark: mark, Done: make(chan struct{})}
	o.some.L = &o.mu
	go o.work()
	return o
}

// Put has lines written, if there is room for them.
func (o *outlet) Put(lines []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return o.err
	case o.lost > 0 || len(o.Text)+len(lines) > OutletMost:
		o.lost += bytes.Count(lines, []byte("\n"))
		return ErrUnread
	}
	o.add(lines)
	return nil
}

// Give has lines written, and waits until there is room for more.
func (o *outlet) Give(lines []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.add(lines)
	}
	for o.err == nil && len(o.Text) > OutletEnough {
		o.some.Wait()
	}
	return o.err
}

// add takes in lines. The caller holds mu.
func (o *outlet) add(lines []byte) {
	o.Text = append(o.Text, lines...)
	o.some.Broadcast()
}

// Write is put for lines that are made with the means of fmt.
func (o *outlet) Write(lines []byte) (int, error) { return len(lines), o.Put(lines) }

// work writes what comes.
func (o *outlet) work() {
	defer close(o.Done)
	o.mu.Lock()
	defer o.mu.Unlock()
	var writing []byte
	for o.err == nil {
		if len(o.Text) == 0 && o.lost == 0 {
			if o.ended {
				return
			}
			o.some.Wait()
			continue
		}
		writing, o.Text = o.Text, writing[:0]
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

// Close returns when all was written, or when ctx ends, and the error of who could not be written to. left is how much was not written.
// Nothing may be given any more.
func (o *outlet) Close(ctx context.Context) (left int64, err error) {
	o.mu.Lock()
	o.ended = true
	o.some.Broadcast()
	o.mu.Unlock()
	select {
	case <-o.Done:
	case <-ctx.Done():
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case <-o.Done:
	default:
		o.err = errCut
	}
	if o.err == errCut {
		return int64(len(o.Text) + o.writing), nil
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
