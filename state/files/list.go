package files

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
)

// List reads the names, and then the tasks on all processors.
func (s *Store) List(ctx context.Context, phases ...state.Phase) (list []state.Entry, problems []state.Problem, err error) {
	problems, err = s.scan(ctx, phases, func(n int) { list = slices.Grow(list, n) }, func(e state.Entry) bool {
		list = append(list, e)
		return true
	})
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(list, state.Compare)
	return list, problems, nil
}

// eachFew is how many tasks Each holds at a time, for each of the processors that read them, of which readersMost do.
const (
	eachFew     = 64
	readersMost = 8
)

// readers is how many read at once where many are to be read.
func readers() int { return min(runtime.GOMAXPROCS(0), readersMost) }

// Each reads the names, and then a few tasks at a time.
func (s *Store) Each(ctx context.Context, yield func(state.Entry) bool, phases ...state.Phase) ([]state.Problem, error) {
	return s.scan(ctx, phases, nil, yield)
}

// scan hands out the tasks of the phases until yield returns false. Those that move before they are read are looked for again. With room,
// which is told how many are to come, they come in the order of their names.
func (s *Store) scan(ctx context.Context, phases []state.Phase, room func(n int), yield func(state.Entry) bool) ([]state.Problem, error) {
	var problems []state.Problem
	var only map[string]bool // those that moved under the last round; nil in the first
	for round := 0; ; round++ {
		all, err := s.snapshot(ctx, covering(phases), "")
		if err != nil {
			return nil, err
		}
		files, losers := s.counting(all, phases, only)
		problems = append(problems, losers...)
		if room != nil { // names are sorted in less time than tasks
			list := slices.SortedFunc(files, all.order)
			room(len(list))
			files = slices.Values(list)
		}
		only = map[string]bool{}
		on, more, err := s.pass(ctx, all, files, func(id string) { only[id] = true }, yield)
		problems = append(problems, more...)
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !on || len(only) == 0 || round == roundsMost {
			return inOrder(problems), nil
		}
	}
}

// pass reads files, a few at a time, and hands out their tasks until yield returns false, which on says. moved is told of those that are not
// there any more.
func (s *Store) pass(ctx context.Context, all *names, files iter.Seq[found], moved func(id string), yield func(state.Entry) bool) (on bool, problems []state.Problem, err error) {
	reader, err := s.reader(len(all.tasks))
	if err != nil {
		return false, nil, err
	}
	for picks := range all.some(files, eachFew*readers()) {
		got, err := reader.read(ctx, picks)
		if err != nil {
			return false, problems, err
		}
		for i := range got {
			problems = append(problems, got[i].bad...)
			switch err := got[i].err; {
			case missing(err):
				moved(picks[i].id)
			case err != nil:
				problems = append(problems, s.problem(picks[i].found, err))
			case !yield(got[i].Entry):
				return false, problems, nil
			}
		}
	}
	return true, problems, nil
}

// some are files as picks, so many at a time. Each lot takes the place of the one before.
func (all *names) some(files iter.Seq[found], n int) iter.Seq[[]pick] {
	return func(yield func([]pick) bool) {
		lot := make([]pick, 0, n)
		for f := range files {
			if lot = append(lot, pick{f, all.open[f.id]}); len(lot) < n {
				continue
			}
			if !yield(lot) {
				return
			}
			lot = lot[:0]
		}
		if len(lot) > 0 {
			yield(lot)
		}
	}
}

// First reads the names, and then the tasks that are asked for.
func (s *Store) First(ctx context.Context, n int, phases ...state.Phase) ([]state.Entry, int, []state.Problem, error) {
	for round := 0; ; round++ {
		all, err := s.snapshot(ctx, covering(phases), "")
		if err != nil {
			return nil, 0, nil, err
		}
		files, problems := s.counting(all, phases, nil)
		list, bad, moved, err := s.readFirst(ctx, all, files, n)
		if err != nil {
			return nil, 0, nil, err
		}
		if moved && round < roundsMost {
			continue
		}
		total := -len(bad)
		for range files {
			total++
		}
		return list, total, inOrder(append(problems, bad...)), nil
	}
}

// readFirst reads the first n of the tasks that can be read; moved says that one was not there any more.
func (s *Store) readFirst(ctx context.Context, all *names, files iter.Seq[found], n int) (list []state.Entry, problems []state.Problem, moved bool, err error) {
	for done := 0; len(list) < n; {
		first := earliest(files, done+n-len(list), all.order)[done:]
		if len(first) == 0 {
			break
		}
		done += len(first)
		picks := make([]pick, len(first))
		for i, f := range first {
			picks[i] = pick{f, all.open[f.id]}
		}
		reader, err := s.reader(len(picks))
		if err != nil {
			return nil, nil, false, err
		}
		got, err := reader.readAll(ctx, picks)
		if err != nil {
			return nil, nil, false, err
		}
		list, problems, moved = append(list, got.entries...), append(problems, got.problems...), moved || len(got.moved) > 0
	}
	slices.SortFunc(list, state.Compare)
	return list, problems, moved, nil
}

