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

func newLineWriter(to io.Writer, markLost func(lost int) []byte) *lineWriter {
	w := &lineWriter{to: to, markLost: markLost, done: make(chan struct{})}
	w.changed.L = &w.mu
	go w.run()
	return w
}

// put adds lines if there is room for them, and does not wait.
func (w *lineWriter) put(lines []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.err != nil:
		return w.err
	case w.lost > 0 || len(w.text)+len(lines) > waitingMost:
		w.lost += bytes.Count(lines, []byte("\n"))
		return errUnread
	}
	w.add(lines)
	return nil
}

// putAndWait adds lines, and waits until there is room for more.
func (w *lineWriter) putAndWait(lines []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.add(lines)
	}
	for w.err == nil && len(w.text) > waitingEnough {
		w.changed.Wait()
	}
	return w.err
}

// add adds lines. The caller holds mu.
func (w *lineWriter) add(lines []byte) {
	w.text = append(w.text, lines...)
	w.changed.Broadcast()
}

// Write is put, as an io.Writer.
func (w *lineWriter) Write(lines []byte) (int, error) { return len(lines), w.put(lines) }

// run writes lines as they come.
func (w *lineWriter) run() {
	defer close(w.done)
	w.mu.Lock()
	defer w.mu.Unlock()
	var writing []byte
	for w.err == nil {
		if len(w.text) == 0 && w.lost == 0 {
			if w.ended {
				return
			}
			w.changed.Wait()
			continue
		}
		writing, w.text = w.text, writing[:0]
		if w.lost > 0 {
			writing = append(writing, w.markLost(w.lost)...)
			w.lost = 0
		}
		w.writing = len(writing)
		w.changed.Broadcast()
		w.mu.Unlock()
		_, err := w.to.Write(writing)
		w.mu.Lock()
		w.writing = 0
		if w.err == nil && err != nil {
			w.err = err
			w.changed.Broadcast()
		}
	}
}

// close returns when all lines are written or ctx ends. left is how many bytes were not written,
// and err why. No lines may be added after it.
func (w *lineWriter) close(ctx context.Context) (left int64, err error) {
	w.mu.Lock()
	w.ended = true
	w.changed.Broadcast()
	w.mu.Unlock()
	select {
	case <-w.done:
	case <-ctx.Done():
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.done:
	default:
		w.err = errCut
	}
	if w.err == errCut {
		return int64(len(w.text) + w.writing), nil
	}
	return 0, w.err
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
