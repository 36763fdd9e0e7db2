package runner

import (
	"cmp"
	"container/heap"
	"iter"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// agenda is what a runner has to look at some time. Each task on it is in one stage: it waits for an instant, it is due and waits for a
// place, or it waits for the end of what runs of it, or for something that has no instant, and is in neither heap. What is due leaves in order of
// its instant.
//
// It follows the queue (state.Queue). What the runner does itself it notes at once: where the system does not tell what has changed, it
// would learn of it too late.
//
// There may be very many tasks, so that of each there is no more than a number and two instants.
type agenda struct {
	lead    time.Duration // how long before its instant a task that is due is looked at
	items   map[uint64]*item
	waiting itemHeap
	due     itemHeap
	resumes map[uint64]time.Time // when the paused ones are to go on
	// copies are other places in which tasks were seen, as a copy of a file has them: which one counts, the store knows.
	copies map[uint64][]state.Slot
	// unscheduled are the tasks that are due at no instant that is known; they are in neither heap.
	unscheduled map[uint64]bool
}

// item is a task on the agenda.
type item struct {
	task uint64  // the number of its ID
	due  instant // as its slot has it
	at   instant // when it is looked at
	pos  int32   // in its heap
	stage
}

// stage is what an item waits for.
type stage uint8

const (
	holding stage = iota // the end of what runs of it
	waiting              // an instant
	due                  // a place
)

// instant is a time.Time in less memory, in UTC.
type instant struct {
	sec  int64
	nsec int32
}

func instantOf(t time.Time) instant { return instant{t.Unix(), int32(t.Nanosecond())} }

func (i instant) time() time.Time { return time.Unix(i.sec, int64(i.nsec)).UTC() }

func (i instant) compare(o instant) int {
	return cmp.Or(cmp.Compare(i.sec, o.sec), cmp.Compare(i.nsec, o.nsec))
}

func newAgenda(lead time.Duration) *agenda {
	a := &agenda{lead: lead, items: map[uint64]*item{}, resumes: map[uint64]time.Time{}, copies: map[uint64][]state.Slot{}, unscheduled: map[uint64]bool{}}
	a.waiting.first = func(x, y *item) bool { return x.at.compare(y.at) < 0 }
	a.due.first = func(x, y *item) bool { // by their instant, and those of one instant as they were made
		return cmp.Or(a.wake(x).compare(a.wake(y)), cmp.Compare(x.task, y.task)) < 0
	}
	return a
}

// wake is when an item is due, or to go on.
func (a *agenda) wake(it *item) instant {
	if t, paused := a.resumes[it.task]; paused {
		return instantOf(t)
	}
	return it.due
}

// slot is where an item is.
func (a *agenda) slot(it *item) state.Slot {
	return state.Slot{ID: state.ID(it.task), Due: it.due.time(), Resume: a.resumes[it.task]}
}

// item is a task's; nil when it is not on the agenda.
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
			a.copies[n] = append(a.copies[n], a.slot(it)) // until it is told that it is gone from there
			a.put(s)
		default: // it is new, or was edited
			a.put(s)
		}
	}
}

// left takes in that a task is not in a place any more.
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

// replace puts all slots there are in the place of what was known. What is looked at later than at its instant, for a reason, still is.
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

// put notes where a task is now; it is looked at when it is due. One that is gone from its place may have another.
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
	it.due = instantOf(s.Due)
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

// awaited reports whether there is a task that is due some time, or runs.
func (a *agenda) awaited() bool { return len(a.items) > len(a.unscheduled) }

// moved notes that a task has another due instant, be it paused or not.
func (a *agenda) moved(id string, due time.Time) {
	if it := a.item(id); it != nil {
		a.put(state.Slot{ID: id, Due: due, Resume: a.resumes[it.task]})
	}
}

// hint is the due instant by which the store finds a task at once; the zero time when it has to find out which place counts.
func (a *agenda) hint(s state.Slot) time.Time {
	if n, _ := state.IDNumber(s.ID); !s.Resume.IsZero() || len(a.copies[n]) > 0 {
		return time.Time{}
	}
	return s.Due
}

// early is when an item is looked at that nothing keeps from it.
func (a *agenda) early(it *item) instant { return instantOf(a.wake(it).time().Add(-a.lead)) }

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

// at has a task looked at at an instant, whatever it waits for.
func (a *agenda) at(id string, t time.Time) {
	if it := a.item(id); it != nil {
		a.leave(it)
		it.at = instantOf(t)
		a.enter(it, waiting)
	}
}

// hold has a task wait until something of it ends.
func (a *agenda) hold(id string) {
	if it := a.item(id); it != nil {
		a.leave(it)
	}
}

// ended has a task that waits for an end looked at.
func (a *agenda) ended(id string) {
	if it := a.item(id); it != nil && it.stage == holding && !a.unscheduled[it.task] {
		it.at = a.early(it)
		a.enter(it, waiting)
	}
}

// back puts a task that was picked among those that are due.
func (a *agenda) back(id string) {
	if it := a.item(id); it != nil {
		a.leave(it)
		a.enter(it, due)
	}
}

// ripen moves the tasks whose instant has come to those that are due, and returns those that are urgent instead: they may need no place.
func (a *agenda) ripen(now time.Time, urgent func(state.Slot) bool) (list []state.Slot) {
	for until := instantOf(now); len(a.waiting.list) > 0 && a.waiting.list[0].at.compare(until) <= 0; {
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

// next is when something is to be looked at next; the zero time: never.
func (a *agenda) next() time.Time {
	if len(a.waiting.list) == 0 {
		return time.Time{}
	}
	return a.waiting.list[0].at.time()
}

// rearm has all that waits for an instant looked at when it is due: the clock was put back, and what was put off would be for too long.
func (a *agenda) rearm() {
	for _, it := range a.waiting.list {
		it.at = a.early(it)
	}
	heap.Init(&a.waiting)
}

// heapOf is the heap of a stage; nil for none.
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

// itemHeap are items of which the first is known.
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
