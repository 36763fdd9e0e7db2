package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// tx is a transaction: what was read, with its revisions, and what is to be written.
type tx struct {
	*Store
	ctx    context.Context
	limits state.Limits
	cells  map[string]*cell
	order  []string        // of the cells that are written
	docs   map[string]held // by ID
	after  []Op            // what is appended, or new for certain
	count  int             // tasks that wait; -1: not counted yet
	id     string          // what the next task is called
	dry    uint64          // how many IDs were made up; nothing is kept of a dry transaction
	isDry  bool
	broken error // the servers did not answer
}

// cell is what a key had, and what it is to have.
type cell struct {
	Cell
	written bool
}

// held is a task as it stands, and where it is kept.
type held struct {
	doc state.Doc
	key string
}

// Several changes are one commit, as long as that stays small.
const (
	changesMost = 100
	bytesMost   = 2 << 20
)

// transact calls do for each of n changes, of which many become one commit. do notes its answer; fail is told of those for which there is none.
// After a refusal what was one commit is tried change by change.
func (s *Store) transact(ctx context.Context, n int, do func(t *tx, i int) error, fail func(i int, err error)) {
	for begin, most := 0, changesMost; begin < n; {
		t, end := s.newTx(ctx), begin
		var err error
		if s.limits != nil {
			t.limits, err = s.limits()
		}
		s.reserve(min(n-begin, most))
		size := 0
		for ; err == nil && end < n && end-begin < most && size < bytesMost; end++ {
			if err = ctx.Err(); err != nil {
				break
			}
			before := len(t.after)
			if refused := do(t, end); refused != nil && t.broken == nil {
				fail(end, refused)
			}
			err = t.broken
			for _, op := range t.after[before:] {
				size += len(op.Data)
			}
		}
		if err == nil {
			err = s.commitAll(ctx, t)
		}
		switch {
		case errors.Is(err, ErrMoved) || errors.Is(err, state.ErrInvalid) && end-begin > 1:
			if most == 1 {
				pauseOdd(ctx)
			}
			most = 1
			continue
		case err != nil:
			for i := begin; i < max(end, begin+1); i++ {
				fail(i, err)
			}
			end = max(end, begin+1)
		}
		begin, most = end, changesMost
	}
}

// pauseOdd is a moment of odd length, so that those who change the same take turns.
func pauseOdd(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(time.Now().UnixNano()%4096) * time.Microsecond / 2):
	}
}

func (s *Store) newTx(ctx context.Context) *tx {
	return &tx{Store: s, ctx: ctx, cells: map[string]*cell{}, docs: map[string]held{}, count: -1}
}

// commitAll writes what a transaction is to write. What expects a revision comes first.
func (s *Store) commitAll(ctx context.Context, t *tx) error {
	var ops []Op
	for _, key := range t.order {
		ops = append(ops, Op{Cell: t.cells[key].Cell})
	}
	slices.SortStableFunc(ops, func(a, b Op) int {
		if (a.Rev == Any) == (b.Rev == Any) {
			return 0
		}
		if b.Rev == Any {
			return -1
		}
		return 1
	})
	for i := range ops {
		if len(ops[i].Data) == 0 {
			ops[i].TTL = tombstone
		}
	}
	if ops = append(ops, t.after...); len(ops) == 0 {
		return nil
	}
	return s.commit(ctx, ops)
}

// tombstone is how long a key that was dropped says so to those who follow.
const tombstone = 24 * time.Hour

// reserve sees to it that there are numbers for so many tasks, for a bulk of them. One asks when it comes to that.
func (s *Store) reserve(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = n
}

// AddAll adds many tasks.
func (s *Store) AddAll(ctx context.Context, drafts []state.Draft) []state.Added {
	answers := make([]state.Added, len(drafts))
	s.transact(ctx, len(drafts), func(t *tx, i int) (err error) {
		answers[i] = state.Added{}
		draft := drafts[i]
		if len(draft.Task.On) == 0 && s.node.Name != "" { // what says nothing else runs where it was scheduled
			draft.Task.On = []string{s.node.Name}
		}
		answers[i].Entry, err = state.AddIn(t, draft)
		return err
	}, func(i int, err error) { answers[i].Err = err })
	return answers
}

// Change applies rules to tasks.
func (s *Store) Change(ctx context.Context, changes ...state.Change) []state.Changed {
	answers := make([]state.Changed, len(changes))
	s.transact(ctx, len(changes), func(t *tx, i int) (err error) {
		answers[i] = state.Changed{}
		c := changes[i]
		for _, r := range []*state.Record{c.Claim, c.Undone} {
			if r != nil {
				c.Rule = mine(*r, c.Rule)
			}
		}
		answers[i].Doc, err = state.ChangeIn(t, c)
		return err
	}, func(i int, err error) { answers[i].Err = err })
	return answers
}

