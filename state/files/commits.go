package files

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// runs/commits is a write-ahead log, and the only file that a change waits for. Each change of the
// state is one record in it: what is to be written, moved and removed. Once the disk has the
// record, the change has happened. The writer then applies it to the files that everybody reads,
// without waiting for the disk. The head of the log says up to where the records have been applied.
//
//   - A process that dies before its record is whole has changed nothing. The next writer cuts the
//     record off.
//   - A process that dies later leaves a record after the place that the head says. Whoever opens
//     the state next, to read or to write, applies it.
//   - A loss of power may lose files that nobody waited for. The head shows that one happened: it
//     has the name of the boot in which it was written. All records are then applied again
//     (redo.go).
//
// If there is time, or if the file has become large, the disk is made to take everything that the
// records stand for. The records are then dropped (checkpoint).
const commitsFile = runsDir + "/commits"

const (
	// headSize is the room of the head. The records follow it.
	headSize = 256
	// commitsMost is how large the log becomes before a writer makes the disk take everything.
	commitsMost = 16 << 20
)

// position is what the head says. In a record, it is how things stand after the record was applied.
type position struct {
	Boot string `json:"boot,omitempty"` // of the head: the boot in which it was written
	// of the head: records up to this byte of the file are applied
	Size   int64  `json:"size,omitempty"`
	Seq    uint64 `json:"seq"`            // the number of the last of them
	IDs    uint64 `json:"ids"`            // how many IDs were given out
	Mail   string `json:"mail,omitempty"` // the cursor of the latest item, as stamp writes it
	Ledger int64  `json:"ledger"`         // the size of the ledger
}

var crcTable = sync.OnceValue(func() *crc64.Table { return crc64.MakeTable(crc64.ECMA) })

// sumOf is the checksum of data.
func sumOf(data []byte) string { return fmt.Sprintf("%016x", crc64.Checksum(data, crcTable())) }

// head returns the first part of the file. It is written over in place, without waiting for the
// disk. A torn head counts as none.
func (p position) head() []byte {
	text, _ := json.Marshal(p)
	data := fmt.Appendf(nil, "%s %s", sumOf(text), text)
	for len(data) < headSize-1 {
		data = append(data, ' ')
	}
	return append(data, '\n')
}

// readHead reads the head. It is false if data is not a valid one.
func (s *Store) readHead(data []byte) (p position, ok bool) {
	sum, text, _ := strings.Cut(strings.TrimRight(string(data), " \n"), " ")
	if len(data) != headSize || sum != sumOf([]byte(text)) || json.Unmarshal([]byte(text), &p) != nil {
		return position{}, false
	}
	return p, p.Size >= headSize
}

// The kinds of operations.
const (
	opPut    = "put"    // a file gets this content and is created if necessary
	opMove   = "move"   // a file gets another name
	opRemove = "remove" // a file is removed
	opAppend = "append" // a file gets lines at this offset
)

// op is one operation of a record. Every operation can be repeated.
type op struct {
	kind  string
	place string
	to    string // of a move
	at    int64  // of lines: the offset
	data  []byte
	was   string // checksum of what was there before; empty: nothing, or not known

	old  []byte // what was there, as long as the writer lives
	temp string // of a put: the file with the content that is to take the place
	new  bool   // a put of a file that is not there and that nobody reads without the state lock
}

// text writes the operation for a record: a line, and the data after it.
func (o op) text(to []byte) []byte {
	was := cmp.Or(o.was, "-")
	switch o.kind {
	case opMove:
		return fmt.Appendf(to, "%s %s %s %s\n", o.kind, o.place, o.to, was)
	case opRemove:
		return fmt.Appendf(to, "%s %s %s\n", o.kind, o.place, was)
	case opPut:
		to = fmt.Appendf(to, "%s %s %s %d\n", o.kind, o.place, was, len(o.data))
	case opAppend:
		to = fmt.Appendf(to, "%s %s %d %d\n", o.kind, o.place, o.at, len(o.data))
	}
	return append(append(to, o.data...), '\n')
}

