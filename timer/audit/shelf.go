package audit

import (
	"math"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// shelf keeps the books of tasks about which there is little to know, in a few bytes each: one-shots that wait, and all that have come to their
// end. In a ledger of a million lines they may be hundreds of thousands. IDs are given in a row, so they are places in an array.
type shelf map[uint64]*[shelfPage]shelved

const shelfPage = 1024

// shelved is the book of a task on the shelf.
type shelved struct {
	at    int64 // in Unix nanoseconds: when it is due, or the latest instant that has ended
	next  uint32
	fired uint32
	kind  shelvedAs
	seen  bool
	stood bool
}

type shelvedAs uint8

const (
	notShelved shelvedAs = iota
	waits                // a one-shot without an outcome
	over                 // its last instant has an outcome
	removed
	finished
)

// put puts a book on the shelf if it can be made again from what there is room for.
func (s *shelf) put(b *book) bool {
	page, i, ok := place(b.id)
	if !ok || !b.made || len(b.eras) != 1 || len(b.nums.above) > 0 || len(b.none) > 0 || !b.again.IsZero() || b.stood && b.limit != max(b.nums.next-1, 0) {
		return false
	}
	e := b.eras[0]
	v := shelved{next: uint32(b.nums.next), fired: uint32(b.fired), seen: b.seen, stood: b.stood}
	at := b.high
	switch {
	case e.ban == Removed:
		v.kind = removed
	case e.ban == Finished:
		v.kind = finished
	case e.ban != "" || e.term == nil || e.term.open || len(e.term.above) > 0:
		return false
	case e.term.done:
		v.kind = over
	case e.term.timing == nil && b.nums.next == 0 && e.revision <= 1 && e.term.until.IsZero() && e.term.floor.IsZero():
		v.kind, at = waits, e.term.first
	default:
		return false
	}
	if v.at = at.UnixNano(); at.IsZero() && v.kind != waits {
		v.at = math.MinInt64
	} else if !time.Unix(0, v.at).Equal(at) || uint64(b.nums.next) > math.MaxUint32 || uint64(b.fired) > math.MaxUint32 {
		return false
	}
	if *s == nil {
		*s = shelf{}
	}
	if (*s)[page] == nil {
		(*s)[page] = new([shelfPage]shelved)
	}
	(*s)[page][i] = v
	return true
}

// take takes a book from the shelf; nil when it is not there.
func (s *shelf) take(a *Auditor, id string) *book {
	page, i, ok := place(id)
	if !ok || (*s)[page] == nil || (*s)[page][i].kind == notShelved {
		return nil
	}
	v := (*s)[page][i]
	(*s)[page][i] = shelved{}
	b := newBook(a, id)
	b.made, b.seen, b.fired, b.nums.next = true, v.seen, int(v.fired), int(v.next)
	if b.stood = v.stood; v.stood {
		b.limit = max(b.nums.next-1, 0)
	}
	var at time.Time
	if v.at != math.MinInt64 {
		at = time.Unix(0, v.at).UTC()
	}
	var e era
	switch v.kind {
	case waits:
		e = era{event: state.EventCreated, revision: 1, term: &term{a: a, first: at, cur: at}}
		at = time.Time{}
	case over:
		e.term = &term{a: a, first: at, cur: at, done: true, spent: true, floor: at}
	case removed:
		e.ban, e.event = Removed, state.EventRemoved
	case finished:
		e.ban, e.event = Finished, state.EventFinished
	}
	b.high, b.nums.below = at, at
	b.eras = []era{e}
	return b
}

// place is where a task's book stands.
func place(id string) (page uint64, i int, ok bool) {
	n, ok := state.IDNumber(id)
	return n / shelfPage, int(n % shelfPage), ok
}
