package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// tx is a transaction: what was read, with its revisions, and what will be written.
type tx struct {
	*Store
	ctx    context.Context
	limits state.Limits
	cells  map[string]*cell
	peeked map[string]peeked // by ID, of the tasks that will change
	order  []string          // of the cells that will be written
	docs   map[string]held   // by ID
	after  []Op              // what is appended, or certainly new
	count  int               // waiting tasks; -1 when they are not counted yet
	want   int               // how many numbers for tasks may be needed
	id     string            // the ID of the next task
	dry    uint64            // how many IDs were made up; a dry transaction keeps nothing
	isDry  bool
	broken error // the servers did not answer

	refused bool // some change was refused
	seen    Cell // after ErrMoved: what the first key has now

	// changed has the claims that it opens, by the IDs of all tasks that it changes
	changed map[string][]state.Record
	// tried is changed of earlier attempts of which it is unknown whether they were committed
	tried map[string][]state.Record
}

// peeked is a task as some server has it, without its text. It may be behind.
type peeked struct {
	cell Cell
	doc  state.Doc
}

// cell is what a key has, and what it will have.
type cell struct {
	Cell
	written bool
}

// held is the state of a task, and the key under which it is kept.
type held struct {
	doc state.Doc
	key string
}

// Several changes are one commit, as long as that is small.
const (
	changesMost = 100
	bytesMost   = 2 << 20
)

func (s *Store) newTx(ctx context.Context) *tx {
	return &tx{Store: s, ctx: ctx, cells: map[string]*cell{}, docs: map[string]held{}, changed: map[string][]state.Record{}, count: -1}
}

// read returns the content of a key in this transaction.
func (t *tx) read(key string) (*cell, error) {
	if c := t.cells[key]; c != nil {
		return c, nil
	}
	got, err := t.get(t.ctx, key)
	if err != nil {
		t.broken = err
		return nil, err
	}
	c := &cell{Cell: got}
	t.cells[key] = c
	return c, nil
}

// write sets the content of a key; nil drops it. A key that was not read may have any content.
func (t *tx) write(key string, data []byte) {
	c := t.cells[key]
	if c == nil {
		c = &cell{Cell: Cell{Key: key, Rev: Any}}
		t.cells[key] = c
	}
	if !c.written {
		c.written = true
		t.order = append(t.order, key)
	}
	c.Data = data
}

func (t *tx) writeJSON(key string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // everything in it can be encoded as JSON
	}
	t.write(key, data)
}

// NextID returns the ID of the next task.
func (t *tx) NextID() string {
	if t.isDry {
		t.dry++
		return state.ID(1<<45 + t.dry)
	}
	if t.id == "" {
		n, err := t.number(t.ctx, max(t.want, 1))
		if err != nil {
			t.broken = err
			return state.ID(0)
		}
		t.id = state.ID(n)
	}
	return t.id
}

// number returns a number that no task has had. It asks the servers for as many as are wanted.
func (s *Store) number(ctx context.Context, want int) (uint64, error) {
	s.idsMu.Lock()
	defer s.idsMu.Unlock()
	if len(s.ids) == 0 {
		var first uint64
		err := s.patiently(ctx, func(ctx context.Context) (err error) { first, err = s.kv.Number(ctx, want); return err })
		if err != nil {
			return 0, err
		}
		for i := range want {
			s.ids = append(s.ids, first+uint64(i))
		}
	}
	n := s.ids[0]
	s.ids = s.ids[1:]
	return n, nil
}

// Load returns the state of a task.
func (t *tx) Load(c state.Change) (state.Doc, error) {
	key := living + idKey(c.ID)
	if found, ok := t.peeked[c.ID]; ok && t.cells[key] == nil {
		if d, err := t.withText(t.ctx, found.doc); err == nil {
			t.cells[key] = &cell{Cell: found.cell}
			t.docs[c.ID] = held{d, key}
		}
	}
	return t.load(c.ID)
}

func (t *tx) load(id string) (state.Doc, error) {
	if h, ok := t.docs[id]; ok {
		return h.doc, nil
	}
	if !state.WholeID(id) {
		return state.Doc{}, state.ErrNotFound
	}
	here, gone := living+idKey(id), over+idKey(id)
	for was, again := uint64(0), false; ; again = true {
		for _, key := range []string{here, gone} {
			c, err := t.read(key)
			if err != nil {
				return state.Doc{}, err
			}
			if len(c.Data) > 0 {
				d, err := t.decode(t.ctx, c.Cell)
				if err == nil {
					t.docs[id] = held{d, key}
				}
				return d, err
			}
			if again && key == here && c.Rev == was {
				return state.Doc{}, state.ErrNotFound
			}
		}
		// Both are read again: the task may have come back, and ended anew, in between.
		was = t.cells[here].Rev
		delete(t.cells, here)
		delete(t.cells, gone)
	}
}

