// Package ledger reads the ledger of a state folder: a chain of files of JSON lines.
//
// ledger.jsonl is the newest file, and the only one that grows. When it is large, the next change
// gives it a second name, ledger-000001.jsonl, and then puts a new file in its place. The first
// line of the new file has the count of IDs and the name of the part before it. Because the part
// has its name before the new file exists, the chain that begins with ledger.jsonl is complete at
// every moment, and has each line once.
package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// Name is the name of the file that grows.
const Name = "ledger.jsonl"

// Dir is the path of the folder that contains the ledger.
type Dir string

// path is that of a file of the ledger.
func (d Dir) path(file string) string { return filepath.Join(string(d), file) }

func missing(err error) bool { return errors.Is(err, os.ErrNotExist) }

// Head is the type of the first line of a file that continues another one. The line is not an entry
// of the log.
const Head = "ledger"

// maxHead bounds the size of such a line.
const maxHead = 1 << 10

const partPrefix, partSuffix = "ledger-", ".jsonl"

// PartName is the name of a part.
func PartName(number int) string { return fmt.Sprintf("%s%06d%s", partPrefix, number, partSuffix) }

// PartNumber returns the number in the name of a part, and false if the file is not a part.
func PartNumber(file string) (int, bool) {
	text, ok := strings.CutPrefix(file, partPrefix)
	text, also := strings.CutSuffix(text, partSuffix)
	n, err := strconv.Atoi(text)
	return n, ok && also && err == nil && n > 0 && PartName(n) == file
}

