package schedule

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"golang.org/x/sync/semaphore"
)

// lineReader splits a stream into lines. Its memory grows neither with the stream nor with the
// length of a line.
type lineReader struct {
	r        *bufio.Reader
	Number   int // the number of the line that was read last, from 1
	maxBytes int // of a line
}

// newLineReader returns a reader of lines that have at most maxBytes each.
func newLineReader(r io.Reader, maxBytes int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), maxBytes: maxBytes}
}

// errLong is the error of a line that is too long. The next call of Next returns the line after it.
var errLong = errors.New("the line is too long")

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
			return "", errLong
		}
		return string(line), nil
	}
}

// item is one line of --stdin, with the draft of its task.
type item struct {
	Line  int
	draft Draft
	err   error // why there is no draft
	Size  int   // about how many bytes the item takes up in memory
}

// roomNeeded is the item's part of maxQueuedBytes: even an item larger than that can be queued.
func (it item) roomNeeded() int64 { return int64(min(it.Size, maxQueuedBytes)) }

// These are the bounds of the queue of lines that were read and are not yet scheduled.
const (
	maxBatch       = 256     // the most tasks of one batch
	maxQueuedBytes = 4 << 20 // the most bytes of all items, about
)

// itemQueue is the queue between the goroutine that reads lines and the one that schedules them.
// The next batch is read while one is written to the disk.
type itemQueue struct {
	items chan item
	room  *semaphore.Weighted // for the sizes of all items that are not yet scheduled
	taken int64               // the room of the batch that was taken last
	err   error               // why no more come; io.EOF at the end
}

func newItemQueue() *itemQueue {
	return &itemQueue{items: make(chan item, 2*maxBatch), room: semaphore.NewWeighted(maxQueuedBytes)}
}

// Put waits until there is room for an item, and adds it.
func (q *itemQueue) Put(ctx context.Context, it item) error {
	if err := q.room.Acquire(ctx, it.roomNeeded()); err != nil {
		return err
	}
	select {
	case q.items <- it:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Settled waits until the items so far are scheduled.
func (q *itemQueue) Settled(ctx context.Context) error {
	err := q.room.Acquire(ctx, maxQueuedBytes)
	if err == nil {
		q.room.Release(maxQueuedBytes)
	}
	return err
}

// End tells the taker that no more items come, and why.
func (q *itemQueue) End(err error) {
	q.err = err
	close(q.items)
}

// Take waits for items and returns a batch of them; that of the call before is scheduled. When none
// are left it returns the error of End. When idle fires first it returns neither items nor an
// error.
func (q *itemQueue) Take(ctx context.Context, idle <-chan time.Time) (batch []item, err error) {
	q.room.Release(q.taken)
	q.taken = 0
	select {
	case it, more := <-q.items:
		if !more {
			return nil, q.err
		}
		batch = append(batch, it)
	case <-idle:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for range min(len(q.items), maxBatch-1) {
		batch = append(batch, <-q.items)
	}
	for _, it := range batch {
		q.taken += it.roomNeeded()
	}
	return batch, nil
}

// maxSpreadBytes bounds the lines that --spread keeps in memory. It has to count all lines before
// it can give the first line its time.
const maxSpreadBytes = 64 << 20

// lineOverhead is how many bytes a line takes up in memory beside its text.
const lineOverhead = 48

// Numbered is a line with its number. A line that is too long has an error and no text.
type Numbered struct {
	Text string
	Line int
	Err  error
}

// maxLine is the most bytes of a line.
const maxLine = state.TaskLimit