// commit is one change: a record of the file.
type commit struct {
	position // how things stand after it was applied
	ops      []op
	end      int64 // where the record ends
}

// text writes the record: a line with its number, its length and its checksum, and its operations.
func (c commit) text() []byte {
	body, _ := json.Marshal(c.position)
	body = append(body, '\n')
	for _, o := range c.ops {
		body = o.text(body)
	}
	return append(fmt.Appendf(nil, "commit %d %d %s\n", c.Seq, len(body), sumOf(body)), body...)
}

// parseCommits reads the records in data, which begins at an offset of the file. torn is how many
// bytes at the end do not belong to a whole record.
func parseCommits(data []byte, at int64) (list []commit, torn int64) {
	for len(data) > 0 {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		var seq uint64
		var size int
		var sum string
		if n, _ := fmt.Sscanf(string(line), "commit %d %d %16s", &seq, &size, &sum); !ok || n != 3 || size < 0 || size > len(rest) || sumOf(rest[:size]) != sum {
			return list, int64(len(data))
		}
		r, ok := parseBody(rest[:size])
		if !ok || r.Seq != seq {
			return list, int64(len(data))
		}
		at += int64(len(line) + 1 + size)
		r.end = at
		list, data = append(list, r), rest[size:]
	}
	return list, 0
}

func parseBody(body []byte) (r commit, ok bool) {
	first, body, ok := bytes.Cut(body, []byte("\n"))
	if !ok || json.Unmarshal(first, &r.position) != nil {
		return r, false
	}
	for len(body) > 0 {
		var line []byte
		line, body, _ = bytes.Cut(body, []byte("\n"))
		words := strings.Split(string(line), " ")
		if len(words) < 3 {
			return r, false
		}
		o := op{kind: words[0], place: words[1]}
		size := -1
		switch {
		case o.kind == opPut && len(words) == 4:
			o.was = words[2]
			size, _ = strconv.Atoi(words[3])
		case o.kind == opAppend && len(words) == 4:
			o.at, _ = strconv.ParseInt(words[2], 10, 64)
			size, _ = strconv.Atoi(words[3])
		case o.kind == opMove && len(words) == 4:
			o.to, o.was = words[2], words[3]
		case o.kind == opRemove && len(words) == 3:
			o.was = words[2]
		default:
			return r, false
		}
		if o.was == "-" {
			o.was = ""
		}
		if size >= 0 {
			if size >= len(body) || body[size] != '\n' {
				return r, false
			}
			o.data, body = body[:size:size], body[size+1:]
		}
		r.ops = append(r.ops, o)
	}
	return r, true
}

// commitLog is the open file runs/commits.
type commitLog struct {
	*plainfile.Handle
	size int64
	head position
	ok   bool // the head can be read
}

// openLog opens it. os.ErrNotExist: there is no log.
func (s *Store) openLog(write bool) (l *commitLog, err error) {
	f, err := plainfile.OpenHandle(s.path(commitsFile), write)
	switch {
	case missing(err):
		return nil, err
	case errors.Is(err, errOdd):
		return nil, guard.NotPlain(s.path(commitsFile))
	case err != nil:
		return nil, fail("opening the log of commits", err)
	}
	var head [headSize]byte
	if _, err := f.ReadAt(head[:], 0); err != nil && !errors.Is(err, io.EOF) {
		f.Close()
		return nil, fail("reading the log of commits", err)
	}
	l = &commitLog{Handle: f, size: f.Size()}
	l.head, l.ok = s.readHead(head[:])
	return l, nil
}

// applied reports whether no record is left to apply. Only a head that was written in this boot of
// the machine can say so.
func (l *commitLog) applied(boot string) bool {
	return l.ok && boot != "" && l.head.Boot == boot && l.head.Size == l.size
}

// commits reads the records from an offset on. torn is how many bytes at the end do not belong to a
// whole record.
func (l *commitLog) commits(from int64) (list []commit, torn int64, err error) {
	data := make([]byte, max(l.size-from, 0))
	if _, err := l.ReadAt(data, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, fail("reading the log of commits", err)
	}
	list, torn = parseCommits(data, from)
	return list, torn, nil
}
