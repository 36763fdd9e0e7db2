package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// The ledger is a chain of files. ledger.jsonl is its end, the only one that grows. When it has become large, the next change
// first gives it a second name, ledger-000001.jsonl, and then puts a new file in its place, whose first line has the count of
// IDs and the name of the file before it. The names of the parts are there before the new file is, and that is before the
// first line in it: at every moment the chain that begins with ledger.jsonl is whole, and has each line once.

// partMost is how large the ledger becomes unless Options say otherwise.
const partMost = 8 << 20

// lineLedger is the type of the first line of a ledger that goes on from another file. It is no entry of the log.
const lineLedger = "ledger"

// headMost bounds a first line of that type.
const headMost = 1 << 10

const partPrefix, partSuffix = "ledger-", ".jsonl"

func partName(number int) string { return fmt.Sprintf("%s%06d%s", partPrefix, number, partSuffix) }

// partNumber reads the name of a part.
func partNumber(file string) (int, bool) {
	text, ok := strings.CutPrefix(file, partPrefix)
	text, also := strings.CutSuffix(text, partSuffix)
	n, err := strconv.Atoi(text)
	return n, ok && also && err == nil && n > 0 && partName(n) == file
}

// parts are the numbers in the names of the parts that are there, in order.
func (s *Store) parts() ([]int, error) {
	files, err := readNames(s.path(runsDir))
	if err != nil {
		return nil, err
	}
	var list []int
	for _, f := range files {
		if n, ok := partNumber(f); ok {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// head is what the first line of a file of the ledger says.
type head struct {
	number int    // of the file; 1 for one that goes on from no other, 0 when that cannot be read
	before string // the name of the file before it
	base   int64  // how many bytes of it were dropped: what to add to an offset for its place
}

func readHead(f io.ReaderAt) (head, error) {
	var room [headMost]byte
	n, err := f.ReadAt(room[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return head{}, err
	}
	line, _, whole := bytes.Cut(room[:n], []byte("\n"))
	if !bytes.HasPrefix(line, []byte(`{"type":"`+lineLedger+`"`)) {
		if n > 0 && line[0] != '{' {
			return head{}, nil
		}
		return head{number: 1}, nil
	}
	var e entry
	if !whole || json.Unmarshal(line, &e) != nil {
		return head{}, nil
	}
	h := head{number: e.Store.Part, before: e.Store.Before}
	if e.Store.Cut > 0 {
		h.base = e.Store.Cut - int64(len(line)) - 1
	}
	return h, nil
}

// part is a file of the ledger, open for reading.
type part struct {
	head
	*os.File
	size int64
}

// openPart opens a file of the ledger in runs/. That of a missing one is os.ErrNotExist.
func (s *Store) openPart(file string) (p part, err error) {
	if p.File, err = openFile(s.path(runsDir+"/"+file), os.O_RDONLY, 0); err != nil {
		return p, err
	}
	info, err := p.Stat()
	if err == nil {
		p.size = info.Size()
		p.head, err = readHead(p)
	}
	if err != nil {
		p.Close()
	}
	return p, err
}

// chain yields the files of the ledger, the newest first: end, unless it is nil, and those before it. Who is given one closes it.
// A file that was pruned is the end of the chain; where a first line is damaged, the names tell which file comes before.
func (s *Store) chain(end *part) iter.Seq2[part, error] {
	return func(yield func(part, error) bool) {
		at := 0 // the number in the name of the part that was yielded last; 0 for the end
		var h head
		if end != nil {
			if h = end.head; !yield(*end, nil) {
				return
			}
		}
		for {
			file := h.before
			if h.number == 0 {
				list, err := s.parts()
				if err != nil {
					yield(part{}, err)
					return
				}
				if at > 0 {
					list = list[:max(slices.Index(list, at), 0)]
				}
				if len(list) == 0 {
					return
				}
				file = partName(list[len(list)-1])
			}
			n, ok := partNumber(file)
			if !ok || at > 0 && n >= at {
				return
			}
			p, err := s.openPart(file)
			if missing(err) {
				return
			}
			if err != nil {
				if !yield(part{}, fmt.Errorf("%s: %w", s.path(runsDir+"/"+file), err)) {
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

// openEnd opens the file of the ledger that grows; nil when it is not there.
func (s *Store) openEnd() (*part, error) {
	p, err := s.openPart(ledgerName)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fail("reading the ledger", err)
	}
	return &p, nil
}

// history calls yield with the lines of the whole ledger that can be read, newest first, until it returns false; of all tasks when the ID is
// empty.
func (s *Store) history(taskID string, yield func(e entry) bool) error {
	end, err := s.openEnd()
	if err != nil {
		return err
	}
	for p, err := range s.chain(end) {
		if err != nil {
			return fail("reading the ledger", err)
		}
		on := true
		err := p.linesOf(taskID, func(line []byte, _ int64, whole bool) bool {
			var e entry
			if whole && json.Unmarshal(line, &e) == nil && (taskID == "" || e.TaskID == taskID) {
				on = yield(e)
			}
			return on
		})
		p.Close()
		if err != nil {
			return fail("reading the ledger", err)
		}
		if !on {
			break
		}
	}
	return nil
}

// linesOf is backwards of the lines about a task, of all when the ID is empty. Those of which it cannot be told whose they are, because
// they are damaged, are among them.
func (p part) linesOf(taskID string, yield func(line []byte, end int64, whole bool) bool) error {
	if taskID == "" {
		return backwards(p, p.size, yield)
	}
	text, _ := json.Marshal(taskID)
	mark := append([]byte(`"task_id":`), text...)
	// What is looked for begins with a letter or a digit: a quote would be everywhere.
	odd := func(line []byte) bool {
		_, _, ok := taskOf(line)
		return !ok
	}
	return seeking(p, p.size, text[1:], odd, func(line []byte, end int64, whole bool) bool {
		return whole && !bytes.Contains(line, mark) && !odd(line) || yield(line, end, whole)
	})
}

// rotate begins a new file when the ledger has become large, or is gone while parts of it are there. Everything in it is on the disk
// first. It is housekeeping: what keeps a large one from being rotated is no error, and it is tried again after some more lines.
// Only when the new file is in place and its name may not be durable nothing must be written into it: adopt sees to that.
func (t *tx) rotate() error { return t.rotateAt(t.partMost) }

// rotateAt is rotate of a ledger of at least so many bytes.
func (t *tx) rotateAt(least int64) error {
	gone := t.at.Ledger == 0
	if !gone && (t.at.Ledger < least || t.at.Ledger < t.later && least >= t.partMost) {
		return nil
	}
	list, err := t.parts()
	if err != nil || gone && len(list) == 0 {
		return err
	}
	at := time.Now()
	var before int
	if gone {
		before = list[len(list)-1]
	} else {
		if err = t.checkpoint(); err == nil {
			before, err = t.shelve()
		}
		if err != nil {
			t.later = t.at.Ledger + t.partMost/8
			return asked(least < t.partMost, err)
		}
		if end, err := t.readTail(); err == nil && !end.last.At.IsZero() {
			at = end.last.At
		}
	}
	line, err := entry{Line: state.Line{Type: lineLedger, At: at}, Store: redo{IDs: t.at.IDs, Mail: t.at.Mail, Part: before + 1, Before: partName(before)}}.text()
	if err != nil {
		return err
	}
	if err = replace(t.disk, t.path(ledgerFile), line); err != nil {
		if gone || t.goesOn(before) { // the parts would be forgotten, or the new file is in place, and perhaps not for good
			return fail("beginning a new file of the ledger", err)
		}
		t.later = t.at.Ledger + t.partMost/8
		t.disk.remove(t.path(runsDir + "/" + partName(before)))
		return asked(least < t.partMost, err)
	}
	t.later, t.at.Ledger = 0, int64(len(line))
	t.disk.mark(t.log.Handle, 0, t.at.head())
	return nil
}

// goesOn reports whether the ledger goes on from a part, as far as can be told.
func (t *tx) goesOn(part int) bool {
	p, err := t.openPart(ledgerName)
	if err != nil {
		return true
	}
	defer p.Close()
	return p.before == partName(part)
}

// asked is why the ledger was not rotated, for who has asked for it; to a change that only comes across it, it is no matter.
func asked(so bool, err error) error {
	if !so {
		return nil
	}
	return fail("beginning a new file of the ledger", err)
}

// shelve gives the ledger, durably, the name of a part as well, and returns the part's number. Where a file cannot have two
// names, the part is a copy: until the new file is in place no chain has it.
func (t *tx) shelve() (number int, err error) {
	p, err := t.openPart(ledgerName)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	list, err := t.parts()
	if err != nil {
		return 0, err
	}
	if len(list) > 0 {
		number = list[len(list)-1]
		if last, err := os.Lstat(t.path(runsDir + "/" + partName(number))); err == nil {
			if is, err := p.Stat(); err == nil && os.SameFile(is, last) { // by a process that died before it went on
				return number, t.disk.syncDir(t.path(runsDir))
			}
		}
	}
	number = max(number+1, p.number)
	path := t.path(runsDir + "/" + partName(number))
	err = t.disk.link(t.path(ledgerFile), path)
	if err == nil {
		if err = t.disk.syncDir(t.path(runsDir)); err != nil {
			t.disk.remove(path)
		}
		return number, err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return 0, err
	}
	all := make([]byte, t.at.Ledger)
	if _, err := io.ReadFull(io.NewSectionReader(p, 0, t.at.Ledger), all); err != nil {
		return 0, err
	}
	if err := replace(t.disk, path, all); err != nil {
		t.disk.remove(path)
		return 0, err
	}
	return number, nil
}
