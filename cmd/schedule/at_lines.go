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

// lineReader takes a stream apart into lines, in memory that does not grow with the stream or with
// its lines.
type lineReader struct {
	r      *bufio.Reader
	Number int // of the line read last, from 1
	most   int // bytes of a line
}

func NewLineReader(r io.Reader, most int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), most: most}
}

// ErrLong is a line longer than is read. The next line is read as if nothing had been.
var ErrLong = errors.New("the line is too long")

// Next returns the next line without its end, which is LF or CR LF or that of the stream, and
// without the byte order mark that editors put in front of the first. After io.EOF there is none.
// Of a stream that breaks off with another error the last line is left out: who knows what it would
// have said.
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

// Item is one line of --stdin, read.
type Item struct {
	Line int
	o    Draft
	err  error // why it is not a task
	Size int
}

// The bounds of what was read and is not scheduled yet.
const (
	BatchMost  = 256     // tasks that are scheduled at once
	WeightMost = 4 << 20 // bytes
)

// intake holds what was read until it is scheduled: while the disk takes one batch, the next is
// read.
type intake struct {
	Mu     sync.Mutex
	Items  []Item
	Weight int
	err    error         // why no more come; io.EOF for the end
	ready  chan struct{} // something was put
	room   chan struct{} // something was taken
}

func NewIntake() *intake {
	return &intake{ready: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Put adds an item, once there is room for it.
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

// End says that no more come, and why.
func (in *intake) End(err error) {
	in.Mu.Lock()
	in.err = err
	in.Mu.Unlock()
	poke(in.ready)
}

// Take waits until something is there and returns all of it that goes in at once. Without anything
// it returns why no more come, or nil when idle fires before.
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

// spreadMost bounds what --spread holds: it has to know how many lines there are before it can deal
// them out.
const spreadMost = 64 << 20

// lineCost is what a line takes up in memory beside its text.
const lineCost = 48

// numbered is a line and its number.
type numbered struct {
	text string
	line int
	err  error
}

// all reads the rest of the lines, those that are blank left out.
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
				problem.T("the lines are too many to be held, and %s has to know how many there are",
					problem.Option("spread")),
				problem.T("split them, or leave %s out and give each line its own time", problem.Option("spread")))
		}
		lines = append(lines, numbered{text, l.Number, err})
	}
}

// TooLong is a line that is longer than any task.
func TooLong() error { return tooLarge("the line") }

// LineMost bounds a line.
const LineMost = state.TaskLimit
