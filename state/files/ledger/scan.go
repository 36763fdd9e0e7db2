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

// blockSize is how many bytes are read at a time.
const blockSize = 64 << 10

// backwards calls yield with the lines of a file, the last first, until yield returns false. It
// passes the line without its newline, the offset after its newline, and whether it has a newline,
// which only the last line can lack. It reads no more of the file than it needs. The line is only
// valid during the call.
func backwards(f io.ReaderAt, size int64, yield func(line []byte, end int64, whole bool) bool) error {
	var rest []byte // what was read and not yet yielded: the file from at to end
	at, end := size, size
	for {
		nl := -1
		body := rest
		if end < size || len(rest) > 0 && rest[len(rest)-1] == '\n' {
			body = rest[:max(len(rest)-1, 0)] // the newline that ends this line
		}
		if len(rest) > 0 {
			nl = bytes.LastIndexByte(body, '\n')
		}
		if nl < 0 && at > 0 {
			n := min(at, max(blockSize, int64(len(rest)))) // doubled for a long line
			grown := make([]byte, n, n+int64(len(rest)))
			if _, err := f.ReadAt(grown, at-n); err != nil {
				return err
			}
			rest = append(grown, rest...)
			at -= n
			continue
		}
		if len(rest) == 0 {
			return nil
		}
		line := body[nl+1:]
		if !yield(line, end, len(body) < len(rest)) {
			return nil
		}
		rest = rest[:nl+1]
		end = at + int64(len(rest))
	}
}

// searchBlockSize is how many bytes are searched at a time.
const searchBlockSize = 256 << 10

// backwardsWith is backwards of the lines that contain a text, of the damaged ones, and of a last
// one without a newline. It is fast if few lines contain the text: of the others it looks at few
// bytes.
func backwardsWith(f io.ReaderAt, size int64, text []byte, damaged func(line []byte) bool, yield func(line []byte, end int64, whole bool) bool) error {
	buf := make([]byte, min(size, searchBlockSize))
	var found []int // offsets in block, in lines that are to be yielded
	for end := size; end > 0; {
		block := buf[:min(end, int64(len(buf)))]
		at := end - int64(len(block))
		if _, err := f.ReadAt(block, at); err != nil {
			return err
		}
		if end == size {
			if torn := block[bytes.LastIndexByte(block, '\n')+1:]; len(torn) > 0 && (len(torn) < len(block) || at == 0) {
				if !yield(torn, end, false) {
					return nil
				}
				end -= int64(len(torn))
				continue
			}
		}
		if at > 0 { // the line that begins before this block is searched with the next one
			first := bytes.IndexByte(block, '\n') + 1
			if first == 0 || first == len(block) {
				buf = make([]byte, min(2*len(buf), int(size)))
				continue
			}
			block, at = block[first:], at+int64(first)
		}
		found = found[:0]
		for from := 0; ; {
			i := bytes.Index(block[from:], text)
			if i < 0 {
				break
			}
			found = append(found, from+i)
			from += i + len(text)
		}
		for from := 0; from < len(block); {
			n := bytes.IndexByte(block[from:], '\n')
			if damaged(block[from : from+n]) {
				found = append(found, from)
			}
			from += n + 1
		}
		slices.Sort(found)
		for last := len(block); len(found) > 0; found = found[:len(found)-1] {
			i := found[len(found)-1]
			if i >= last {
				continue // this line was already yielded
			}
			line := block[bytes.LastIndexByte(block[:i], '\n')+1:]
			n := bytes.IndexByte(line, '\n')
			last = len(block) - len(line)
			if !yield(line[:n], at+int64(last+n+1), true) {
				return nil
			}
		}
		end = at
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
