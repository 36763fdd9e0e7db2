package files

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// readTask reads the task's file at a place. The ID in it must be the one in its name.
func (s *Store) readTask(place, id string) (state.Task, error) {
	data, err := readFile(s.path(place), state.TaskLimit)
	if err != nil {
		return state.Task{}, err
	}
	t, _, err := decodeTask(data)
	if err == nil && t.ID != id {
		err = fmt.Errorf("%w: its name says task %s, and it says %q", errDecode, id, t.ID)
	}
	if err != nil {
		return state.Task{}, fmt.Errorf("%s %w", s.path(place), err)
	}
	return t, nil
}

// readRecord reads an open record and what is noted about its process.
func (s *Store) readRecord(n name) (state.Record, error) {
	place := openDir + "/" + n.record()
	data, err := readFile(s.path(place), recordLimit)
	if err != nil {
		return state.Record{}, err
	}
	var r openRecord
	if _, err := decode(data, &r); err != nil {
		return state.Record{}, err
	}
	if err := fitTask(&r.Task); err != nil {
		return state.Record{}, err
	}
	if r.Task.ID != n.id {
		return state.Record{}, fmt.Errorf("%w: its name says task %s, and it says %q", errDecode, n.id, r.Task.ID)
	}
	r.Due, r.Claimed, r.Started = n.time(), state.UTC(r.Claimed), state.UTC(r.Started)
	var p note
	if data, err := readFile(s.path(noteOf(place)), recordLimit); err == nil {
		if _, err := decode(data, &p); err == nil {
			r.Child, r.Started, r.Starting = p.Child, state.UTC(p.Started), state.UTC(p.Starting)
			r.Attempt, r.Retry = p.Attempt, state.UTC(p.Retry)
		}
	}
	if why, err := readFile(s.path(haltOf(place)), haltMost); err == nil {
		r.Halt = string(why)
	}
	return r.Record, nil
}

// records reads open records, oldest first. One that is damaged stands in as its name says, so that its occurrence still
// ends with an outcome, and is reported.
func (s *Store) records(open []name) (list []state.Record, problems []state.Problem) {
	for _, n := range open {
		r, err := s.readRecord(n)
		switch {
		case missing(err): // it has ended
			continue
		case errors.Is(err, errDecode) || errors.Is(err, errOdd):
			r = state.Record{Task: state.Task{ID: n.id}, Due: n.time()}
			fallthrough
		case err != nil:
			problems = append(problems, state.Problem{Path: s.path(openDir + "/" + n.record()), Err: err,
				Hint: "the runner ends its occurrence as interrupted"})
			if r.Task.ID == "" {
				continue
			}
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b state.Record) int { return a.Claimed.Compare(b.Claimed) })
	return list, problems
}

// Open returns the claims that were granted and have not ended.
func (s *Store) Open(ctx context.Context) ([]state.Record, []state.Problem, error) {
	all, err := s.snapshot(ctx, openOnly, "")
	if err != nil {
		return nil, nil, err
	}
	var open []name
	for _, n := range all.open {
		open = append(open, n...)
	}
	slices.SortFunc(open, func(a, b name) int { return strings.Compare(a.due+a.id, b.due+b.id) })
	list, problems := s.records(open)
	return list, problems, nil
}

// entry is what a file's name and content say of the task.
func (f found) entry(t state.Task, open bool) state.Entry {
	e := state.Entry{Task: t, Due: f.time(), Phase: f.phase(open)}
	if f.dir == pausedDir {
		e.Held, e.Resume = true, f.moment()
	}
	return e
}

// entry reads what there is to know about a task.
func (s *Store) entry(f found, open []name) (state.Entry, error) {
	t, err := s.readTask(f.place(), f.id)
	if err != nil {
		return state.Entry{}, err
	}
	tally, err := s.readTally(f.id)
	if err != nil {
		return state.Entry{}, err
	}
	e := f.entry(t, len(open) > 0)
	e.Tally = tally.Tally
	if len(open) > 0 {
		e.Open, _ = s.records(open)
	}
	return e, nil
}

// problem is what a reader says about a file that it could not read.
func (s *Store) problem(f found, err error) state.Problem {
	p := state.Problem{Path: s.path(f.place()), Err: err, Hint: "the other tasks are not affected"}
	switch {
	case errors.Is(err, errDecode), errors.Is(err, errOdd):
		p.Hint = "mend it; the runner moves it to " + s.path(corruptDir) + " otherwise"
	case errors.Is(err, state.ErrNewer):
		p.Hint = "use the newer ouro-timer that wrote it"
	}
	return p
}

