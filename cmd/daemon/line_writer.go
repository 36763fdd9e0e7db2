package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
)

// lineWriter writes lines to a stream whose reader may be slow or absent. One goroutine writes, so
// the lines of several callers do not mix. Only putAndWait waits for the reader.
type lineWriter struct {
	to       io.Writer
	markLost func(lost int) []byte // makes the text in the place of lines that were left out
	done     chan struct{}         // is closed when no more is written

	mu      sync.Mutex
	changed sync.Cond // signals that something below has changed
	text    []byte    // the whole lines that wait
	lost    int       // how many lines after text had no room
	ended   bool

	writing int   // how many bytes are being written
	err     error // why no more can be written
}

const (
	// waitingMost is how much may wait for the reader.
	waitingMost = 4 << 20
	// waitingEnough is how much may wait before putAndWait waits.
	waitingEnough = 64 << 10
)

// These say why lines were not written although there is a reader.
var (
	errUnread = errors.New("nobody reads it")
	errCut    = errors.New("it was not waited for")
)

func newLineWriter(to io.Writer, mark func(lost int) []byte) *lineWriter {
	o := &lineWriter{to: to, markLost: mark, done: make(chan struct{})}
	o.changed.L = &o.mu
	go o.run()
	return o
}

// put adds lines if there is room for them, and does not wait.
func (o *lineWriter) put(lines []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.err != nil:
		return o.err
	case o.lost > 0 || len(o.text)+len(lines) > waitingMost:
		o.lost += bytes.Count(lines, []byte("\n"))
		return errUnread
	}
	o.add(lines)
	return nil
}

// putAndWait adds lines, and waits until there is room for more.
func (o *lineWriter) putAndWait(lines []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.add(lines)
	}
	for o.err == nil && len(o.text) > waitingEnough {
		o.changed.Wait()
	}
	return o.err
}

// add adds lines. The caller holds mu.
func (o *lineWriter) add(lines []byte) {
	o.text = append(o.text, lines...)
	o.changed.Broadcast()
}

// Write is put, as an io.Writer.
func (o *lineWriter) Write(lines []byte) (int, error) { return len(lines), o.put(lines) }

// run writes lines as they come.
func (o *lineWriter) run() {
	defer close(o.done)
	o.mu.Lock()
	defer o.mu.Unlock()
	var writing []byte
	for o.err == nil {
		if len(o.text) == 0 && o.lost == 0 {
			if o.ended {
				return
			}
			o.changed.Wait()
			continue
		}
		writing, o.text = o.text, writing[:0]
		if o.lost > 0 {
			writing = append(writing, o.markLost(o.lost)...)
			o.lost = 0
		}
		o.writing = len(writing)
		o.changed.Broadcast()
		o.mu.Unlock()
		_, err := o.to.Write(writing)
		o.mu.Lock()
		o.writing = 0
		if o.err == nil && err != nil {
			o.err = err
			o.changed.Broadcast()
		}
	}
}

// close returns when all lines are written or ctx ends. left is how many bytes were not written,
// and err why. No lines may be added after it.
func (o *lineWriter) close(ctx context.Context) (left int64, err error) {
	o.mu.Lock()
	o.ended = true
	o.changed.Broadcast()
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
