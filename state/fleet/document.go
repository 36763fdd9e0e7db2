package fleet

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// The first words of the keys. docs/fleet.md has the table.
const (
	living       = "s." // a task that may still run, or that runs
	over         = "e." // a task that has ended or was removed
	texts        = "t." // the text of a task, by its revision
	ledger       = "l." // the lines of a task
	keys         = "k." // the task that has a key of the user
	origins      = "g." // the tasks that runs of one task have scheduled
	items        = "i." // items of the inbox
	leases       = "x." // until when somebody leases an item
	notices      = "n." // notices of the outbox
	heartbeats   = "h." // heartbeats of living runners
	drains       = "d." // nodes whose runners start nothing
	waitingGuard = "w"  // what each addition writes that the limit of all tasks counts
	pastGone     = "p"  // what was dropped from the ledger and the inbox
)

// idKey returns an ID as words of one character: a prefix of the ID is then a prefix of the key.
func idKey(id string) string { return strings.Join(strings.Split(id, ""), ".") }

// idOf returns the ID from the key of a task.
func idOf(key string) string { return strings.ReplaceAll(key[2:], ".", "") }

func textKey(id string, revision int64) string {
	return texts + id + "." + strconv.FormatInt(revision, 10)
}

// hashKey returns a key for any text.
func hashKey(of, text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s%x", of, sum[:16])
}

// docKey returns the key under which a task is kept.
func docKey(d state.Doc) string {
	if d.Over() {
		return over + idKey(d.Task.ID)
	}
	return living + idKey(d.Task.ID)
}

// record is the present state of a task, without its text.
type record struct {
	Due       time.Time   `json:"due"`
	Phase     state.Phase `json:"phase"`
	Resume    time.Time   `json:"resume,omitzero"`
	RemovedAt time.Time   `json:"gone,omitzero"`
	Revision  int64       `json:"rev"`
	Origin    string      `json:"origin,omitempty"`
	On        []string    `json:"on,omitempty"` // where it may run
	Tally     state.Tally `json:"tally,omitzero"`
	Open      []openClaim `json:"open,omitempty"`
}

// openClaim is an open claim, without the text of its task but with the revision of that.
type openClaim struct {
	Revision int64 `json:"rev"`
	claim
}

// claim has the fields of state.Record, by the names under which they are kept.
type claim struct {
	Task     state.Task  `json:"-"`
	Due      time.Time   `json:"due"`
	Number   int         `json:"number"`
	Manual   bool        `json:"manual,omitempty"`
	Claimed  time.Time   `json:"claimed"`
	Runner   state.Ident `json:"runner"`
	Node     string      `json:"node,omitempty"`
	Past     bool        `json:"-"`
	Starting time.Time   `json:"starting,omitzero"`
	Child    state.Ident `json:"child,omitzero"`
	Started  time.Time   `json:"started,omitzero"`
	First    time.Time   `json:"first,omitzero"`
	Attempt  int         `json:"attempt,omitzero"`
	Retry    time.Time   `json:"retry,omitzero"`
	Halt     string      `json:"halt,omitempty"`
	Fence    uint64      `json:"fence,omitempty"`
	Grant    string      `json:"grant,omitempty"`
}

// recordOf returns the form in which a task is kept.
func recordOf(d state.Doc) record {
	r := record{Due: d.Due, Phase: d.Phase, Resume: d.Resume, RemovedAt: d.RemovedAt, Revision: d.Task.Revision,
		Origin: d.Task.Origin, On: d.Task.On, Tally: d.Tally}
	for _, c := range d.Open {
		r.Open = append(r.Open, openClaim{c.Task.Revision, claim(c)})
	}
	return r
}

// doc returns the present state of a task, without its text.
func (r record) doc(id string) state.Doc {
	d := state.Doc{Task: state.Task{ID: id, Revision: r.Revision, Origin: r.Origin, On: r.On},
		Due: r.Due, Phase: r.Phase, Resume: r.Resume, RemovedAt: r.RemovedAt, Tally: r.Tally}
	for _, c := range r.Open {
		c.Task = state.Task{ID: id, Revision: c.Revision}
		d.Open = append(d.Open, state.Record(c.claim))
	}
	return d
}

// decode reads the data of a cell.
func decode(c Cell, v any) error {
	if err := json.Unmarshal(c.Data, v); err != nil {
		return fmt.Errorf("%w: %s %w: %w", state.ErrUnusable, c.Key, codec.ErrBroken, err)
	}
	return nil
}

// garbled reports whether an error says that a cell or a text cannot be read, now or later: it is
// damaged, or a newer version wrote it.
func garbled(err error) bool {
	return errors.Is(err, codec.ErrBroken) || errors.Is(err, state.ErrNewer)
}

// problem is that of a key whose cell or text is garbled.
func problem(key string, err error) state.Problem {
	return state.Problem{Path: key, Err: err, Hint: "the others are not affected"}
}
