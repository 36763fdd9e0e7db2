package schedule

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// lineReader splits a stream into lines. Its memory grows neither with the stream nor with the
// length of a line.
type lineReader struct {
	r        *bufio.Reader
	Number   int // the number of the line that was read last, from 1
	maxBytes int // of a line
}

// NewLineReader returns a reader of lines that have at most maxBytes each.
func NewLineReader(r io.Reader, maxBytes int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), maxBytes: maxBytes}
}

// ErrLong is the error of a line that is too long. The next call of Next returns the line after it.
var ErrLong = errors.New("the line is too long")

// Next returns the next line without its end (LF, CR LF or the end of the stream). It removes the
// byte order mark that some editors write before the first line. After the last line it returns
// io.EOF. When the stream fails in the middle of a line, that line is dropped, because nobody knows
// how it would have ended.
func (l *lineReader) Next() (string, error) {
	var line []byte
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > l.maxBytes+len("\r\n") {
			long, line = true, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && len(line) == 0 && !long:
			return "", io.EOF
		case err != nil && err != io.EOF:
			return "", err
		}
		l.Number++
		if l.Number == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if long || len(line) > l.maxBytes {
			return "", ErrLong
		}
		return string(line), nil
	}
}

// Item is one line of --stdin, with the draft of its task.
type Item struct {
	Line  int
	draft Draft
	err   error // why there is no draft
	Size  int   // about how many bytes the item takes up in memory
}

// These are the bounds of the queue of lines that were read and are not yet scheduled.
const (
	MaxBatch       = 256     // the most tasks of one batch
	MaxQueuedBytes = 4 << 20 // the most bytes of all items, about
)

// itemQueue is the queue between the goroutine that reads lines and the one that schedules them.
// The next batch is read while one is written to the disk.
type itemQueue struct {
	Mu    sync.Mutex
	Items []Item
	Bytes int           // the sizes of all items
	err   error         // why no more come; io.EOF at the end
	ready chan struct{} // has a value when something was put
	space chan struct{} // has a value when something was taken
}

func NewItemQueue() *itemQueue {
	return &itemQueue{ready: make(chan struct{}, 1), space: make(chan struct{}, 1)}
}

// signal puts a value into a channel with room for one, unless it has one already. It never blocks.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Put waits until there is room for an item, and adds it.
func (q *itemQueue) Put(ctx context.Context, it Item) error {
	for {
		q.Mu.Lock()
		if q.Bytes < MaxQueuedBytes && len(q.Items) < 2*MaxBatch {
			q.Items = append(q.Items, it)
			q.Bytes += it.Size
			q.Mu.Unlock()
			signal(q.ready)
			return nil
		}
		q.Mu.Unlock()
		select {
		case <-q.space:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// End tells the taker that no more items come, and why.
func (q *itemQueue) End(err error) {
	q.Mu.Lock()
	q.err = err
	q.Mu.Unlock()
	signal(q.ready)
}

// Take waits for items and returns a batch of them. When none are left it returns the error of End.
// When idle fires first it returns neither items nor an error.
func (q *itemQueue) Take(ctx context.Context, idle <-chan struct{}) ([]Item, error) {
	for {
		q.Mu.Lock()
		n := min(len(q.Items), MaxBatch)
		batch := q.Items[:n:n]
		q.Items = q.Items[n:]
		for _, it := range batch {
			q.Bytes -= it.Size
		}
		err := q.err
		q.Mu.Unlock()
		switch {
		case n > 0:
			signal(q.space)
			return batch, nil
		case err != nil:
			return nil, err
		}
		select {
		case <-q.ready:
		case <-idle:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// maxSpreadBytes bounds the lines that --spread keeps in memory. It has to count all lines before
// it can give the first line its time.
const maxSpreadBytes = 64 << 20

// lineOverhead is how many bytes a line takes up in memory beside its text.
const lineOverhead = 48

// numbered is a line with its number. A line that is too long has an error and no text.
type numbered struct {
	text string
	line int
	err  error
}

// all reads all lines that are not blank.
func (l *lineReader) all(blank func(string) bool) ([]numbered, error) {
	var lines []numbered
	for size := 0; ; {
		text, err := l.Next()
		switch {
		case err == io.EOF:
			return lines, nil
		case err != nil && !errors.Is(err, ErrLong):
			return nil, err
		case err == nil && blank(text):
			continue
		}
		if size += len(text) + lineOverhead; size > maxSpreadBytes {
			return nil, problem.New(problem.Limit,
				problem.T("there are too many lines: %s has to keep them all before it schedules the first",
					problem.Option("spread")),
				problem.T("make several calls, or leave %s out and give each line its own time",
					problem.Option("spread")))
		}
		lines = append(lines, numbered{text, l.Number, err})
	}
}

// TooLong is the problem of a line that is longer than a task may be.
func TooLong() error { return tooLarge("the line") }

// MaxLine is the most bytes of a line.
const MaxLine = state.TaskLimit
