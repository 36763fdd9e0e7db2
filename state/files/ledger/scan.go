package ledger

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// blockSize is how many bytes are read at first, and maxBlockSize how many at most: a reader that
// goes on soon reads more at a time. A longer line is read whole.
const (
	blockSize    = 64 << 10
	maxBlockSize = 256 << 10
)

// backwards calls yield with the lines of a file, the last first, until yield returns false. It
// passes the line without its newline, the offset after its newline, and whether it has a newline,
// which only the last line can lack. It reads no more of the file than it needs. The line is only
// valid during the call.
func backwards(f io.ReaderAt, size int64, yield func(line []byte, end int64, whole bool) bool) error {
	buf := make([]byte, min(size, blockSize))
	var starts []int // of the lines in block
	for end := size; end > 0; {
		block := buf[:min(end, int64(len(buf)))]
		at := end - int64(len(block))
		if _, err := f.ReadAt(block, at); err != nil {
			return err
		}
		if at > 0 { // the line that begins before this block comes with the next one
			first := bytes.IndexByte(block, '\n') + 1
			if first == 0 || first == len(block) {
				buf = make([]byte, min(2*int64(len(buf)), size))
				continue
			}
			block, at = block[first:], at+int64(first)
		}
		starts = starts[:0]
		for from := 0; from < len(block); {
			starts = append(starts, from)
			n := bytes.IndexByte(block[from:], '\n')
			if n < 0 {
				break
			}
			from += n + 1
		}
		for _, from := range slices.Backward(starts) {
			line, whole := bytes.CutSuffix(block[from:], []byte("\n"))
			if !yield(line, at+int64(len(block)), whole) {
				return nil
			}
			block = block[:from]
		}
		if end = at; len(buf) < maxBlockSize {
			buf = make([]byte, min(2*int64(len(buf)), size))
		}
	}
	return nil
}

// forwards calls yield with the complete lines from the offset at on, until yield returns false.
// Before each call, it sets at to the end of the line. The line is only valid during the call.
func forwards(ctx context.Context, p Part, at *int64, yield func(line []byte) bool) (on bool, err error) {
	if *at > p.Size {
		*at = p.Size
		return true, nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(p, *at, p.Size-*at), blockSize)
	for ctx.Err() == nil {
		line, err := readLong(r)
		if errors.Is(err, io.EOF) {
			return true, nil // the end, or an incomplete line
		}
		if err != nil {
			return false, err
		}
		*at += int64(len(line))
		if !yield(line[:len(line)-1]) {
			return false, nil
		}
	}
	return false, ctx.Err()
}

// Count counts the lines that begin between two offsets of a file, without one of type Head. It
// returns when the newest of them was written, the sums of the readable ones, and where the next
// line begins.
func (p Part) Count(from, upTo int64) (lines int, until time.Time, sums state.Sums, end int64, err error) {
	if end = from; end >= upTo {
		return 0, until, sums, end, nil
	}
	on, err := forwards(context.Background(), p, &end, func(line []byte) bool {
		if bytes.HasPrefix(line, []byte(`{"type":"`+Head+`"`)) {
			return end < upTo
		}
		lines++
		if l, err := readLine(line); err == nil || errors.Is(err, errAltered) {
			sums.Count(l)
			if l.At.After(until) {
				until = l.At.UTC()
			}
		}
		return end < upTo
	})
	if on { // no complete line follows
		end = p.Size
	}
	return lines, until, sums, end, err
}

// readLong reads a line of any length, with its newline. It is only valid until the next call.
func readLong(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	line = bytes.Clone(line)
	rest, err := r.ReadBytes('\n')
	return append(line, rest...), err
}
