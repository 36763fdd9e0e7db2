package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
)

// outlet writes lines to a stream whose reader may be slow or absent. One goroutine writes, so
// lines of different writers do not mix, and a writer waits for the reader only if it calls give.
type outlet struct {
	to   io.Writer
	mark func(lost int) []byte // makes the text in the place of lines that were left out
	done chan struct{}         // is closed when no more is written

	mu    sync.Mutex
	some  sync.Cond // signals that something below has changed
	text  []byte    // the whole lines that wait
	lost  int       // how many lines after text found no room
	ended bool

	writing int   // how many bytes are being written
	err     error // why no more can be written
}

const (
	// outletMost is how much may wait for the reader.
	outletMost = 4 << 20
	// outletEnough is how much may wait before give waits.
	outletEnough = 64 << 10
)

// These say why lines were not written although the reader is there.
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

// put adds lines if there is room for them, and does not wait.
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

// give adds lines, and waits until there is room for more.
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

// add adds lines. The caller holds mu.
func (o *outlet) add(lines []byte) {
	o.text = append(o.text, lines...)
	o.some.Broadcast()
}

// Write is put, as an io.Writer.
func (o *outlet) Write(lines []byte) (int, error) { return len(lines), o.put(lines) }

// work writes lines as they come.
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

// close returns when all lines are written or ctx ends. left is how many bytes were not written,
// and err why. No lines may be added after it.
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
