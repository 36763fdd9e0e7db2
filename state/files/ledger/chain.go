// Package ledger reads the ledger of a state folder: a chain of files of JSON lines.
//
// ledger.jsonl is its end, the only one that grows. When it has become large, the next change
// first gives it a second name, ledger-000001.jsonl, and then puts a new file in its place, whose first line has the count of
// IDs and the name of the file before it. The names of the parts are there before the new file is, and that is before the
// first line in it: at every moment the chain that begins with ledger.jsonl is whole, and has each line once.
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

// Name is the file that grows.
const Name = "ledger.jsonl"

// Dir is the folder that the ledger is in.
type Dir string

// path is where a file of the ledger is.
func (d Dir) path(file string) string { return filepath.Join(string(d), file) }

func missing(err error) bool { return errors.Is(err, os.ErrNotExist) }

// Head is the type of the first line of a ledger that goes on from another file. It is not an entry of the log.
const Head = "ledger"

// headMost bounds a first line of that type.
const headMost = 1 << 10

const partPrefix, partSuffix = "ledger-", ".jsonl"

// PartName is the name of a part.
func PartName(number int) string { return fmt.Sprintf("%s%06d%s", partPrefix, number, partSuffix) }

// PartNumber reads the name of a part.
func PartNumber(file string) (int, bool) {
	text, ok := strings.CutPrefix(file, partPrefix)
	text, also := strings.CutSuffix(text, partSuffix)
	n, err := strconv.Atoi(text)
	return n, ok && also && err == nil && n > 0 && PartName(n) == file
}

// Parts are the numbers in the names of the parts that are there, in order.
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
	Number int    // of the file; 1 for one that goes on from no other, 0 when that cannot be read
	Before string // the name of the file before it
	Base   int64  // how many bytes of it were dropped: what to add to an offset for its place
}

func readHead(f io.ReaderAt) (head, error) {
	var room [headMost]byte
	n, err := f.ReadAt(room[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, err
	}
	line, _, whole := bytes.Cut(room[:n], []byte("\n"))
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
	Size int64 // as it was when it was opened
}

// Open opens a file of the ledger. The error of a missing one is os.ErrNotExist.
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

// Chain yields the files of the ledger, the newest first: end, unless it is nil, and those before it. Who is given one closes it.
// A file that was pruned is the end of the chain; where a first line is damaged, the names tell which file comes before.
func (d Dir) Chain(end *Part) iter.Seq2[Part, error] {
	return func(yield func(Part, error) bool) {
		at := 0 // the number in the name of the part that was yielded last; 0 for the end
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
				if at > 0 {
					list = list[:max(slices.Index(list, at), 0)]
				}
				if len(list) == 0 {
					return
				}
				file = PartName(list[len(list)-1])
			}
			n, ok := PartNumber(file)
			if !ok || at > 0 && n >= at {
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
				h, at = head{}, n
				continue
			}
			if h, at = p.head, n; !yield(p, nil) {
				return
			}
		}
	}
}

// End opens the file of the ledger that grows; nil when it is not there.
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

// History calls yield with the lines of the whole ledger that can be read, newest first, until it returns false; of all tasks when the ID is
// empty.
func (d Dir) History(taskID string, yield func(e Entry) bool) error {
	end, err := d.End()
	if err != nil {
		return err
	}
	for p, err := range d.Chain(end) {
		if err != nil {
			return err
		}
		on := true
		err := p.Lines(taskID, func(line []byte, _ int64, whole bool) bool {
			var e Entry
			if whole && json.Unmarshal(line, &e) == nil && (taskID == "" || e.TaskID == taskID) {
				on = yield(e)
			}
			return on
		})
		p.Close()
		if err != nil {
			return err
		}
		if !on {
			break
		}
	}
	return nil
}

// Lines is backwards of the lines about a task, of all when the ID is empty. Those of which it cannot be told whose they are, because
// they are damaged, are among them.
func (p Part) Lines(taskID string, yield func(line []byte, end int64, whole bool) bool) error {
	if taskID == "" {
		return backwards(p, p.Size, yield)
	}
	text, _ := json.Marshal(taskID)
	mark := append([]byte(`"task_id":`), text...)
	// What is looked for begins with a letter or a digit: a quote would be everywhere.
	odd := func(line []byte) bool {
		_, _, ok := TaskOf(line)
		return !ok
	}
	return seeking(p, p.Size, text[1:], odd, func(line []byte, end int64, whole bool) bool {
		return whole && !bytes.Contains(line, mark) && !odd(line) || yield(line, end, whole)
	})
}

// Tail is the end of the ledger.
type Tail struct {
	Size int64  // up to the end of the last whole line
	Torn int64  // bytes after it
	Last Entry  // the last line; zero when there is none or it cannot be read
	IDs  uint64 // the newest count of IDs that can be read
	Mail string // the greatest cursor that can be read
}

// Tail reads the end of the ledger, to which nobody must write meanwhile.
func (d Dir) Tail() (t Tail, err error) {
	f, err := plainfile.OpenFile(d.path(Name), os.O_RDONLY, 0)
	if missing(err) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return t, err
	}
	first := true
	err = backwards(f, info.Size(), func(line []byte, end int64, whole bool) bool {
		if !whole {
			t.Torn = int64(len(line))
			return true
		}
		var e Entry
		bad := json.Unmarshal(line, &e)
		if first {
			first = false
			t.Size = end
			if bad == nil {
				t.Last = e
			}
		}
		t.IDs, t.Mail = max(t.IDs, e.Store.IDs), max(t.Mail, e.Store.Mail)
		return bad != nil
	})
	return t, err
}

// Newest is when the newest line of a part that can be read was written.
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
