// Package output keeps what a run writes to a stream in a file of this machine, cut to its
// beginning and its end.
package output

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// File is a state.Stream in the file at a path. Neither it nor the folder it is in may be a link,
// and only we may read it.
type File string

// Create opens the file, new or emptied. Its folder is made when it is not there, but not those
// above that.
func (p File) Create(context.Context) (*os.File, error) {
	f, err := p.create()
	if errors.Is(err, fs.ErrNotExist) {
		if err := plainfile.Mkdir(filepath.Dir(string(p))); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		// beside it there is nothing to be forgotten
		return plainfile.OpenIn(string(p), creating, 0o600)
	}
	return f, err
}

const creating = os.O_WRONLY | os.O_CREATE | os.O_TRUNC | os.O_APPEND

func (p File) create() (*os.File, error) {
	if err := plainfile.CheckFolder(filepath.Dir(string(p))); err != nil {
		return nil, err
	}
	if err := p.disown(); err != nil {
		return nil, err
	}
	return plainfile.OpenFile(string(p), creating, 0o600)
}

// Append adds text to the file.
func (p File) Append(_ context.Context, text string) error {
	f, err := plainfile.OpenIn(string(p), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Open opens the file. One that is trimmed meanwhile is read as it was.
func (p File) Open(context.Context) (state.StreamReader, error) {
	f, err := plainfile.OpenIn(string(p), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	return reader{f}, nil
}

// reader is a file that may be growing.
type reader struct{ *os.File }

// Size is how large the file is by now.
func (r reader) Size() (int64, error) {
	info, err := r.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// Drop removes the file, if it is there, and what is noted beside it.
func (p File) Drop(context.Context) error {
	err := os.Remove(string(p))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, p.disown())
}

// Where is the path.
func (p File) Where() string { return string(p) }

// None is a state.Stream of which nothing is kept.
type None struct{}

// Create makes no file.
func (None) Create(context.Context) (*os.File, error) { return nil, nil }

// Append adds to nothing.
func (None) Append(context.Context, string) error { return fs.ErrNotExist }

// Open finds nothing.
func (None) Open(context.Context) (state.StreamReader, error) { return nil, fs.ErrNotExist }

// Bound has nothing to do.
func (None) Bound(_, _, from int64) (int64, error) { return from, fs.ErrNotExist }

// Trim has nothing to do.
func (None) Trim(_ context.Context, _, _ int64) (state.Output, error) {
	return state.Output{}, fs.ErrNotExist
}

// Own has nothing to note.
func (None) Own(context.Context, *os.File, int64) (bool, error) { return false, nil }

// Drop has nothing to do.
func (None) Drop(context.Context) error { return nil }

// Where is nowhere.
func (None) Where() string { return "" }

// Trim cuts the file of a run that has ended to its first head and last tail bytes, with a line
// between them that says how much is missing, the whole no longer than head+tail. A file that fits
// stays as it is, so trimming again changes nothing. Cuts fall between lines where lines are short
// enough, and never inside a UTF-8 character.
//
// The file is replaced whole: a reader, and a crash, leave the old or the new one. A process that
// still has the old one open goes on writing to that, and its words are lost. head and tail of less
// than 128 bytes together leave no room for the line and are refused.
func (p File) Trim(_ context.Context, head, tail int64) (state.Output, error) {
	out, err := p.trim(head, tail)
	if err != nil {
		if info, err := os.Lstat(string(p)); err == nil && info.Mode().IsRegular() {
			out.Bytes = info.Size()
		}
	}
	if out.Bytes > 0 {
		out.Own = p.owned()
	}
	return out, err
}

func (p File) trim(head, tail int64) (state.Output, error) {
	if head < 0 || tail < 0 || head+tail < 128 {
		return state.Output{}, fmt.Errorf("cannot trim %s to %d and %d bytes: 128 is the least", p, head, tail)
	}
	if err := plainfile.CheckFolder(filepath.Dir(string(p))); err != nil {
		return state.Output{}, err
	}
	if info, err := os.Lstat(string(p)); err == nil && info.Mode().IsRegular() && info.Size() <= head+tail {
		return state.Output{Bytes: info.Size()}, nil
	}
	f, err := plainfile.OpenFile(string(p), os.O_RDONLY, 0)
	if err != nil {
		return state.Output{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return state.Output{}, err
	}
	size := info.Size()
	text, err := shorten(f, size, head, tail)
	if err != nil {
		return state.Output{}, err
	}
	f.Close() // where a file that is open keeps its name
	if err := replace(string(p), text, info.Mode().Perm()); err != nil {
		return state.Output{}, err
	}
	return state.Output{Bytes: size, Truncated: true}, nil
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

// marker is the line that stands for what was left out. It opens with a line feed of its own: what
// comes before it may not end with one.
func marker(left, size int64) string {
	return fmt.Sprintf("\n[... %d of %d bytes left out ...]\n", left, size)
}

// Tail is the last max bytes of what is kept of a stream, or all of it, and whether something
// precedes them. What is cut off begins at a line where lines are short enough, and never inside a
// UTF-8 character. The stream may be growing.
func Tail(ctx context.Context, from state.Stream, max int64) (text []byte, truncated bool, err error) {
	f, err := from.Open(ctx)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, false, err
	}
	if size <= max {
		text, err = readAt(f, 0, size)
		return text, false, err
	}
	text, err = readAt(f, size-max, max)
	return startOfLine(text), true, err
}

// readAt reads n bytes from offset, or fewer when what is read has become shorter.
func readAt(f io.ReaderAt, offset, n int64) ([]byte, error) {
	text := make([]byte, n)
	got, err := f.ReadAt(text, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text[:got], err
}

// endOfLine drops a broken line at the end of text, or a broken character when the line is more
// than half of it.
func endOfLine(text []byte) []byte {
	if i := bytes.LastIndexByte(text, '\n'); i >= len(text)/2 {
		return text[:i+1]
	}
	return text[:plain.WholeCharacters(text)]
}

// startOfLine drops a broken line at the start of text, or a broken character when the line is more
// than half of it.
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

// replace puts text in the place of the file, synced before it takes the name. The temporary file
// has a fixed name, so that one left by a crash is used up by the next try.
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
