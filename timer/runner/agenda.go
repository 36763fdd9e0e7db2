package runner

import (
	"cmp"
	"container/heap"
	"iter"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// agenda is what a runner has to look at in the future. Each task on it is in one stage: it waits
// for its instant, it is due and waits for a place, or it is in neither heap because it waits for
// the end of its run, or for something without an instant. Due tasks leave in order of their
// instants.
//
// It follows the queue (state.Queue). The runner notes its own changes at once, because on systems
// that do not tell of changes it would learn of them too late.
//
// There may be very many tasks, so each has only a number and two instants here.
type agenda struct {
	claimAhead time.Duration // how long before its instant a due task is looked at
	items      map[uint64]*item
	waiting    itemHeap
	due        itemHeap
	resumes    map[uint64]time.Time // when the paused ones are to go on
	// copies are other places in which tasks were seen, because a task's file was copied. The store
	// knows which one counts.
	copies map[uint64][]state.Slot
	// unscheduled are the tasks without a known due instant. They are in neither heap.
	unscheduled map[uint64]bool
}

// item is a task on the agenda.
type item struct {
	task uint64        // the number of its ID
	due  state.Instant // as its slot has it
	at   state.Instant // when it is looked at
	pos  int32         // in its heap
	stage
}

// stage is what an item waits for.
type stage uint8

const (
	holding stage = iota // the end of what runs of it
	waiting              // an instant
	due                  // a place
)

func newAgenda(claimAhead time.Duration) *agenda {
	a := &agenda{claimAhead: claimAhead, items: map[uint64]*item{}, resumes: map[uint64]time.Time{}, copies: map[uint64][]state.Slot{}, unscheduled: map[uint64]bool{}}
	a.waiting.first = func(x, y *item) bool { return x.at.Compare(y.at) < 0 }
	// by instant, and at the same instant in the order in which they were made
	a.due.first = func(x, y *item) bool {
		return cmp.Or(a.wake(x).Compare(a.wake(y)), cmp.Compare(x.task, y.task)) < 0
	}
	return a
}

// wake is when an item is due or, if it is paused, resumes.
func (a *agenda) wake(it *item) state.Instant {
	if t, paused := a.resumes[it.task]; paused {
		return state.InstantOf(t)
	}
	return it.due
}

// slot is where an item is.
func (a *agenda) slot(it *item) state.Slot {
	return state.Slot{ID: state.ID(it.task), Due: it.due.Time(), Resume: a.resumes[it.task]}
}

// item returns a task's item, or nil.
func (a *agenda) item(id string) *item {
	n, _ := state.IDNumber(id)
	return a.items[n]
}

// take takes in what the queue tells.
func (a *agenda) take(slots iter.Seq[state.Slot], whole bool) {
	if whole {
		a.replace(slots)
		return
	}
	for s := range slots {
		n, _ := state.IDNumber(s.ID)
		switch it := a.items[n]; {
		case s.Gone:
			a.left(s)
		case it != nil && !a.slot(it).Same(s):
			// until the queue says that it is gone from there
			a.copies[n] = append(a.copies[n], a.slot(it))
			a.put(s)
		default: // it is new, or was edited
			a.put(s)
		}
	}
}

// left takes in that a task is no longer in a place.
func (a *agenda) left(s state.Slot) {
	n, _ := state.IDNumber(s.ID)
	if it := a.items[n]; it != nil && a.slot(it).Same(s) {
		a.put(s)
		return
	}
	for i, other := range a.copies[n] {
		if other.Same(s) {
			a.copies[n] = append(a.copies[n][:i:i], a.copies[n][i+1:]...)
			break
		}
	}
	if len(a.copies[n]) == 0 {
		delete(a.copies, n)
	}
}

// replace replaces what was known by the slots of all tasks. An item that is looked at later than
// its instant keeps that.
func (a *agenda) replace(slots iter.Seq[state.Slot]) {
	known := make(map[uint64]bool, len(a.items))
	clear(a.copies)
	for s := range slots {
		n, _ := state.IDNumber(s.ID)
		it := a.items[n]
		same := it != nil && a.slot(it).Same(s)
		if known[n] && !same {
			a.copies[n] = append(a.copies[n], a.slot(it))
		}
		known[n] = true
		if !same {
			a.put(s)
		}
	}
	for n := range a.items {
		if !known[n] {
			a.drop(n)
		}
	}
}

// put notes where a task is now. The task is looked at when it is due. A task that is gone from its
// place may have another one.
func (a *agenda) put(s state.Slot) {
	n, ok := state.IDNumber(s.ID)
	if copies := a.copies[n]; s.Gone && len(copies) > 0 {
		s = copies[0]
		if a.copies[n] = copies[1:]; len(copies) == 1 {
			delete(a.copies, n)
		}
	}
	if s.Gone || !ok {
		a.drop(n)
		return
	}
	it := a.items[n]
	if it == nil {
		it = &item{task: n}
		a.items[n] = it
	}
	a.leave(it)
	it.due = state.InstantOf(s.Due)
	delete(a.resumes, n)
	delete(a.unscheduled, n)
	if !s.Resume.IsZero() {
		a.resumes[n] = s.Resume
	}
	if state.IsUnscheduled(s.Wake()) {
		a.unscheduled[n] = true
		return
	}
	it.at = a.early(it)
	a.enter(it, waiting)
}

// pending reports whether a task will be due, or runs.
func (a *agenda) pending() bool { return len(a.items) > len(a.unscheduled) }

// moved notes a task's new due instant. The task may be paused.
func (a *agenda) moved(id string, due time.Time) {
	if it := a.item(id); it != nil {
		a.put(state.Slot{ID: id, Due: due, Resume: a.resumes[it.task]})
	}
}

// hint is the due instant by which the store finds a task at once. It is zero if the store has to
// find out which place counts.
func (a *agenda) hint(s state.Slot) time.Time {
	if n, _ := state.IDNumber(s.ID); !s.Resume.IsZero() || len(a.copies[n]) > 0 {
		return time.Time{}
	}
	return s.Due
}

// early is when to look at an item that nothing holds up.
func (a *agenda) early(it *item) state.Instant {
	return state.InstantOf(a.wake(it).Time().Add(-a.claimAhead))
}

// drop forgets a task.
func (a *agenda) drop(n uint64) {
	if it := a.items[n]; it != nil {
		a.leave(it)
		delete(a.items, n)
	}
	delete(a.resumes, n)
	delete(a.copies, n)
	delete(a.unscheduled, n)
}

// at sets when to look at a task, whatever it waits for.
func (a *agenda) at(id string, t time.Time) {
	if it := a.item(id); it != nil {
		a.leave(it)
		it.at = state.InstantOf(t)
		a.enter(it, waiting)
	}
}

// hold makes a task wait for the end of one of its runs.
func (a *agenda) hold(id string) {
	if it := a.item(id); it != nil {
		a.leave(it)
	}
}

// ended wakes a task that waits for an end.
func (a *agenda) ended(id string) {
	if it := a.item(id); it != nil && it.stage == holding && !a.unscheduled[it.task] {
		it.at = a.early(it)
		a.enter(it, waiting)
	}
}

// back puts a picked task back among those that are due.
func (a *agenda) back(id string) {
	if it := a.item(id); it != nil {
		a.leave(it)
		a.enter(it, due)
	}
}

// takeReady moves the tasks whose instant has come to those that are due. It returns those that are
// urgent instead, because they may need no place.
func (a *agenda) takeReady(now time.Time, urgent func(state.Slot) bool) (list []state.Slot) {
	for until := state.InstantOf(now); len(a.waiting.list) > 0 && a.waiting.list[0].at.Compare(until) <= 0; {
		it := a.waiting.list[0]
		a.leave(it)
		if s := a.slot(it); urgent(s) {
			list = append(list, s)
		} else {
			a.enter(it, due)
		}
	}
	return list
}

// pick takes up to n of the tasks that are due.
func (a *agenda) pick(n int) (list []state.Slot) {
	for len(list) < n && len(a.due.list) > 0 {
		it := a.due.list[0]
		a.leave(it)
		list = append(list, a.slot(it))
	}
	return list
}

// next is when to look at the next task. Zero means never.
func (a *agenda) next() time.Time {
	if len(a.waiting.list) == 0 {
		return time.Time{}
	}
	return a.waiting.list[0].at.Time()
}

// rearm sets all items that wait for an instant to their due instants. The clock was put back, so
// what was put off would wait too long.
func (a *agenda) rearm() {
	for _, it := range a.waiting.list {
		it.at = a.early(it)
	}
	heap.Init(&a.waiting)
}

// heapOf is the heap of a stage, or nil.
func (a *agenda) heapOf(s stage) *itemHeap {
	switch s {
	case waiting:
		return &a.waiting
	case due:
		return &a.due
	}
	return nil
}

// enter puts an item that is in no heap into one.
func (a *agenda) enter(it *item, s stage) {
	it.stage = s
	heap.Push(a.heapOf(s), it)
}

// leave takes an item out of its heap.
func (a *agenda) leave(it *item) {
	if h := a.heapOf(it.stage); h != nil {
		heap.Remove(h, int(it.pos))
		it.stage = holding
	}
}

// itemHeap keeps items so that the first is known.
type itemHeap struct {
	list  []*item
	first func(x, y *item) bool
}

// Len, Less, Swap, Push and Pop are heap.Interface.
func (h *itemHeap) Len() int           { return len(h.list) }
func (h *itemHeap) Less(i, j int) bool { return h.first(h.list[i], h.list[j]) }
func (h *itemHeap) Swap(i, j int) {
	h.list[i], h.list[j] = h.list[j], h.list[i]
	h.list[i].pos, h.list[j].pos = int32(i), int32(j)
}
func (h *itemHeap) Push(x any) {
	it := x.(*item)
	it.pos = int32(len(h.list))
	h.list = append(h.list, it)
}
func (h *itemHeap) Pop() any {
	end := len(h.list) - 1
	it := h.list[end]
	h.list[end] = nil
	h.list = h.list[:end]
	return it
}
