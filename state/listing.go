package state

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"time"
)

// Listing says which tasks there are at one moment, by name: in the order of lists (Compare), and none of them is read yet. Its functions may be
// called by many at once.
type Listing struct {
	Len int
	// Wake is when a runner has to look at the i-th task: when it is due or, paused, to be resumed. The zero time is never: it is paused until it
	// is resumed, runs for the last time, or is no more.
	Wake func(i int) time.Time
	// Read reads the i-th task, and returns what of it could not be read. One that has changed meanwhile is as it was or as it is, in its old place. It
	// is ErrNotFound when it is of none of the phases any more, or cannot be read. Any other error ends the listing.
	Read func(i int, into *Entry) ([]Problem, error)
	// Problems are what could not be read before.
	Problems []Problem
}

// lotSize is how many tasks are read in one go, and readersMost how many lots at a time.
const (
	lotSize     = 32
	readersMost = 8
)

// Map reads the tasks of a listing on all processors, has each made into something there, and yields that in order until yield returns false, with
// how many tasks come behind. It returns what could not be read of those up to there. It holds few tasks at a time, and calls yield from the caller's
// goroutine. What of is given is another task when it is called again.
func Map[T any](ctx context.Context, l Listing, of func(*Entry) T, yield func(v T, behind int) bool) (problems []Problem, err error) {
	type made struct {
		v        T
		problems []Problem
		err      error
	}
	type lot struct {
		begin int
		list  chan []made
	}
	reading, stop := context.WithCancel(ctx)
	workers := min(runtime.GOMAXPROCS(0), readersMost, l.Len/lotSize+1)
	todo, lots := make(chan lot), make(chan lot, 2*workers)
	for range workers {
		go func() {
			var e Entry
			for lot := range todo {
				list := make([]made, min(lotSize, l.Len-lot.begin))
				for i := range list {
					if list[i].err = reading.Err(); list[i].err == nil {
						list[i].problems, list[i].err = l.Read(lot.begin+i, &e)
					}
					if list[i].err == nil {
						list[i].v = of(&e)
					}
				}
				lot.list <- list
			}
		}()
	}
	go func() {
		for begin := 0; begin < l.Len && reading.Err() == nil; begin += lotSize {
			lot := lot{begin, make(chan []made, 1)}
			lots <- lot
			todo <- lot
		}
		close(todo)
		close(lots)
	}()
	defer func() {
		stop()
		for lot := range lots {
			<-lot.list
		}
	}()
	problems, behind := slices.Clone(l.Problems), l.Len
	for lot := range lots {
		for _, m := range <-lot.list {
			behind--
			problems = append(problems, m.problems...)
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case errors.Is(m.err, ErrNotFound):
			case m.err != nil:
				return nil, m.err
			case !yield(m.v, behind):
				return inOrder(problems), nil
			}
		}
	}
	return inOrder(problems), ctx.Err()
}

func inOrder(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Path, b.Path) })
	return problems
}

// Each yields the tasks of the phases (of all when none is given), as Tasks.List has them, until yield returns false. It returns what could not be
// read of those up to there. It holds few tasks at a time, and no lock while yield is called.
func Each(ctx context.Context, st Tasks, yield func(Entry) bool, phases ...Phase) ([]Problem, error) {
	l, err := st.List(ctx, phases...)
	if err != nil {
		return nil, err
	}
	return each(ctx, l, yield)
}

func each(ctx context.Context, l Listing, yield func(Entry) bool) ([]Problem, error) {
	return Map(ctx, l, func(e *Entry) Entry { return *e }, func(e Entry, _ int) bool { return yield(e) })
}

// All returns the tasks that Each yields.
func All(ctx context.Context, st Tasks, phases ...Phase) (list []Entry, problems []Problem, err error) {
	problems, err = Each(ctx, st, func(e Entry) bool { list = append(list, e); return true }, phases...)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(list, Compare) // one that has changed meanwhile
	return list, problems, nil
}

// DueBy yields the tasks that a runner has to look at by t, those in the queue that are due and the paused ones that are to be resumed by then,
// earliest first, until yield returns false. It reads no other.
func DueBy(ctx context.Context, st Tasks, t time.Time, yield func(Entry) bool) ([]Problem, error) {
	l, err := st.List(ctx, Pending, Running, Paused)
	if err != nil {
		return nil, err
	}
	type wake struct {
		at time.Time
		i  int
	}
	var due []wake
	for i := range l.Len {
		if at := l.Wake(i); !at.IsZero() && !at.After(t) {
			due = append(due, wake{at, i})
		}
	}
	slices.SortStableFunc(due, func(a, b wake) int { return a.at.Compare(b.at) })
	read := l.Read
	l.Len, l.Read = len(due), func(i int, into *Entry) ([]Problem, error) { return read(due[i].i, into) }
	return each(ctx, l, yield)
}

// Next returns the earliest instant after the given one at which a runner has to look at a task; false when there is none that is known. It
// reads names only.
func Next(ctx context.Context, st Tasks, after time.Time) (next time.Time, ok bool, err error) {
	l, err := st.List(ctx, Pending, Running, Paused)
	for i := range l.Len {
		if at := l.Wake(i); at.After(after) && !IsUnscheduled(at) && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok, err
}