// earliest returns the n first of very many, in order, and is quick when n is few.
func earliest[T any](all iter.Seq[T], n int, order func(a, b T) int) []T {
	if n <= 0 {
		return nil
	}
	var first []T
	full := false // first[:n] are the first n of those before
	for v := range all {
		if full && order(v, first[n-1]) >= 0 {
			continue
		}
		if first = append(first, v); len(first) >= 2*n+64 {
			slices.SortFunc(first, order)
			first, full = first[:n], true
		}
	}
	slices.SortFunc(first, order)
	return first[:min(n, len(first))]
}

func inOrder(problems []state.Problem) []state.Problem {
	slices.SortFunc(problems, func(a, b state.Problem) int { return strings.Compare(a.Path, b.Path) })
	return problems
}

// pick is a task to read.
type pick struct {
	found
	open []name
}

// counting are the files of the tasks of the phases, of all when none is given; of those in only, unless it is nil. Of a task
// with several files it is the one that counts.
func (s *Store) counting(all *names, phases []state.Phase, only map[string]bool) (files iter.Seq[found], problems []state.Problem) {
	doubles := all.doubles()
	var winners []found
	for id, files := range doubles {
		if only != nil && !only[id] {
			continue
		}
		win, losers := s.winner(files)
		winners, problems = append(winners, win), append(problems, losers...)
	}
	fits := func(f found) bool {
		return (only == nil || only[f.id]) && (len(phases) == 0 || slices.Contains(phases, all.phase(f)))
	}
	return func(yield func(found) bool) {
		for f := range all.found() {
			if _, more := doubles[f.id]; !more && fits(f) && !yield(f) {
				return
			}
		}
		for _, f := range winners {
			if fits(f) && !yield(f) {
				return
			}
		}
	}, problems
}

// order is the order of lists, as the names have it.
func (all *names) order(a, b found) int {
	return cmp.Or(all.phase(a).Rank()-all.phase(b).Rank(), strings.Compare(a.due, b.due), strings.Compare(a.id, b.id))
}

// phase is where the task of a file stands.
func (all *names) phase(f found) state.Phase { return f.phase(len(all.open[f.id]) > 0) }

// fewTasks is up to how many tasks a tally is asked for each, instead of listing them all first.
const fewTasks = 64

// reader reads tasks, for one goroutine.
type reader struct {
	*Store
	tallied map[string]bool // the tasks that have a tally; nil for not known
	got     []reading
}

// reading is what became of a task to be read.
type reading struct {
	state.Entry
	bad []state.Problem
	err error
}

// reader is for reading n tasks in all.
func (s *Store) reader(n int) (r *reader, err error) {
	r = &reader{Store: s}
	if n > fewTasks {
		r.tallied, err = s.tallied()
	}
	return r, err
}

// readings is what became of tasks to be read.
type readings struct {
	entries  []state.Entry
	problems []state.Problem
	moved    []string // those whose file was not there any more
}

// read reads tasks on all processors. What it returns is good until it is called again.
func (r *reader) read(ctx context.Context, picks []pick) ([]reading, error) {
	r.got = slices.Grow(r.got[:0], len(picks))[:len(picks)]
	clear(r.got)
	workers := min(readers(), len(picks)/eachFew+1)
	work := func(w int) {
		for i := w; i < len(picks) && ctx.Err() == nil; i += workers {
			got := &r.got[i]
			got.Entry, got.bad, got.err = r.one(picks[i])
		}
	}
	var wg sync.WaitGroup
	for w := range workers - 1 {
		wg.Go(func() { work(w + 1) })
	}
	work(0)
	wg.Wait()
	return r.got, ctx.Err()
}

// readAll reads tasks to be kept.
func (r *reader) readAll(ctx context.Context, picks []pick) (all readings, err error) {
	got, err := r.read(ctx, picks)
	if err != nil {
		return readings{}, err
	}
	all.entries = make([]state.Entry, 0, len(picks))
	for i, got := range got {
		all.problems = append(all.problems, got.bad...)
		switch {
		case missing(got.err):
			all.moved = append(all.moved, picks[i].id)
		case got.err != nil:
			all.problems = append(all.problems, r.problem(picks[i].found, got.err))
		default:
			all.entries = append(all.entries, got.Entry)
		}
	}
	return all, nil
}

// one reads one task, its tally and its open claims.
func (r *reader) one(p pick) (e state.Entry, bad []state.Problem, err error) {
	t, err := r.readTask(p.place(), p.id)
	if err != nil {
		return e, nil, err
	}
	e = p.entry(t, len(p.open) > 0)
	if r.tallied == nil || r.tallied[p.id] {
		v, err := r.readTally(p.id)
		if err != nil {
			return e, nil, err
		}
		e.Tally = v
	}
	if len(p.open) > 0 {
		if e.Open, bad, err = r.records(p.open); err != nil {
			return e, nil, err
		}
	}
	r.attend(&e)
	return e, bad, nil
}
