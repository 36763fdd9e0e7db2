package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// Entry is a line of the ledger as it stands in the file.
type Entry struct {
	state.Line
	Store Note `json:"store"`
}

// Note is what the store notes in a line.
type Note struct {
	IDs  uint64 `json:"ids"`            // how many IDs were given out so far, this line's included
	Mail string `json:"mail,omitempty"` // the cursor of the item that came last, this line's included; as stamp writes it

	// Of a line of type Head: the number of the file it begins, and the name of the one before it.
	Part   int    `json:"part,omitempty"`
	Before string `json:"before,omitempty"`
	Cut    int64  `json:"cut,omitempty"` // where in the file the line after it was before those before it were dropped
}

// Text is the line, with its newline, as it is to stand in the file.
func (e Entry) Text() ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return append(seal(line), '\n'), nil
}

// readLine reads a line of the ledger. Each is about a task, but for the one that a file begins with.
func readLine(line []byte) (l state.Line, err error) {
	if err = json.Unmarshal(line, &l); err == nil && l.Type != Head && !state.WholeID(l.TaskID) {
		err = fmt.Errorf("it names task %q", l.TaskID)
	}
	if err == nil && !sealed(line) {
		err = errAltered
	}
	return l, err
}

// errAltered is a line that can be read and is not as it was written.
var errAltered = errors.New("is not as it was written: its checksum says so")

func lineProblem(path string, end int64, err error) state.Problem {
	if errors.Is(err, errAltered) {
		return state.Problem{Path: path, Err: fmt.Errorf("the line that ends at byte %d %w", end, err), Hint: "what it says may be wrong; the other lines are not affected"}
	}
	return state.Problem{Path: path, Err: fmt.Errorf("the line that ends at byte %d %w: %w", end, codec.ErrBroken, err),
		Hint: "the other lines are not affected"}
}

// Torn is the problem of a file whose last line lacks its end.
func Torn(path string, bytes int64) state.Problem {
	return state.Problem{Path: path, Err: fmt.Errorf("%w after %d bytes", state.ErrTorn, bytes),
		Hint: "the next change cuts it off; nothing that was confirmed is in it"}
}

// TaskOf reads whose line it is, by how this program writes them, and what follows its ID; false for what it has not written so, such as
// what was damaged. Of a line that is whole but for a few bytes elsewhere it may be right.
func TaskOf(line []byte) (id, rest []byte, ok bool) {
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

var sumTable = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// seal adds its checksum to a line as json.Marshal has written it.
func seal(line []byte) []byte {
	head := bytes.TrimSuffix(line, []byte("}}"))
	return fmt.Appendf(head[:len(head):len(head)], "%s%08x\"}}", sumKey, crc32.Checksum(head, sumTable()))
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
	return key == sumKey && end == sumEnd && sum == fmt.Sprintf("%08x", crc32.Checksum(line[:at], sumTable()))
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
