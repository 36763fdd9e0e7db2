package audit

import (
	"math"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// shelf keeps the accounts of tasks with little to know in a few bytes each: a ledger of a million
// lines may have hundreds of thousands. IDs are given in a row, so they are indexes of arrays.
type shelf struct {
	simple map[uint64]*[shelfPage]simple
	steady map[uint64]*[shelfPage]steady
}

const shelfPage = 1024

// simple is the account of a one-shot that waits, or of a task that has ended.
type simple struct {
	at    moment // when it is due, or the latest instant that has ended
	next  uint32
	fired uint32
	kind  simpleKind
	shelved
}

// shelved has the fields of both kinds.
type shelved struct{ seen, stood bool }

type simpleKind uint8

const (
	nothing simpleKind = iota
	waits              // a one-shot without an outcome
	over               // its last instant has an outcome
	removed
	finished
)

// steady is the account of a recurring task from which nothing is missing.
type steady struct {
	cur, first, high, floor moment
	rhythm                  // zero for an empty place
	next, fired, revision   uint32
	shelved
}

// moment is an instant in Unix nanoseconds.
type moment int64

const never moment = math.MinInt64 // the zero instant

// momentOf reports false for an instant that a moment cannot hold.
func momentOf(t time.Time) (moment, bool) {
	if t.IsZero() {
		return never, true
	}
	m := moment(t.UnixNano())
	return m, m != never && m.time().Equal(t)
}

func (m moment) time() time.Time {
	if m == never {
		return time.Time{}
	}
	return time.Unix(0, int64(m)).UTC()
}

// put puts an account on the shelf, if it can be restored from what fits there.
func (s *shelf) put(b *account) bool {
	page, i, ok := place(b.id)
	if !ok || !b.made || len(b.eras) != 1 || len(b.nums.above) > 0 || len(b.none) > 0 || !b.again.IsZero() || len(b.unrun) > 0 || b.stood && b.limit != max(b.nums.next-1, 0) {
		return false
	}
	e, t := b.eras[0], b.eras[0].term
	next, fired, revision := uint32(b.nums.next), uint32(b.fired), uint32(max(e.revision, 0))
	if int(next) != b.nums.next || int(fired) != b.fired || int64(revision) != e.revision || !b.complete(e.after) {
		return false
	}
	v := simple{next: next, fired: fired, shelved: shelved{b.seen, b.stood}}
	at := b.high
	switch {
	case e.ban == Removed:
		v.kind = removed
	case e.ban == Finished:
		v.kind = finished
	case e.ban != "" || t == nil || t.open || len(t.above) > 0:
		return false
	case t.done:
		v.kind = over
	case !t.until.IsZero():
		return false
	case t.once():
		if v.kind, at = waits, t.first; b.nums.next > 0 || e.revision > 1 || !t.floor.IsZero() || at.IsZero() {
			return false
		}
	case e.old != nil:
		return false
	default:
		v := steady{rhythm: t.rhythm, next: next, fired: fired, revision: revision, shelved: v.shelved}
		for _, m := range []struct {
			to *moment
			of time.Time
		}{{&v.cur, t.cur}, {&v.first, t.first}, {&v.high, b.high}, {&v.floor, t.floor}} {
			if *m.to, ok = momentOf(m.of); !ok {
				return false
			}
		}
		keep(&s.steady, page)[i] = v
		return true
	}
	if v.at, ok = momentOf(at); ok {
		keep(&s.simple, page)[i] = v
	}
	return ok
}

// keep returns a page and makes it if necessary.
func keep[T any](pages *map[uint64]*[shelfPage]T, page uint64) *[shelfPage]T {
	if *pages == nil {
		*pages = map[uint64]*[shelfPage]T{}
	}
	p := (*pages)[page]
	if p == nil {
		p = new([shelfPage]T)
		(*pages)[page] = p
	}
	return p
}

// take takes an account from the shelf. It is nil when it is not there.
func (s *shelf) take(a *Auditor, id string) *account {
	page, i, ok := place(id)
	if !ok {
		return nil
	}
	if p := s.simple[page]; p != nil && p[i].kind != nothing {
		v := p[i]
		p[i] = simple{}
		return v.account(a, id)
	}
	if p := s.steady[page]; p != nil && p[i].words != 0 {
		v := p[i]
		p[i] = steady{}
		return v.account(a, id)
	}
	return nil
}

// shelvedAccount returns an account as it was put on the shelf, without its era.
func shelvedAccount(a *Auditor, id string, v shelved, next, fired uint32, high time.Time, e era) *account {
	b := newBook(a, id)
	b.made, b.seen, b.stood, b.fired = true, v.seen, v.stood, int(fired)
	b.nums.next, b.nums.below, b.high = int(next), high, high
	b.eras = []era{e}
	if e.term != nil && next > 1 {
		b.first = e.term.first
	}
	if v.stood {
		b.limit = max(b.nums.next-1, 0)
	}
	return b
}

func (v simple) account(a *Auditor, id string) *account {
	at := v.at.time()
	switch v.kind {
	case waits:
		return shelvedAccount(a, id, v.shelved, v.next, v.fired, time.Time{}, era{revision: 1, term: &term{a: a, first: at, cur: at}})
	case over:
		return shelvedAccount(a, id, v.shelved, v.next, v.fired, at, era{term: &term{a: a, first: at, cur: at, done: true, spent: true, floor: at}})
	case removed:
		return shelvedAccount(a, id, v.shelved, v.next, v.fired, at, era{ban: Removed})
	}
	return shelvedAccount(a, id, v.shelved, v.next, v.fired, at, era{ban: Finished})
}

func (v steady) account(a *Auditor, id string) *account {
	t := &term{a: a, rhythm: v.rhythm, cur: v.cur.time(), first: v.first.time(), floor: v.floor.time()}
	return shelvedAccount(a, id, v.shelved, v.next, v.fired, v.high.time(), era{revision: int64(v.revision), term: t})
}

// place returns where the account of a task is on the shelf.
func place(id string) (page uint64, i int, ok bool) {
	n, ok := state.IDNumber(id)
	return n / shelfPage, int(n % shelfPage), ok
}
