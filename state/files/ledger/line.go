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

// Entry is a line of the ledger as it is in the file.
type Entry struct {
	state.Line
	Store Note `json:"store"`
}

// Note is what the store adds to a line for itself.
type Note struct {
	// IDs is how many IDs were given out so far, with the one of this line.
	IDs uint64 `json:"ids"`
	// Mail is the cursor of the newest item so far, with the one of this line.
	Mail string `json:"mail,omitempty"`

	// Part is the number of the file, and Before the name of the file before it. Only a line of
	// type Head has them.
	Part   int    `json:"part,omitempty"`
	Before string `json:"before,omitempty"`
	// Cut is where the next line was in the file before the lines between them were dropped.
	Cut int64 `json:"cut,omitempty"`
}

// Text is the line as it is written to the file, with its checksum and newline.
func (e Entry) Text() ([]byte, error) {
	line, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", state.ErrInvalid, err)
	}
	return append(withSum(line), '\n'), nil
}

// readLine reads a line of the ledger. A line that is not of type Head must be about a task. If the
// error is errAltered, l is what the line says now.
func readLine(line []byte) (l state.Line, err error) {
	if err = json.Unmarshal(line, &l); err == nil && l.Type != Head && !state.WholeID(l.TaskID) {
		err = fmt.Errorf("it names task %q", l.TaskID)
	}
	if err == nil && !sumMatches(line) {
		err = errAltered
	}
	return l, err
}

// errAltered says that a line can be read, but is not as it was written.
var errAltered = errors.New("is not as it was written: its checksum says so")

// lineProblem is the problem of a line that readLine refuses.
func lineProblem(path string, end int64, err error) state.Problem {
	if errors.Is(err, errAltered) {
		return state.Problem{Path: path, Err: fmt.Errorf("the line that ends at byte %d %w", end, err), Hint: "what it says may be wrong; the other lines are not affected"}
	}
	return state.Problem{Path: path, Err: fmt.Errorf("the line that ends at byte %d %w: %w", end, codec.ErrBroken, err),
		Hint: "the other lines are not affected"}
}

// Torn is the problem of a file whose last line is incomplete.
func Torn(path string, bytes int64) state.Problem {
	return state.Problem{Path: path, Err: fmt.Errorf("%w after %d bytes", state.ErrTorn, bytes),
		Hint: "the next change removes it; ouro-timer log --audit says whether an outcome is missing"}
}

// TaskOf returns the ID of the task that a line is about, and what follows the ID, without decoding
// the line. It returns false if the line does not look as this program writes lines, because it is
// damaged. It may return true for a line that is only damaged elsewhere.
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

// sumKey begins the last field of a line: a checksum of what comes before it, which reveals altered
// bytes.
const sumKey = `,"sum":"`

var sumTable = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// withSum adds the checksum to a line from json.Marshal.
func withSum(line []byte) []byte {
	head := bytes.TrimSuffix(line, []byte("}}"))
	return fmt.Appendf(head[:len(head):len(head)], "%s%08x\"}}", sumKey, crc32.Checksum(head, sumTable()))
}

// sumMatches reports whether the checksum of a line is right. A line without a checksum, as earlier
// versions wrote them, passes. So that a damaged checksum is not taken for none, most bytes of the
// key and the end must differ.
func sumMatches(line []byte) bool {
	const sumEnd, digits = "\"}}", 8
	at := len(line) - len(sumKey) - digits - len(sumEnd)
	if at < 0 {
		return true
	}
	key, sum, end := string(line[at:at+len(sumKey)]), string(line[at+len(sumKey):len(line)-len(sumEnd)]), string(line[len(line)-len(sumEnd):])
	// No other end of a line has as many bytes in common with that of a checksum.
	if equalBytes(key, sumKey)+equalBytes(end, sumEnd) < len(sumKey) {
		return true
	}
	return key == sumKey && end == sumEnd && sum == fmt.Sprintf("%08x", crc32.Checksum(line[:at], sumTable()))
}

// equalBytes counts the positions at which two strings of the same length have the same byte.
func equalBytes(a, b string) (n int) {
	for i := range len(a) {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}