// Charge notes a creation of an origin.
func (s *Store) Charge(ctx context.Context, origin string, now time.Time) (err error) {
	s.transact(ctx, 1, func(t *tx, _ int) error { return t.Charge(origin, now) }, func(_ int, e error) { err = e })
	return err
}

// Dry returns a handle whose changes are not committed.
func (s *Store) Dry() state.Changes {
	return state.Dry(func(ctx context.Context, f func(state.Transaction) error) error {
		t := s.newTx(ctx)
		t.isDry = true
		var err error
		if s.limits != nil {
			t.limits, err = s.limits()
		}
		return errors.Join(err, f(t), t.broken)
	})
}

// read is what a key has, in this transaction.
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
	c.Key = key
	t.cells[key] = c
	return c, nil
}

// write gives a key what it is to have; nothing drops it. One that was not read may have had anything.
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
		panic(err) // it holds nothing that JSON has no form for
	}
	t.write(key, data)
}

// NextID is what the next task is called.
func (t *tx) NextID() string {
	if t.isDry {
		t.dry++
		return state.ID(1<<45 + t.dry)
	}
	if t.id == "" {
		n, err := t.number(t.ctx)
		if err != nil {
			t.broken = err
			return state.ID(0)
		}
		t.id = state.ID(n)
	}
	return t.id
}

// number is one that no task had.
func (s *Store) number(ctx context.Context) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ids) == 0 {
		want := max(s.want, 1)
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

// Load is how a task stands.
func (t *tx) Load(c state.Change) (state.Doc, error) { return t.load(c.ID) }

func (t *tx) load(id string) (state.Doc, error) {
	if h, ok := t.docs[id]; ok {
		return h.doc, nil
	}
	if !state.WholeID(id) {
		return state.Doc{}, state.ErrNotFound
	}
	for _, place := range []string{living, over, living} { // the last: it may have come back between the two
		key := place + spelled(id)
		c, err := t.read(key)
		if err != nil {
			return state.Doc{}, err
		}
		if len(c.Data) == 0 {
			if place == over {
				delete(t.cells, living+spelled(id))
			}
			continue
		}
		d, err := t.decode(t.ctx, c.Cell)
		if err != nil {
			return d, err
		}
		t.docs[id] = held{d, key}
		return d, nil
	}
	return state.Doc{}, state.ErrNotFound
}

// decode reads a task as it is kept, with all that it says. ErrNotFound when that is not there any more.
func (s *Store) decode(ctx context.Context, c Cell) (state.Doc, error) {
	var r record
	if err := decode(c, &r); err != nil {
		return state.Doc{}, err
	}
	d := r.doc(idOf(c.Key))
	var err error
	if d.Task, err = s.text(ctx, d.Task.ID, d.Task.Revision); err != nil {
		return d, err
	}
	for i, o := range d.Open {
		if d.Open[i].Task, err = s.text(ctx, d.Task.ID, o.Task.Revision); err != nil {
			return d, err
		}
	}
	return d, nil
}

// textsMost bounds what is remembered of what tasks say.
const textsMost = 4096

// text is what a task says in a revision.
func (s *Store) text(ctx context.Context, id string, revision int64) (state.Task, error) {
	key := textKey(id, revision)
	s.mu.Lock()
	task, ok := s.tasks[key]
	s.mu.Unlock()
	if ok {
		return task.Clone(), nil
	}
	var c Cell
	err := s.patiently(ctx, func(ctx context.Context) (err error) {
		if c, err = s.kv.Get(ctx, key, true); err == nil && len(c.Data) == 0 { // who was asked may not have it yet
			c, err = s.kv.Get(ctx, key, false)
		}
		return err
	})
	if err == nil && len(c.Data) == 0 {
		err = state.ErrNotFound
	}
	if err == nil {
		task, _, err = codec.DecodeTask(c.Data)
	}
	if err != nil {
		return state.Task{}, err
	}
	s.keepText(key, task)
	return task.Clone(), nil
}

func (s *Store) keepText(key string, task state.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tasks) >= textsMost {
		clear(s.tasks)
	}
	s.tasks[key] = task.Clone()
}

// Holder is the task that lives and has a key.
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

// Admit refuses what is more than the limits let be.
func (t *tx) Admit(before *state.Doc, after state.Doc, now time.Time) error {
	return t.limits.Admit(before, after, t, now)
}

// Put keeps how a task stands after a change.
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
	after.Open = fenced(was.Open, after.Open, t.revision(id))
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
	if err := t.come(before, was, after, c.Now); err != nil {
		return after, err
	}
	t.docs[id] = held{after, to}
	for _, l := range lines {
		t.line(l.Clone())
	}
	return after, nil
}