// Parts returns the numbers of the parts that exist, in ascending order.
func (d Dir) Parts() ([]int, error) {
	folder, err := plainfile.Folder(string(d))
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	files, err := folder.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, f := range files {
		if n, ok := PartNumber(f); ok {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// head is what the first line of a file of the ledger says.
type head struct {
	Number int    // of the file; 1 if it continues no other file, 0 if the line is damaged
	Before string // the name of the file before it
	Base   int64  // how many bytes of the file were dropped; an offset plus Base is a place
}

// readHead reads the first line of a file. A damaged one is not an error: its Number is 0.
func readHead(f io.ReaderAt) (head, error) {
	var buf [maxHead]byte
	n, err := f.ReadAt(buf[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, err
	}
	line, _, whole := bytes.Cut(buf[:n], []byte("\n"))
	if !bytes.HasPrefix(line, []byte(`{"type":"`+Head+`"`)) {
		if n > 0 && line[0] != '{' {
			return head{}, nil
		}
		return head{Number: 1}, nil
	}
	var e Entry
	if !whole || json.Unmarshal(line, &e) != nil {
		return head{}, nil
	}
	h := head{Number: e.Store.Part, Before: e.Store.Before}
	if e.Store.Cut > 0 {
		h.Base = e.Store.Cut - int64(len(line)) - 1
	}
	return h, nil
}

// Part is a file of the ledger, open for reading.
type Part struct {
	head
	*os.File
	Size int64 // when the file was opened
}

// Open opens a file of the ledger. The error is os.ErrNotExist if the file does not exist.
func (d Dir) Open(file string) (p Part, err error) {
	if p.File, err = plainfile.OpenFile(d.path(file), os.O_RDONLY, 0); err != nil {
		return p, err
	}
	info, err := p.Stat()
	if err == nil {
		p.Size = info.Size()
		p.head, err = readHead(p)
	}
	if err != nil {
		p.Close()
	}
	return p, err
}

// Chain yields the files of the ledger, the newest first: end, unless it is nil, and those before
// it. The caller closes each. The chain ends at a file that was pruned. If a first line is damaged,
// the names of the files say which file comes before.
func (d Dir) Chain(end *Part) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		last := 0 // the number of the part that was yielded last; 0 for end
		var h head
		if end != nil {
			if h = end.head; !yield(*end, nil) {
				return
			}
		}
		for {
			file := h.Before
			if h.Number == 0 {
				list, err := d.Parts()
				if err != nil {
					yield(Part{}, err)
					return
				}
				if last > 0 {
					list = list[:max(slices.Index(list, last), 0)]
				}
				if len(list) == 0 {
					return
				}
				file = PartName(list[len(list)-1])
			}
			n, ok := PartNumber(file)
			if !ok || last > 0 && n >= last {
				return
			}
			p, err := d.Open(file)
			if missing(err) {
				return
			}
			if err != nil {
				if !yield(Part{}, fmt.Errorf("%s: %w", d.path(file), err)) {
					return
				}
				h, last = head{}, n
				continue
			}
			if h, last = p.head, n; !yield(p, nil) {
				return
			}
		}
	}
}

// End opens the file that grows. It returns nil if the file does not exist.
func (d Dir) End() (*Part, error) {
	p, err := d.Open(Name)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// History calls yield with the readable lines of the whole ledger about a task, or about all if the
// ID is empty, newest first, until yield returns false.
func (d Dir) History(taskID string, yield func(e Entry) bool) error {
	end, err := d.End()
	if err != nil {
		return err
	}
	return d.lines(end, taskID, func(err error) error { return err }, func(_ Part, line []byte, _ int64, whole bool) bool {
		var e Entry
		return !whole || json.Unmarshal(line, &e) != nil || taskID != "" && e.TaskID != taskID || yield(e)
	})
}

// Changes calls yield with the lines about changes of tasks, newest first and not decoded, until
// yield returns false. Files that cannot be opened are left out.
func (d Dir) Changes(yield func(taskID string, line []byte) bool) error {
	end, err := d.End()
	if err != nil {
		return err
	}
	return d.lines(end, "", func(error) error { return nil }, func(_ Part, line []byte, _ int64, whole bool) bool {
		id, _, ok := TaskOf(line)
		return !whole || !ok || !bytes.HasPrefix(line, []byte(`{"type":"`+state.LineTask+`"`)) || yield(string(id), line)
	})
}

// lines calls yield with the lines of the files of Chain about a task, or with all if the ID is
// empty, newest first, until yield returns false. It goes on after a file that cannot be opened,
// unless skip returns an error.
func (d Dir) lines(end *Part, taskID string, skip func(error) error, yield func(p Part, line []byte, at int64, whole bool) bool) error {
	for p, err := range d.Chain(end) {
		if err != nil {
			if err := skip(err); err != nil {
				return err
			}
			continue
		}
		on := true
		err := p.Lines(taskID, func(line []byte, at int64, whole bool) bool {
			on = yield(p, line, at, whole)
			return on
		})
		if p.Close(); err != nil || !on {
			return err
		}
	}
	return nil
}

// Lines is backwards of the lines about a task, or of all lines if the ID is empty. Damaged lines,
// which may be about any task, are among them.
func (p Part) Lines(taskID string, yield func(line []byte, end int64, whole bool) bool) error {
	return backwards(p, p.Size, func(line []byte, end int64, whole bool) bool {
		if taskID != "" && whole {
			if id, _, ok := TaskOf(line); ok && string(id) != taskID {
				return true
			}
		}
		return yield(line, end, whole)
	})
}

// Tail is what the end of the ledger says.
type Tail struct {
	Size int64  // where the last complete line ends
	Torn int64  // how many bytes follow it
	Last Entry  // the last line; zero if there is none or it cannot be read
	IDs  uint64 // the newest count of IDs that can be read
	Mail string // the greatest cursor that can be read
}

// Tail reads the end of the ledger. The caller makes sure that no other process writes to it.
func (d Dir) Tail() (t Tail, err error) {
	p, err := d.End()
	if p == nil {
		return t, err
	}
	defer p.Close()
	first := true
	err = backwards(p, p.Size, func(line []byte, end int64, whole bool) bool {
		if !whole {
			t.Torn = int64(len(line))
			return true
		}
		var e Entry
		err := json.Unmarshal(line, &e)
		if first {
			first = false
			t.Size = end
			if err == nil {
				t.Last = e
			}
		}
		t.IDs, t.Mail = max(t.IDs, e.Store.IDs), max(t.Mail, e.Store.Mail)
		return err != nil
	})
	return t, err
}

// Newest returns when the newest readable line of a part was written, and false if there is none.
func (d Dir) Newest(file string) (at time.Time, ok bool, err error) {
	f, err := d.Open(file)
	if err != nil {
		return at, false, err
	}
	defer f.Close()
	err = backwards(f, f.Size, func(line []byte, _ int64, _ bool) bool {
		var l state.Line
		if ok = json.Unmarshal(line, &l) == nil && !l.At.IsZero(); ok {
			at = l.At
		}
		return !ok
	})
	return at, ok, err
}
