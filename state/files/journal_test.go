package files

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"syscall"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// inJournal are the claims in the journal.
func inJournal(t *testing.T, s *Store) []journaled {
	t.Helper()
	list, bad, err := s.readJournal()
	if err != nil || bad > 0 {
		t.Fatal(bad, err)
	}
	return list
}

// claimedTwo is a store in whose journal the claims of two tasks are, the first of which has ended.
func claimedTwo(t *testing.T, d disk) *Store {
	t.Helper()
	s := lazy(t, scratch(t), d)
	var wants []state.Want
	for range 2 {
		e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
		wants = append(wants, state.Want{ID: e.Task.ID, Due: day0})
	}
	got := s.ClaimAll(ctx, wants, state.Ident{PID: 2}, day0)
	err := errors.Join(got[0].Err, got[1].Err)
	if err == nil {
		err = errors.Join(s.EndAll(ctx, []state.Ending{{Record: got[0].Record, Line: state.Line{At: day0, Outcome: state.OK}}})...)
	}
	if err != nil {
		t.Fatal(err)
	}
	if list := inJournal(t, s); len(list) != 2 {
		t.Fatalf("the journal has %v", list)
	}
	if info := must[os.FileInfo](t)(os.Lstat(s.path(journalFile))); info.Mode() != 0o600 {
		t.Errorf("the journal has the mode %v", info.Mode())
	}
	return s
}

// refusingDisk does not take what it is asked to sync afterwards.
type refusingDisk struct{ *recorder }

func (refusingDisk) syncAll([]string) error { return fmt.Errorf("%w: %w", errSync, syscall.EIO) }

// TestSyncRefused: what the disk has once not taken is written anew before the journal goes, and never synced again.
func TestSyncRefused(t *testing.T) {
	d := &recorder{}
	s := claimedTwo(t, refusingDisk{d})
	want := dump(t, s)
	d.steps = nil
	if err := s.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	var created, renamed int
	gone := slices.IndexFunc(d.steps, func(s step) bool { return s.kind == "remove" })
	for _, s := range d.steps[:max(gone, 0)] {
		switch s.kind {
		case "create":
			created++
		case "rename":
			renamed++
		}
	}
	if created != 2 || renamed != 2 { // a record and a tally
		t.Errorf("%d files were written anew and %d renamed before the journal went: %v", created, renamed, d.steps)
	}
	if got := dump(t, s); got != want {
		t.Errorf("then\n%s\nbefore\n%s", got, want)
	}
}

// TestJournalOfAnother: a runner goes on with the journal of the one before it, a handle that is not a runner's removes it before it adds
// to one, and no handle takes a journal that another has removed for its own.
func TestJournalOfAnother(t *testing.T) {
	s := claimedTwo(t, nil)
	next := lazy(t, s.Dir(), nil)
	l := must[state.Lease](t)(next.Lead(ctx, state.Leader{}))
	defer l.Release()
	add := func(s *Store) {
		t.Helper()
		var wants []state.Want
		for range 2 {
			e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
			wants = append(wants, state.Want{ID: e.Task.ID, Due: day0})
		}
		for _, g := range s.ClaimAll(ctx, wants, state.Ident{PID: 2}, day0) {
			if g.Err != nil {
				t.Fatal(g.Err)
			}
		}
	}
	count := func(want int) {
		t.Helper()
		if list := inJournal(t, s); len(list) != want {
			t.Errorf("the journal has %d claims, not %d", len(list), want)
		}
	}
	add(next)
	count(4)
	add(lazy(t, s.Dir(), nil))
	count(2)
	turn := must[*turn](t)(next.begin(ctx))
	open := must[*names](t)(turn.list(openOnly, ""))
	for _, names := range open.open {
		for _, n := range names {
			if turn.journaled(openDir + "/" + n.record()) {
				t.Errorf("%v is in a journal that is not this handle's", n)
			}
		}
	}
	turn.done()
	add(next)
	count(2)
}

