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

// block is how much of the ledger is read at a time, from its end.
const block = 64 << 10

// backwards calls yield with the lines of a file, the last first, until it returns false: the line without its newline,
// the offset after its newline, and whether it has one, which only the last can lack. It reads no more of the file than it
// needs. The line is valid during the call.
func backwards(f io.ReaderAt, size int64, yield func(line []byte, end int64, whole bool) bool) error {
	var rest []byte // what was read and not yet given out: the file from at to end
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
			n := min(at, max(block, int64(len(rest)))) // doubling, for lines larger than a block
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

// seekBlock is how much of the ledger is looked at a time for what few lines have.
const seekBlock = 256 << 10

// seeking is backwards of the lines that contain a text, of those that are odd, and of a last one without its newline. It looks at the
// text, and at few bytes of the other lines, and so costs little where there is none.
func seeking(f io.ReaderAt, size int64, text []byte, odd func(line []byte) bool, yield func(line []byte, end int64, whole bool) bool) error {
	room := make([]byte, min(size, seekBlock))
	var found []int
	for end := size; end > 0; {
		block := room[:min(end, int64(len(room)))]
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
		if at > 0 { // whole lines only; the one that begins before them is in the next block
			first := bytes.IndexByte(block, '\n') + 1
			if first == 0 || first == len(block) {
				room = make([]byte, min(2*len(room), int(size)))
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
			if odd(block[from : from+n]) {
				found = append(found, from)
			}
			from += n + 1
		}
		slices.Sort(found)
		for last := len(block); len(found) > 0; found = found[:len(found)-1] {
			i := found[len(found)-1]
			if i >= last {
				continue // in a line that was given out
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

// forwards calls yield with the whole lines from the offset on, which it moves behind each before it is yielded, until it
// returns false. The line is valid during the call.
func forwards(ctx context.Context, p Part, at *int64, yield func(line []byte) bool) (on bool, err error) {
	if *at > p.Size {
		*at = p.Size
		return true, nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(p, *at, p.Size-*at), block)
	for ctx.Err() == nil {
		line, err := readLong(r)
		if errors.Is(err, io.EOF) {
			return true, nil // nothing, or a line that was cut short
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

// Count counts the lines that begin between two offsets in a file, says when the latest of them was written, what those of them add up
// to that can be read, and where the line after them begins. A line of type ledger is none.
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
	if on { // there is no whole line more
		end = p.Size
	}
	return lines, until, sums, end, err
}

// readLong reads a line of any length, with its end. It is valid until the next one is read.
func readLong(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	line = bytes.Clone(line)
	rest, err := r.ReadBytes('\n')
	return append(line, rest...), err
}
