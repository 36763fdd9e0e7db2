package agent

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync/atomic"
)

// lineCounter is a reader that counts the bytes since the last line feed.
type lineCounter struct {
	io.Reader
	n atomic.Int64
}

func (c *lineCounter) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if i := bytes.LastIndexByte(b[:n], '\n'); i >= 0 {
		c.n.Store(int64(n - i - 1))
	} else {
		c.n.Add(int64(n))
	}
	return n, err
}

// Lines splits a stream into lines. Its memory does not grow with the stream or with its lines.
type Lines struct{ r *bufio.Reader }

// NewLines splits what r reads.
func NewLines(r io.Reader) *Lines { return &Lines{bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next line without its line feed. If it is longer than maxLine, it returns its
// beginning, and long is true. Text at the end of the stream is a line even without a line feed.
func (l *Lines) Next() (line []byte, long bool, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		if room := maxLine - len(line); len(part) > room {
			part, long = part[:room], true
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, len(line) > 0:
			if n := len(line); n > 0 && line[n-1] == '\n' {
				line = line[:n-1]
			}
			return line, long, nil
		default:
			return nil, false, err
		}
	}
}