// TestJournalIsBounded: beyond its size each claim waits for the disk itself, and a sync makes room.
func TestJournalIsBounded(t *testing.T) {
	s := claimedTwo(t, nil)
	s.journalMost = s.journal.size
	claim := func() {
		t.Helper()
		e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
		if got := s.ClaimAll(ctx, []state.Want{{ID: e.Task.ID, Due: day0}}, state.Ident{PID: 2}, day0); got[0].Err != nil {
			t.Fatal(got[0].Err)
		}
	}
	claim()
	claim()
	if list := inJournal(t, s); len(list) != 3 {
		t.Errorf("the journal has %d claims", len(list))
	}
	if err := s.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if list := inJournal(t, s); len(list) != 0 {
		t.Errorf("after a sync the journal has %d claims", len(list))
	}
}

// TestHeal: what is made again of a claim may have been started, and junk in the journal is told of and left alone.
func TestHeal(t *testing.T) {
	s := claimedTwo(t, nil)
	open, _, err := s.Open(ctx)
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	want := open[0]
	n := must[name](t)(nameOf(want.Task.ID, want.Due))
	if err := os.Remove(s.path(openDir + "/" + n.record())); err != nil {
		t.Fatal(err)
	}
	data := must[[]byte](t)(os.ReadFile(s.path(journalFile)))
	junk := "\x00\x00\n{}\n{\"record\":\"runs/open/../../x\"}\nnot json\n"
	if err := os.WriteFile(s.path(journalFile), append([]byte(junk), append(data, `{"record":"runs/op`...)...), 0o600); err != nil {
		t.Fatal(err)
	}
	var told []string
	next := must[*Store](t)(Open(s.Dir(), Options{disk: lazyDisk{}, Report: func(p state.Problem) { told = append(told, p.Err.Error()) }}))
	l := must[state.Lease](t)(next.Lead(ctx, state.Leader{}))
	defer l.Release()
	if len(told) != 2 || told[0] != "5 of its lines cannot be read" {
		t.Errorf("told %q", told)
	}
	open, problems, err := next.Open(ctx)
	if err != nil || len(problems) > 0 || len(open) != 1 {
		t.Fatal(open, problems, err)
	}
	got := open[0]
	if got.Starting.IsZero() {
		t.Error("it was not started, says the record, which nobody knows")
	}
	got.Starting = want.Starting
	if !reflect.DeepEqual(got, want) {
		t.Errorf("made again\n%+v\nwas\n%+v", got, want)
	}
	if list := inJournal(t, next); len(list) != 0 {
		t.Errorf("the runner goes on with a journal that has junk: %v", list)
	}
}

// TestHealWithoutTask: a claim whose record and whose task's file are damaged is open all the same, and keeps no runner from starting.
func TestHealWithoutTask(t *testing.T) {
	s := claimedTwo(t, nil)
	open, _, err := s.Open(ctx)
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	n := must[name](t)(nameOf(open[0].Task.ID, open[0].Due))
	for _, place := range []string{openDir + "/" + n.record(), endedDir + "/" + n.queue()} {
		if err := os.WriteFile(s.path(place), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next := lazy(t, s.Dir(), nil)
	l := must[state.Lease](t)(next.Lead(ctx, state.Leader{}))
	defer l.Release()
	again, problems, err := next.Open(ctx)
	if err != nil || len(again) != 1 || len(problems) != 1 || again[0].Task.ID != open[0].Task.ID {
		t.Errorf("open %v, %v, %v", again, problems, err)
	}
}

// TestSyncOfReleased: a journal of nothing but claims that were given back goes, too.
func TestSyncOfReleased(t *testing.T) {
	s := claimedTwo(t, nil)
	open, _, err := s.Open(ctx)
	if err != nil || len(open) != 1 {
		t.Fatal(open, err)
	}
	if err := s.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	var wants []state.Want
	for range 2 {
		e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
		wants = append(wants, state.Want{ID: e.Task.ID, Due: day0})
	}
	for _, g := range s.ClaimAll(ctx, wants, state.Ident{PID: 2}, day0) {
		if err := errors.Join(g.Err, s.Release(ctx, g.Record)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sync(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(s.path(journalFile)); !missing(err) {
		t.Error("the journal is still there")
	}
}