// Find reads names, and then only the tasks that match. An id that is whole by its check symbol is never taken for the
// beginning of a longer one: what was typed is another task then, which is no more.
func (s *Store) Find(ctx context.Context, id string) ([]state.Entry, error) {
	if id == "" {
		return nil, state.ErrNotFound
	}
	for range roundsMost {
		all, err := s.snapshot(ctx, everything, id)
		if err != nil {
			return nil, err
		}
		groups := map[string][]found{}
		for _, f := range all.tasks {
			if state.MatchID(f.id, id) {
				groups[f.id] = append(groups[f.id], f)
			}
		}
		if len(groups) == 0 {
			return nil, state.ErrNotFound
		}
		list := make([]state.Entry, 0, len(groups))
		moved := false
		for id, files := range groups {
			win, _ := s.winner(files)
			e, err := s.entry(win, all.open[id])
			if missing(err) {
				moved = true
				break
			}
			if err != nil {
				return nil, fail("reading a task", err)
			}
			list = append(list, e)
		}
		if !moved {
			slices.SortFunc(list, func(a, b state.Entry) int { return strings.Compare(a.Task.ID, b.Task.ID) })
			return list, nil
		}
	}
	return nil, fmt.Errorf("%w: %s changes faster than it can be read", state.ErrBusy, id)
}

// roundsMost bounds how often a reader looks again for files that were renamed between the listing and the reading.
const roundsMost = 50

// List returns the tasks of the given phases, of all when none is given.
func (s *Store) List(ctx context.Context, phases ...state.Phase) ([]state.Entry, []state.Problem, error) {
	var (
		list     []state.Entry
		problems []state.Problem
		only     map[string]bool // those that moved under the last round; nil in the first
	)
	for round := 0; ; round++ {
		all, err := s.snapshot(ctx, everything, "")
		if err != nil {
			return nil, nil, err
		}
		var picks []pick
		for id, files := range all.byTask() {
			if only != nil && !only[id] {
				continue
			}
			win, losers := s.winner(files)
			problems = append(problems, losers...)
			if open := all.open[id]; len(phases) == 0 || slices.Contains(phases, win.phase(len(open) > 0)) {
				picks = append(picks, pick{win, open})
			}
		}
		entries, bad, moved, err := s.readAll(ctx, picks)
		if err != nil {
			return nil, nil, err
		}
		list, problems, only = append(list, entries...), append(problems, bad...), moved
		if len(moved) == 0 || round == roundsMost {
			break
		}
	}
	slices.SortFunc(list, byDue)
	slices.SortFunc(problems, func(a, b state.Problem) int { return strings.Compare(a.Path, b.Path) })
	return list, problems, nil
}

// byDue is the order of lists: the next due first.
func byDue(a, b state.Entry) int {
	if d := a.Due.Compare(b.Due); d != 0 {
		return d
	}
	return strings.Compare(a.Task.ID, b.Task.ID)
}

// fewTasks is up to how many tasks a tally is asked for each, instead of listing them all first.
const fewTasks = 64

// pick is a task to read.
type pick struct {
	found
	open []name
}