// revision is that of a task as it was read; 0 of a new one.
func (t *tx) revision(id string) uint64 {
	if c := t.cells[t.docs[id].key]; c != nil {
		return c.Rev
	}
	return 0
}

// fenced are the open claims after a change, those that were granted by it with a fence: the revision before, which is more than any had that was granted
// earlier.
func fenced(before, after []state.Record, revision uint64) []state.Record {
	after = slices.Clone(after)
	for i, c := range after {
		if !slices.ContainsFunc(before, func(o state.Record) bool {
			return o.Number == c.Number && o.Claimed.Equal(c.Claimed) && o.Runner == c.Runner
		}) {
			after[i].Fence = revision
		}
	}
	return after
}

// lineage is what came of the runs of one task.
type lineage struct {
	Pending []string    `json:"pending,omitempty"` // tasks that wait, and perhaps some that do not any more
	Made    []time.Time `json:"made,omitempty"`
}

func (t *tx) lineage(origin string) (g lineage, err error) {
	c, err := t.read(origins + origin)
	if err == nil && len(c.Data) > 0 {
		err = decode(c.Cell, &g)
	}
	return g, err
}

// come counts a task that waits now and did not, or that has another origin.
func (t *tx) come(before *state.Doc, was, after state.Doc, now time.Time) error {
	origin := after.Task.Origin
	if t.count >= 0 && after.Waits() != was.Waits() {
		t.count += map[bool]int{true: 1, false: -1}[after.Waits()]
	}
	if !after.Waits() || was.Waits() && was.Task.Origin == origin {
		return nil
	}
	if t.limits.Tasks > 0 && t.count >= 0 {
		if _, err := t.read(crowd); err != nil {
			return err
		}
		t.write(crowd, []byte("{}"))
	}
	if origin == "" {
		return nil
	}
	g, err := t.lineage(origin)
	if err != nil {
		return err
	}
	if !slices.Contains(g.Pending, after.Task.ID) && len(g.Pending) < state.LineageMost {
		g.Pending = append(g.Pending, after.Task.ID)
	}
	if before == nil {
		g.Made = append(state.Recent(g.Made, now), state.UTC(now))
	}
	t.writeJSON(origins+origin, g)
	return nil
}

// Charge notes a creation of an origin.
func (t *tx) Charge(origin string, now time.Time) error {
	g, err := t.lineage(origin)
	if err != nil {
		return err
	}
	if err := t.limits.CheckHour(origin, g.Made, now); err != nil || origin == "" {
		return err
	}
	g.Made = append(state.Recent(g.Made, now), state.UTC(now))
	t.writeJSON(origins+origin, g)
	return nil
}

// Made is when an origin made tasks.
func (t *tx) Made(origin string) ([]time.Time, error) {
	g, err := t.lineage(origin)
	return g.Made, err
}

// Pending counts those of an origin that wait. Nobody notes that one does not any more, so each is looked at when the limit would be reached.
func (t *tx) Pending(origin string) (int, error) {
	g, err := t.lineage(origin)
	if err != nil || len(g.Pending) < t.limits.Pending {
		return len(g.Pending), err
	}
	g.Pending = slices.DeleteFunc(g.Pending, func(id string) bool {
		d, e := t.load(id)
		if e != nil && !errors.Is(e, state.ErrNotFound) {
			err = e
		}
		return e != nil || !d.Waits() || d.Task.Origin != origin
	})
	if err == nil {
		data, _ := json.Marshal(g)
		t.cells[origins+origin].Data = data // for those that follow; it is written when one of them is let in
	}
	return len(g.Pending), err
}

// Waiting counts the tasks that wait, of everybody. Whoever adds one because of it writes crowd, so that nobody else has meanwhile.
func (t *tx) Waiting() (int, error) {
	if t.count >= 0 {
		return t.count, nil
	}
	if _, err := t.read(crowd); err != nil {
		return 0, err
	}
	list, _, err := t.all(t.ctx, living)
	if err != nil {
		t.broken = err
		return 0, err
	}
	waits := map[string]bool{}
	for _, c := range list {
		var r record
		if decode(c, &r) == nil {
			waits[idOf(c.Key)] = r.doc("").Waits()
		}
	}
	for id, h := range t.docs { // as they stand in this transaction
		waits[id] = h.doc.Waits()
	}
	t.count = 0
	for _, w := range waits {
		if w {
			t.count++
		}
	}
	return t.count, nil
}

// line appends a line to the ledger, and makes its mail.
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
		key := items + run
		if l.Type == state.LineDelivery {
			key += "." + state.ChannelForm(l.Channel)
		}
		t.writeJSON(key, l)
	}
	for _, c := range l.Channels() {
		t.writeJSON(hashKey(notices+run+".", c), notice{Line: l, Channel: c, Due: state.UTC(l.At), Node: t.node.Name})
	}
}
