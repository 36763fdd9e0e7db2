package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// pauseAll pauses many tasks in one call.
func pauseAll(ctx context.Context, s *Store, ids []string, resume, now time.Time) []state.Applied {
	changes := make([]state.Change, len(ids))
	for i, id := range ids {
		changes[i] = state.Change{ID: id, Now: now, Rule: state.Pause(resume, now)}
	}
	return s.Apply(ctx, changes...)
}

// resumption is a task to resume, and what has passed of it.
type resumption struct {
	ID   string
	Line *state.Line
	Next time.Time
}

// resumeAll resumes many tasks in one call.
func resumeAll(ctx context.Context, s *Store, list []resumption, now time.Time) []state.Applied {
	changes := make([]state.Change, len(list))
	for i, r := range list {
		changes[i] = state.Change{ID: r.ID, Now: now, Rule: state.Resume(now)}
		if r.Line != nil {
			changes[i].Rule = state.GoOn(*r.Line, r.Next, now)
		}
	}
	return s.Apply(ctx, changes...)
}

// TestPauseMany: of many tasks each is paused, and goes on, as it would alone; what cannot be is answered in its place and stands in
// nobody's way; and the waits for the disk are shared.
func TestPauseMany(t *testing.T) {
	dir := t.TempDir()
	s := lazy(t, dir, nil)
	drafts := make([]state.Draft, 2*batchMost+10)
	for i := range drafts {
		drafts[i] = state.Draft{Task: daily(fmt.Sprint(i)), Due: day0}
	}
	var ids []string
	for _, a := range s.AddAll(ctx, drafts) {
		if a.Err != nil {
			t.Fatal(a.Err)
		}
		ids = append(ids, a.Entry.Task.ID)
	}
	gone, ran := ids[3], ids[batchMost+3]
	must[state.Entry](t)(s.Remove(ctx, gone, day0))
	must[state.Record](t)(s.Claim(ctx, ran, day0, day1, state.Ident{PID: 1}, day0))
	ids = append(ids, "nope", ids[0])

	d := &recorder{root: dir}
	s = lazy(t, dir, d)
	for i, c := range pauseAll(ctx, s, ids, day2, day0) {
		switch {
		case ids[i] == gone:
			if !errors.Is(c.Err, state.ErrEnded) {
				t.Errorf("what was removed: %+v", c)
			}
		case ids[i] == "nope":
			if !errors.Is(c.Err, state.ErrNotFound) {
				t.Errorf("what never was: %+v", c)
			}
		case c.Err != nil || !c.Doc.Entry().Held || !c.Doc.Entry().Resume.Equal(day2) || c.Doc.Entry().Task.ID != ids[i] || (len(c.Doc.Entry().Open) == 1) != (ids[i] == ran):
			t.Fatalf("%s: %+v", ids[i], c)
		}
	}
	waits := 0
	for _, step := range d.steps {
		if step.waits() {
			waits++
		}
	}
	if want := (len(ids) + batchMost - 1) / batchMost; waits != want {
		t.Errorf("%d waits for the disk, not %d", waits, want)
	}
	list := must[[]state.Entry](t)(heldOf(s))
	if len(list) != len(drafts)-1 {
		t.Errorf("%d are paused", len(list))
	}

	var goOn []resumption
	for i, id := range ids[:len(drafts)] {
		r := resumption{ID: id}
		switch {
		case id == ran: // due on the second day
		case i%3 == 0:
			last := day1
			r.Line, r.Next = &state.Line{At: day1, Due: &day0, DueLast: &last, Count: 2, Outcome: state.Skipped}, day2
		case i%3 == 1:
			r.Line = &state.Line{At: day1, Due: &day0, Outcome: state.Skipped}
		}
		goOn = append(goOn, r)
	}
	for i, c := range resumeAll(ctx, s, goOn, day1) {
		id, e := goOn[i].ID, c.Doc.Entry()
		switch {
		case id == gone:
			if c.Err == nil {
				t.Errorf("what was removed: %+v", c)
			}
		case c.Err != nil || e.Held:
			t.Fatalf("%s: %+v", id, c)
		case id == ran, goOn[i].Line == nil:
		case goOn[i].Next.IsZero() && (e.Phase != state.Ended || e.Tally.Number != 1),
			!goOn[i].Next.IsZero() && (e.Phase != state.Pending || !e.Due.Equal(day2) || e.Tally.Number != 2 || !e.Tally.LastDue.Equal(day1)):
			t.Fatalf("%s: %+v", id, c)
		}
		if id == gone {
			continue
		}
		if now := must[[]state.Entry](t)(s.Find(ctx, id))[0]; now.Phase != e.Phase || !now.Due.Equal(e.Due) || !reflect.DeepEqual(now.Tally, e.Tally) {
			t.Fatalf("it is\n%+v\nand was answered\n%+v", now, e)
		}
	}
	if list := must[[]state.Entry](t)(heldOf(s)); len(list) != 0 {
		t.Errorf("%d are paused still", len(list))
	}
	for _, c := range resumeAll(ctx, s, goOn[:2], day1) {
		if !errors.Is(c.Err, state.ErrTaken) && !errors.Is(c.Err, state.ErrEnded) {
			t.Errorf("again: %+v", c)
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range pauseAll(ended, s, ids[:2], day2, day0) {
		if !errors.Is(c.Err, context.Canceled) {
			t.Errorf("after the end: %+v", c)
		}
	}
	clean(t, s)
}

func heldOf(s *Store) (held []state.Entry, err error) {
	list, _, err := state.All(ctx, s)
	for _, e := range list {
		if e.Held {
			held = append(held, e)
		}
	}
	return held, err
}

// rooted is a disk on which the files whose path contains text cannot be moved.
type rooted struct {
	lazyDisk
	text string
}

func (d rooted) rename(from, to string) error {
	if strings.Contains(from, d.text) && !strings.Contains(from, "/.new-") {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: fs.ErrPermission}
	}
	return d.lazyDisk.rename(from, to)
}

// TestPauseManyUnmovable: a task that cannot be moved keeps no other from it, is answered as what it is, and is left to no later change,
// which would fail for it.
func TestPauseManyUnmovable(t *testing.T) {
	dir := t.TempDir()
	s := lazy(t, dir, nil)
	var ids []string
	for _, n := range []string{"a", "b", "c"} {
		ids = append(ids, must[state.Entry](t)(s.Add(ctx, daily(n), day0)).Task.ID)
	}
	stuck := lazy(t, dir, rooted{text: "." + ids[1] + "."})
	check := func(what string, answers []state.Applied, held func(i int) bool) {
		t.Helper()
		for i, c := range answers {
			if (c.Err != nil) != (i == 1) {
				t.Errorf("%s: task %d: %v", what, i, c.Err)
			}
			if e := must[[]state.Entry](t)(s.Find(ctx, ids[i]))[0]; e.Held != held(i) {
				t.Errorf("%s: task %d is %+v", what, i, e)
			}
		}
		must[state.Entry](t)(stuck.Add(ctx, daily(what), day0))
	}
	check("pause", pauseAll(ctx, stuck, ids, time.Time{}, day0), func(i int) bool { return i != 1 })
	for _, c := range pauseAll(ctx, s, ids, day2, day0) {
		if c.Err != nil {
			t.Fatal(c.Err)
		}
	}
	var goOn []resumption
	for _, id := range ids { // with instants that were skipped, which count, and with none
		r := resumption{ID: id}
		if id != ids[2] {
			r.Line, r.Next = &state.Line{At: day1, Due: &day0, DueLast: &day0, Count: 1, Outcome: state.Skipped}, day1
		}
		goOn = append(goOn, r)
	}
	check("resume", resumeAll(ctx, stuck, goOn, day0), func(i int) bool { return i == 1 })
	for i, id := range ids {
		want := []int{1, 0, 0}[i]
		if e := must[[]state.Entry](t)(s.Find(ctx, id))[0]; e.Tally.Number != want {
			t.Errorf("task %d has the tally %+v", i, e.Tally)
		}
	}
	clean(t, s)
}