// readAll reads tasks on all processors. Those whose file is not there any more are returned by ID.
func (s *Store) readAll(ctx context.Context, picks []pick) (list []state.Entry, problems []state.Problem, moved map[string]bool, err error) {
	var tallied map[string]bool
	if len(picks) > fewTasks {
		if tallied, err = s.tallied(); err != nil {
			return nil, nil, nil, err
		}
	}
	type result struct {
		entry state.Entry
		bad   []state.Problem
		err   error
	}
	results := make([]result, len(picks))
	var wg sync.WaitGroup
	workers := min(runtime.GOMAXPROCS(0), len(picks)/16+1)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(picks) && ctx.Err() == nil; i += workers {
				p, r := picks[i], &results[i]
				var t state.Task
				if t, r.err = s.readTask(p.place(), p.id); r.err != nil {
					continue
				}
				r.entry = p.entry(t, len(p.open) > 0)
				if tallied == nil || tallied[p.id] {
					var v tally
					v, r.err = s.readTally(p.id)
					r.entry.Tally = v.Tally
				}
				if len(p.open) > 0 {
					r.entry.Open, r.bad = s.records(p.open)
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, nil, err
	}
	moved = map[string]bool{}
	for i, r := range results {
		problems = append(problems, r.bad...)
		switch {
		case missing(r.err):
			moved[picks[i].id] = true
		case r.err != nil:
			problems = append(problems, s.problem(picks[i].found, r.err))
		default:
			list = append(list, r.entry)
		}
	}
	return list, problems, moved, nil
}

// wakes is when the runner has to look at the task: when it is due or, paused, to be resumed; empty for never.
func (f found) wakes() string {
	if f.dir == pausedDir {
		return f.extra
	}
	return f.due
}

// Next reads the names in the queue.
func (s *Store) Next(ctx context.Context, after time.Time) (time.Time, bool, error) {
	all, err := s.snapshot(ctx, queueOnly, "")
	if err != nil {
		return time.Time{}, false, err
	}
	least, from := "", stampOf(after)
	for _, f := range all.tasks {
		if at := f.wakes(); at > from && (least == "" || at < least) {
			least = at
		}
	}
	t, ok := parseStamp(least)
	return t, ok, nil
}

// DueBy reads the names in the queue and then, in their order, only the tasks it returns. Tasks that cannot be read do
// not take the places of others.
func (s *Store) DueBy(ctx context.Context, t time.Time, limit int) ([]state.Entry, []state.Problem, error) {
	all, err := s.snapshot(ctx, queueOnly, "")
	if err != nil {
		return nil, nil, err
	}
	var due []found
	until := stampOf(t)
	for _, f := range all.tasks {
		if at := f.wakes(); at != "" && at <= until {
			due = append(due, f)
		}
	}
	var list []state.Entry
	var problems []state.Problem
	seen := map[string]bool{}
	for len(due) > 0 && (limit <= 0 || len(list) < limit) {
		n := len(due)
		if limit > 0 {
			n = min(n, limit-len(list))
		}
		first := earliest(due, n)
		// All files of a task count when there is more than one, also those due later.
		files := make(map[string][]found, n)
		for _, f := range first {
			if !seen[f.id] {
				seen[f.id], files[f.id] = true, nil
			}
		}
		due = slices.DeleteFunc(due, func(f found) bool { return seen[f.id] })
		for _, f := range all.tasks {
			if group, ok := files[f.id]; ok {
				files[f.id] = append(group, f)
			}
		}
		var picks []pick
		for id, group := range files {
			win, losers := s.winner(group)
			problems = append(problems, losers...)
			if at := win.wakes(); at != "" && at <= until {
				picks = append(picks, pick{win, all.open[id]})
			}
		}
		entries, bad, _, err := s.readAll(ctx, picks)
		if err != nil {
			return nil, nil, err
		}
		list, problems = append(list, entries...), append(problems, bad...)
	}
	slices.SortFunc(list, byDue)
	return list, problems, nil
}

// earliest returns the n earliest files, in order: of very many that are due after a long time off, few at a time.
func earliest(due []found, n int) []found {
	order := func(a, b found) int {
		if d := strings.Compare(a.wakes(), b.wakes()); d != 0 {
			return d
		}
		return strings.Compare(a.id, b.id)
	}
	if n > len(due)/16 {
		due = slices.Clone(due)
		slices.SortFunc(due, order)
		return due[:n]
	}
	first := make([]found, 0, n+1)
	for _, f := range due {
		if len(first) == n && order(f, first[n-1]) >= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(first, f, order)
		first = slices.Insert(first, at, f)
		first = first[:min(len(first), n)]
	}
	return first
}

// UnknownKeys names the keys in task files that this version does not know, by path. They are kept.
func (s *Store) UnknownKeys(ctx context.Context) (map[string][]string, error) {
	all, err := s.snapshot(ctx, everything, "")
	if err != nil {
		return nil, err
	}
	keys := map[string][]string{}
	for _, f := range all.tasks {
		data, err := readFile(s.path(f.place()), state.TaskLimit)
		if err != nil {
			continue // List reports it
		}
		if _, unknown, err := decodeTask(data); err == nil && len(unknown) > 0 {
			keys[s.path(f.place())] = slices.Sorted(flatten("", unknown))
		}
	}
	return keys, nil
}

// flatten yields the dotted names of a tree's leaves.
func flatten(prefix string, tree map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key, v := range tree {
			below, ok := v.(map[string]any)
			if !ok {
				if !yield(prefix + key) {
					return
				}
				continue
			}
			for leaf := range flatten(prefix+key+".", below) {
				if !yield(leaf) {
					return
				}
			}
		}
	}
}