// Holder returns the live task that has a key.
func (t *tx) Holder(key string) (state.Doc, bool, error) {
	if key == "" {
		return state.Doc{}, false, nil
	}
	c, err := t.read(hashKey(keys, key))
	if err != nil || len(c.Data) == 0 {
		return state.Doc{}, false, err
	}
	d, err := t.load(string(c.Data))
	if errors.Is(err, state.ErrNotFound) {
		return state.Doc{}, false, nil
	}
	return d, err == nil && d.Lives() && d.Task.Key == key, err
}

// Admit refuses a change beyond the limits.
func (t *tx) Admit(before *state.Doc, after state.Doc, now time.Time) error {
	return t.limits.Admit(before, after, t, now)
}

// Put keeps the state of a task after a change.
func (t *tx) Put(before *state.Doc, after state.Doc, lines []state.Line, c state.Change) (state.Doc, error) {
	id, was := after.Task.ID, state.Doc{Phase: state.Ended}
	if before != nil {
		was = *before
	}
	if was.Task.Revision != after.Task.Revision {
		data, read, err := codec.EncodeTask(after.Task, nil)
		if err != nil {
			return after, err
		}
		if after.Task, t.id = read, ""; !t.isDry {
			t.keepText(textKey(id, read.Revision), read)
		}
		t.after = append(t.after, Op{Cell: Cell{Key: textKey(id, read.Revision), Rev: Any, Data: data}})
	}
	to := docKey(after)
	after.Open = t.grant(id, was.Open, after.Open)
	if before == nil {
		t.cells[to] = &cell{Cell: Cell{Key: to}} // nobody else has the number
	} else if from := t.docs[id].key; from != to {
		t.write(from, nil)
	}
	r := recordOf(after)
	t.writeJSON(to, r)
	if after.Task.Key != "" && after.Lives() && !was.Lives() {
		t.write(hashKey(keys, after.Task.Key), []byte(id))
	}
	if err := t.countWaiting(before, was, after, c.Now); err != nil {
		return after, err
	}
	t.docs[id] = held{after, to}
	for _, l := range lines {
		t.line(l.Clone())
	}
	return after, nil
}

// revision returns the revision of a task as it was read, or 0 for a new one.
func (t *tx) revision(id string) uint64 {
	if c := t.cells[t.docs[id].key]; c != nil {
		return c.Rev
	}
	return 0
}

// grant returns the open claims of a task after a change. A claim that the change opens gets the
// name of this machine, a name of its own, and a fence: the previous revision, which is more than
// that of any earlier claim.
func (t *tx) grant(id string, before, after []state.Record) []state.Record {
	after = slices.Clone(after)
	var opened []state.Record
	for i, c := range after {
		if !slices.ContainsFunc(before, func(o state.Record) bool {
			return o.Number == c.Number && o.Claimed.Equal(c.Claimed) && o.Runner == c.Runner
		}) {
			after[i].Fence, after[i].Grant, after[i].Node = t.revision(id), rand.Text(), t.o.Node.Name
			opened = append(opened, after[i])
		}
	}
	t.changed[id] = append(t.changed[id], opened...)
	return after
}

// line appends a line to the ledger, with its items and notices.
func (t *tx) line(l state.Line) {
	data, err := json.Marshal(l.Kept())
	if err != nil {
		t.broken = fmt.Errorf("%w: a line of the ledger: %w", state.ErrInvalid, err)
		return
	}
	t.after = append(t.after, Op{Cell: Cell{Key: ledger + l.TaskID, Rev: Any, Data: data}, Append: true})
	if !l.HasMail() {
		return
	}
	run := l.TaskID + "." + strconv.Itoa(l.Number)
	if l.Inbox != "" {
		t.writeJSON(itemKey(state.ItemID(l)), l)
	}
	for _, c := range l.Channels() {
		t.writeJSON(hashKey(notices+run+".", c), notice{Line: l, Channel: c, Due: state.UTC(l.At), Node: t.o.Node.Name})
	}
}
