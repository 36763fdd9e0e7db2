package cmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// taskRows are the tasks that ls lists. Each is written as it is read, and nothing else of it is kept but its place in the list: there may be very
// many, and how many there are is said before the first. On a terminal, which shows a screenful, they are kept as they are.
type taskRows struct {
	*session
	now     time.Time
	n       int
	awaited bool // there is one that needs a runner
	overdue int
	leader  state.Leader
	delayed int           // tasks that the leader cannot start for now
	why     string        // it cannot start one of them
	entries []state.Entry // on a terminal
	texts   []taskRow     // elsewhere
	keep    bool          // entries are kept

	room    []byte // for the next texts
	buffer  bytes.Buffer
	encoder *json.Encoder
}

// taskRow is what is written of a task.
type taskRow struct {
	state.Order
	text []byte
}

func (s *session) newRows(now time.Time, leader state.Leader, keep bool) *taskRows {
	r := &taskRows{session: s, now: now, leader: leader, keep: keep}
	r.encoder = json.NewEncoder(&r.buffer)
	r.encoder.SetEscapeHTML(false)
	return r
}

// add takes a task in.
func (r *taskRows) add(e state.Entry) {
	r.n++
	r.awaited = r.awaited || awaited(e)
	late, off := isOverdue(e, r.now), whyPutOff(e, r.leader)
	switch {
	case off != "":
		r.delayed++
		r.why = cmp.Or(r.why, off)
	case late:
		r.overdue++
	}
	if r.keep {
		r.entries = append(r.entries, e)
		return
	}
	r.buffer.Reset()
	if r.json {
		_ = r.encoder.Encode(listed{asJSON(e, r.now), orNull(off), late, e.Phase == state.Removed}) // a buffer takes everything
	} else {
		r.buffer.WriteString(taskFields(e))
	}
	by := e.Order()
	by.ID = strings.Clone(by.ID) // and not the file, of which it is a part
	r.texts = append(r.texts, taskRow{by, r.hold(bytes.TrimSuffix(r.buffer.Bytes(), []byte{'\n'}))})
}

// roomSize is how much memory is taken at a time for what is written of tasks.
const roomSize = 64 << 10

// hold keeps a copy of a text.
func (r *taskRows) hold(text []byte) []byte {
	if len(text) > len(r.room) {
		r.room = make([]byte, max(len(text), roomSize))
	}
	n := copy(r.room, text)
	held := r.room[:n:n]
	r.room = r.room[n:]
	return held
}

// ordered are the rows in the order of lists.
func (r *taskRows) ordered() []taskRow {
	slices.SortFunc(r.texts, func(a, b taskRow) int { return a.Order.Compare(b.Order) })
	return r.texts
}

// emit is session.emit of an answer whose tasks are the rows.
func (r *taskRows) emit(answer lsJSON) {
	r.buffer.Reset()
	_ = r.encoder.Encode(answer)
	const at = `"tasks":[` // nothing that a user wrote stands before it
	before, after, _ := bytes.Cut(r.buffer.Bytes(), []byte(at))
	r.out.Write(before)
	r.out.WriteString(at)
	for i, row := range r.ordered() {
		if i > 0 {
			r.out.WriteByte(',')
		}
		r.out.Write(row.text)
	}
	r.out.Write(after)
}

// print writes the rows as lines.
func (r *taskRows) print(total int) {
	for _, row := range r.ordered() {
		r.line("%s", row.text)
	}
	if more := total - r.n; more > 0 {
		r.talk("… and %s more", thousands(more))
	}
}
