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
	r      *bufio.Reader
	Number int // the number of the line that was read last, from 1
	most   int // the most bytes of a line
}

// NewLineReader returns a reader of lines of most bytes each.
func NewLineReader(r io.Reader, most int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), most: most}
}

// ErrLong is the error of a line that is too long. The reader skips it, and goes on with the next.
var ErrLong = errors.New("the line is too long")

// Next returns the next line without its end (LF, CR LF or the end of the stream), and the first
// without the byte order mark that some editors write. After the last line it returns io.EOF. When
// the stream fails in the middle of a line, that line is dropped, because nobody knows how it would
// have ended.
func (l *lineReader) Next() (string, error) {
	var line []byte
	long := false
	for {
		part, err := l.r.ReadSlice('\n')
		if !long {
			line = append(line, part...)
		}
		if len(line) > l.most+len("\r\n") {
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
		if long || len(line) > l.most {
			return "", ErrLong
		}
		return string(line), nil
	}
}

// Item is one line of --stdin, with the task that was read from it.
type Item struct {
	Line int
	o    Draft
	err  error // why there is no task
	Size int   // about how many bytes the item takes up in memory
}

// These are the bounds of what was read and is not yet scheduled.
const (
	BatchMost  = 256     // the most tasks that are scheduled at once
	WeightMost = 4 << 20 // the most bytes of items that wait
)

// intake is the queue between the goroutine that reads lines and the one that schedules them. The
// next batch is read while one is written to the disk.
type intake struct {
	Mu     sync.Mutex
	Items  []Item
	Weight int           // the sizes of all items
	err    error         // why no more come; io.EOF at the end
	ready  chan struct{} // has a value when something was put
	room   chan struct{} // has a value when something was taken
}

func NewIntake() *intake {
	return &intake{ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

// poke puts a value into a channel of one that may be full, and does not wait.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Put waits until there is room for an item, and adds it.
func (in *intake) Put(ctx context.Context, it Item) error {
	for {
		in.Mu.Lock()
		if in.Weight < WeightMost && len(in.Items) < 2*BatchMost {
			in.Items = append(in.Items, it)
			in.Weight += it.Size
			in.Mu.Unlock()
			poke(in.ready)
			return nil
		}
		in.Mu.Unlock()
		select {
		case <-in.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// End tells the taker that no more items come, and why.
func (in *intake) End(err error) {
	in.Mu.Lock()
	in.err = err
	in.Mu.Unlock()
	poke(in.ready)
}

// Take waits for items and returns a batch of them. When none are left it returns the error of End.
// When idle fires first it returns neither items nor an error.
func (in *intake) Take(ctx context.Context, idle <-chan struct{}) ([]Item, error) {
	for {
		in.Mu.Lock()
		n := min(len(in.Items), BatchMost)
		batch := in.Items[:n:n]
		in.Items = in.Items[n:]
		for _, it := range batch {
			in.Weight -= it.Size
		}
		err := in.err
		in.Mu.Unlock()
		switch {
		case n > 0:
			poke(in.room)
			return batch, nil
		case err != nil:
			return nil, err
		}
		select {
		case <-in.ready:
		case <-idle:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// spreadMost bounds the lines that --spread keeps in memory. It has to count all lines before it
// can give the first its time.
const spreadMost = 64 << 20

// lineCost is how many bytes a line takes up in memory beside its text.
const lineCost = 48

// numbered is a line with its number, or with the error of a line that is too long.
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
		if size += len(text) + lineCost; size > spreadMost {
			return nil, problem.New(problem.Limit,
				problem.T("there are too many lines: %s has to keep them all before it schedules the first",
					problem.Option("spread")),
				problem.T("split them, or leave %s out and give each line its own time", problem.Option("spread")))
		}
		lines = append(lines, numbered{text, l.Number, err})
	}
}

// TooLong is the problem of a line that is longer than a task may be.
func TooLong() error { return tooLarge("the line") }

// LineMost is the most bytes of a line.
const LineMost = state.TaskLimit
