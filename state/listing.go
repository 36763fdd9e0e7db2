package state

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"time"
)

// Listing names the tasks that there are at one moment, in the order of lists (Compare). It has not
// read them yet. Its functions may be called concurrently.
type Listing struct {
	Len int
	// Wake is when a runner has to look at the i-th task: when it is due or, if it is paused, when
	// it resumes. Zero means never: the task is paused without an end, runs for the last time, or
	// is over.
	Wake func(i int) time.Time
	// Read reads the i-th task, and returns which parts of it could not be read. If the task has
	// changed meanwhile, Read returns either state, in the old place. It returns ErrNotFound if the
	// task has left all of the phases or cannot be read. Any other error ends the listing.
	Read func(i int, into *Entry) ([]Problem, error)
	// Problems are what could not be read so far.
	Problems []Problem
}

// batchSize is how many tasks are read together, and maxReaders is how many batches are read at a
// time.
const (
	batchSize  = 32
	maxReaders = 8
)

// Map reads the tasks of a listing on all processors and calls of with each there. It yields the
// results in order until yield returns false, with the number of tasks that follow. It returns what
// could not be read up to there. It holds few tasks at a time, and calls yield in the caller's
// goroutine. of must not keep its argument, which is used again.
func Map[T any](ctx context.Context, l Listing, of func(*Entry) T, yield func(v T, behind int) bool) (problems []Problem, err error) {
	type made struct {
		v        T
		problems []Problem
		err      error
	}
	type batch struct {
		begin int
		list  chan []made
	}
	reading, stop := context.WithCancel(ctx)
	workers := min(runtime.GOMAXPROCS(0), maxReaders, l.Len/batchSize+1)
	todo, batches := make(chan batch), make(chan batch, 2*workers)
	for range workers {
		go func() {
			var e Entry
			for batch := range todo {
				list := make([]made, min(batchSize, l.Len-batch.begin))
				for i := range list {
					if list[i].err = reading.Err(); list[i].err == nil {
						list[i].problems, list[i].err = l.Read(batch.begin+i, &e)
					}
					if list[i].err == nil {
						list[i].v = of(&e)
					}
				}
				batch.list <- list
			}
		}()
	}
	go func() {
		for begin := 0; begin < l.Len && reading.Err() == nil; begin += batchSize {
			batch := batch{begin, make(chan []made, 1)}
			batches <- batch
			todo <- batch
		}
		close(todo)
		close(batches)
	}()
	defer func() {
		stop()
		for batch := range batches {
			<-batch.list
		}
	}()
	problems, behind := slices.Clone(l.Problems), l.Len
	for batch := range batches {
		for _, m := range <-batch.list {
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

// Each yields the tasks of the phases (all phases if none is given) in the order of Tasks.List,
// until yield returns false. It returns what could not be read up to there. It holds few tasks at a
// time, and no lock while yield is called.
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

// DueBy yields the tasks that a runner has to look at by t: those in the queue that are due, and
// paused ones that resume by then. The earliest come first, until yield returns false. It reads no
// others.
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

// Next returns the earliest instant after the given one at which a runner has to look at a task. It
// is false if none is known. It reads names only.
func Next(ctx context.Context, st Tasks, after time.Time) (next time.Time, ok bool, err error) {
	l, err := st.List(ctx, Pending, Running, Paused)
	for i := range l.Len {
		if at := l.Wake(i); at.After(after) && !IsUnscheduled(at) && (!ok || at.Before(next)) {
			next, ok = at, true
		}
	}
	return next, ok, err
}
