package agent

import (
	"bufio"
	"errors"
	"io"
)

// lines takes a stream apart, in memory that does not grow with the stream or with its lines.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) *lines { return &lines{bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line without its end. Of one that is longer than lineMost it returns the beginning, and long. After
// an error there is none; what stands before the end of the stream without a line feed is a line.
func (l *lines) next() (line []byte, long bool, err error) {
	for {
		part, err := l.r.ReadSlice('\n')
		if room := lineMost - len(line); len(part) > room {
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
