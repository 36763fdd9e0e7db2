package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// Output is what is left of a run's output file.
type Output struct {
	Bytes     int64 // what the run wrote
	Truncated bool  // the middle was left out
}

// CreateOutput opens a run's output file, new or emptied, for the child to write to its end. Only we may read it. Neither it nor the folder
// it is in may be a link.
func CreateOutput(path string) (*os.File, error) {
	return plainfile.OpenIn(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o600)
}

// Trim cuts the output file of a finished run to its first head and last tail bytes, with a line between them that says
// how much is missing, the whole no longer than head+tail. A file that fits stays as it is, so trimming again changes
// nothing. Cuts fall between lines where lines are short enough, and never inside a UTF-8 character.
//
// The file is replaced whole: a reader, and a crash, leave the old or the new one. A process that still has the old one
// open goes on writing to that, and its words are lost. head and tail of less than 128 bytes together leave no room for
// the line and are refused.
func Trim(path string, head, tail int64) (Output, error) {
	if head < 0 || tail < 0 || head+tail < 128 {
		return Output{}, fmt.Errorf("cannot trim %s to %d and %d bytes: 128 is the least", path, head, tail)
	}
	f, err := plainfile.OpenIn(path, os.O_RDONLY, 0)
	if err != nil {
		return Output{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Output{}, err
	}
	size := info.Size()
	if size <= head+tail {
		return Output{Bytes: size}, nil
	}
	text, err := shorten(f, size, head, tail)
	if err != nil {
		return Output{}, err
	}
	f.Close() // where a file that is open keeps its name
	if err := replace(path, text, info.Mode().Perm()); err != nil {
		return Output{}, err
	}
	return Output{Bytes: size, Truncated: true}, nil
}

// shorten is what is to be kept of a file of size bytes, more than head+tail.
func shorten(f *os.File, size, head, tail int64) ([]byte, error) {
	// The line has its place on the longer side.
	room := int64(len(marker(size, size)))
	if tail >= head {
		tail = max(tail-room, 0)
	} else {
		head = max(head-room, 0)
	}
	first, err := readAt(f, 0, head)
	if err != nil {
		return nil, err
	}
	last, err := readAt(f, size-tail, tail)
	if err != nil {
		return nil, err
	}
	first, last = endOfLine(first), startOfLine(last)
	left := size - int64(len(first)) - int64(len(last))
	return bytes.Join([][]byte{first, []byte(marker(left, size)), last}, nil), nil
}

// marker is the line that stands for what was left out. It opens with a line feed of its own: what comes before it may
// not end with one.
func marker(left, size int64) string {
	return fmt.Sprintf("\n[... %d of %d bytes left out ...]\n", left, size)
}

// ReadTail is the last max bytes of a file, or all of it, and whether something precedes them. What is cut off begins at
// a line where lines are short enough, and never inside a UTF-8 character. The file may be growing.
func ReadTail(path string, max int64) (text []byte, truncated bool, err error) {
	f, err := plainfile.OpenIn(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	size := info.Size()
	if size <= max {
		text, err = readAt(f, 0, size)
		return text, false, err
	}
	text, err = readAt(f, size-max, max)
	return startOfLine(text), true, err
}

// readAt reads n bytes from offset, or fewer when the file has become shorter.
func readAt(f *os.File, offset, n int64) ([]byte, error) {
	text := make([]byte, n)
	got, err := f.ReadAt(text, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text[:got], err
}

// endOfLine drops a broken line at the end of text, or a broken character when the line is more than half of it.
func endOfLine(text []byte) []byte {
	if i := bytes.LastIndexByte(text, '\n'); i >= len(text)/2 {
		return text[:i+1]
	}
	for i := len(text) - 1; i >= 0 && len(text)-i < utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// startOfLine drops a broken line at the start of text, or a broken character when the line is more than half of it.
func startOfLine(text []byte) []byte {
	if i := bytes.IndexByte(text, '\n'); i >= 0 && i < len(text)/2 {
		return text[i+1:]
	}
	for i := 0; i < len(text) && i < utf8.UTFMax; i++ {
		if utf8.RuneStart(text[i]) {
			return text[i:]
		}
	}
	return text
}

// replace puts text in the place of the file, synced before it takes the name. The temporary file has a fixed name, so
// that one left by a crash is used up by the next try.
func replace(path string, text []byte, mode os.FileMode) (err error) {
	temp := path + ".trim"
	f, err := plainfile.OpenIn(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(temp)
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
