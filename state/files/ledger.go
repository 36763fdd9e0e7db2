package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// entry is a line of the ledger as it stands in the file.
type entry struct {
	state.Line
	Store redo `json:"store"`

	sum   string      // of the line as it was read
	whole *state.Line // with the text of its task, for its mail, while it is written; else nil: Spell
}

// redo is what the store notes in a line.
type redo struct {
	IDs  uint64 `json:"ids"`            // how many IDs were given out so far, this line's included
	Mail string `json:"mail,omitempty"` // the cursor of the item that came last, this line's included; as stamp writes it

	// Written by versions before runs/commits, as what was to be done again should the writer die: one file is renamed, or removed when To
	// is empty, and another one that it takes the place of is removed.
	From string `json:"from,omitempty"` // places in the state folder
	To   string `json:"to,omitempty"`
	Drop string `json:"drop,omitempty"`
	More int    `json:"more,omitempty"` // how many lines before this one were written with it

	// Of a line of type lineLedger: the number of the file it begins, and the name of the one before it.
	Part   int    `json:"part,omitempty"`
	Before string `json:"before,omitempty"`
	Cut    int64  `json:"cut,omitempty"` // where in the file the line after it was before those before it were dropped
}

// tail is the end of the ledger.
type tail struct {
	size int64   // up to the end of the last whole line
	torn int64   // bytes after it
	last entry   // the last line; zero when there is none or it cannot be read
	with []entry // the lines before the last one that an older version has written with it, oldest first
	ids  uint64  // the newest count of IDs that can be read
	mail string  // the greatest cursor that can be read
}

// block is how much of the ledger is read at a time, from its end.
const block = 64 << 10

// readTail reads the end of the ledger. It needs the state lock, shared or exclusive.
func (s *Store) readTail() (t tail, err error) {
	f, err := openFile(s.path(ledgerFile), os.O_RDONLY, 0)
	if missing(err) {
		return t, nil
	}
	if err != nil {
		return t, fail("reading the ledger", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return t, fail("reading the ledger", err)
	}
	first := true
	err = backwards(f, info.Size(), func(line []byte, end int64, whole bool) bool {
		if !whole {
			t.torn = int64(len(line))
			return true
		}
		e := entry{sum: sumOf(line)}
		bad := json.Unmarshal(line, &e)
		if first {
			first = false
			t.size = end
			if bad == nil {
				t.last = e
			}
		} else if bad == nil && len(t.with) < t.last.Store.More {
			t.with = append(t.with, e)
		}
		t.ids, t.mail = max(t.ids, e.Store.IDs), max(t.mail, e.Store.Mail)
		return bad != nil || len(t.with) < t.last.Store.More
	})
	slices.Reverse(t.with)
	return t, fail("reading the ledger", err)
}

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

// taskOf reads whose line it is, by how this program writes them, and what follows its ID; false for what it has not written so, such as
// what was damaged. Of a line that is whole but for a few bytes elsewhere it may be right.
func taskOf(line []byte) (id, rest []byte, ok bool) {
	const key = `"task_id":"`
	head := line[:min(len(line), 160)]
	at := bytes.Index(head, []byte(key))
	if at < 0 || !bytes.HasPrefix(line, []byte(`{"type":"`)) || !bytes.HasSuffix(line, []byte("}")) {
		return nil, nil, false
	}
	id, rest, ok = bytes.Cut(line[at+len(key):], []byte{'"'})
	return id, rest, ok && (len(id) == 0 || state.WholeID(string(id)))
}

// sumKey begins the last thing in a line: a checksum of what comes before it, by which a byte that was altered is found.
const sumKey = `,"sum":"`

var sumTable = crc32.MakeTable(crc32.Castagnoli)

// seal adds its checksum to a line as json.Marshal has written it.
func seal(line []byte) []byte {
	head := bytes.TrimSuffix(line, []byte("}}"))
	return fmt.Appendf(head[:len(head):len(head)], "%s%08x\"}}", sumKey, crc32.Checksum(head, sumTable))
}

// sealed reports whether a line is as it was written, as far as its checksum tells. One that was written before there were checksums ends
// in nothing like one.
func sealed(line []byte) bool {
	const sumEnd, digits = "\"}}", 8
	at := len(line) - len(sumKey) - digits - len(sumEnd)
	if at < 0 {
		return true
	}
	key, sum, end := string(line[at:at+len(sumKey)]), string(line[at+len(sumKey):len(line)-len(sumEnd)]), string(line[len(line)-len(sumEnd):])
	if alike(key, sumKey)+alike(end, sumEnd) < len(sumKey) { // of all that a line may end in otherwise, nothing is as much alike
		return true
	}
	return key == sumKey && end == sumEnd && sum == fmt.Sprintf("%08x", crc32.Checksum(line[:at], sumTable))
}

// alike counts the bytes in which two strings of one length are the same.
func alike(a, b string) (n int) {
	for i := range len(a) {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}
