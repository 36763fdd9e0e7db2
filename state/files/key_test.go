package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/storetest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// hints are the contents that a key's file had since it came to the task that it names.
func hints(steps []step) map[string][][]byte {
	made, found := map[string][]byte{}, map[string][][]byte{}
	owner := func(data []byte) string { id, _, _ := strings.Cut(string(data), " "); return id }
	for _, s := range steps {
		switch {
		case s.kind == "create" && strings.HasPrefix(s.path, "/"+keysDir+"/") && !strings.Contains(s.path, tempPrefix):
			found[s.path] = append(found[s.path], s.data)
		case s.kind == "create":
			made[s.path] = s.data
		case s.kind == "rename" && strings.HasPrefix(s.to, "/"+keysDir+"/"):
			data, before := made[s.path], found[s.to]
			if len(before) > 0 && owner(before[0]) != owner(data) {
				before = nil
			}
			found[s.to] = append(before, data)
		}
	}
	return found
}

// damaged are contents that this program never leaves, but a bad disk or an editor might.
var damaged = [][]byte{nil, []byte("\n"), []byte("zzzz timers/x\n"), bytes.Repeat([]byte{0}, keyMost), bytes.Repeat([]byte("x"), 5000)}

// TestLostHints: where the file of a task with a key is, says the key's file, and that is a hint. Whatever it said before, where it is cut,
// and whatever else is in it, whoever adds with the key is given the task that lives, or makes the only one.
func TestLostHints(t *testing.T) {
	clocktest.Alone(t)
	var tried atomic.Int64
	t.Run("each", func(t *testing.T) {
		for _, c := range scenarios {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				base := scratch(t)
				w := &world{scenario: c, at: filepath.Join(base, "copy")}
				dir := filepath.Join(base, "state")
				d := &recorder{root: dir}
				s := lazy(t, dir, d)
				if err := c.op(s, c.prepare(t, s)); err != nil {
					t.Fatal(err)
				}
				w.folder = pack(t, dir)
				for place, found := range hints(d.steps) {
					variants := append(found[:len(found):len(found)], damaged...)
					last := found[len(found)-1]
					id, _, _ := bytes.Cut(last, []byte(" "))
					for _, n := range []int{1, len(id), len(id) + 1, len(last) / 2, len(last) - 1} { // where it may be cut
						variants = append(variants, last[:n])
					}
					for _, data := range variants {
						tried.Add(1)
						s := w.copy(t, nil)
						if err := os.WriteFile(w.at+place, data, 0o600); err != nil {
							t.Fatal(err)
						}
						keysHold(t, s)
						keysHold(t, s) // also after what was found was noted
						if t.Failed() {
							t.Fatalf("with %q in %s", data, place)
						}
					}
				}
			})
		}
	})
	t.Logf("%d operations, %d contents of keys' files", len(scenarios), tried.Load())
	if tried.Load() < 400 {
		t.Error("that is less than there was")
	}
}

// TestHintsAreKeptUp: through a whole life of a task its key's file says where its file is; so a key costs no look at the queue,
// however long it is. When somebody has renamed the file by hand it is found all the same.
func TestHintsAreKeptUp(t *testing.T) {
	s := lazy(t, filepath.Join(t.TempDir(), "state"), nil)
	id := must[state.Entry](t)(s.Add(ctx, keyed(daily("n"), key), day0)).Task.ID
	find := func() state.Entry { return must[[]state.Entry](t)(s.Find(ctx, id))[0] }
	var r state.Record
	claim := func(due, next time.Time) func() error {
		return func() (err error) { r, err = s.Claim(ctx, id, due, next, state.Ident{}, due); return err }
	}
	day := func(n int) time.Time { return day0.AddDate(0, 0, n) }
	for i, do := range []func() error{
		func() error { return nil },
		claim(day(0), day(1)),
		func() error { return s.Release(ctx, r) },
		claim(day(0), day(1)),
		func() error { return s.End(ctx, r, state.Line{At: day0, Outcome: state.OK}) },
		func() error { return s.Move(ctx, id, day(1), day(2), day0) },
		func() error { _, err := s.Pause(ctx, id, time.Time{}, day0); return err },
		func() error { _, err := s.Pause(ctx, id, day(9), day0); return err },
		func() error { _, err := s.Update(ctx, find().Task, day(3), day0, nil); return err },
		func() error { _, err := s.Resume(ctx, id, day0); return err },
		func() error { _, err := s.Update(ctx, find().Task, day(4), day0, nil); return err },
		func() error {
			g := storetest.ClaimAll(ctx, s, []storetest.Want{{ID: id, Due: day(4), Next: day(5)}}, state.Ident{}, day0)[0]
			r = g.Record
			return g.Err
		},
		func() error { return s.Skip(ctx, id, day(5), day(6), state.Line{At: day0, Outcome: state.Missed}) },
		func() error { _, err := s.Rewind(ctx, find().Task, day(5).Add(time.Hour), day0); return err },
		func() error {
			_, err := s.Pause(ctx, id, day(9), day0)
			return errors.Join(err, resumeAll(ctx, s, []resumption{{ID: id, Next: day(7), Line: &state.Line{At: day0, Due: new(day(5).Add(time.Hour)), Outcome: state.Skipped}}}, day0)[0].Err)
		},
		func() error { _, err := s.Remove(ctx, id, day0); return err },
		func() error { _, err := s.Restore(ctx, id, day(8), day0); return err },
		func() error { return s.Finish(ctx, id, "enough", day0) },
	} {
		if err := do(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		data := must[[]byte](t)(os.ReadFile(s.path(keyPlace(key))))
		hinted, place, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
		if _, err := os.Lstat(s.path(place)); err != nil || hinted != id {
			t.Errorf("step %d: the hint is %q: %v", i, data, err)
		}
	}
	e := must[state.Entry](t)(s.Add(ctx, keyed(daily("n"), "k2"), day0))
	to := queueDir + "/" + must[name](t)(nameOf(e.Task.ID, day1)).queue()
	if err := os.Rename(s.PathOf(e), s.path(to)); err != nil {
		t.Fatal(err)
	}
	if kept, err := s.Add(ctx, keyed(once("n"), "k2"), day0); !errors.Is(err, state.ErrKept) || kept.Task.ID != e.Task.ID || !kept.Due.Equal(day1) {
		t.Errorf("renamed by hand: %+v %v", kept, err)
	}
	if err := s.Move(ctx, e.Task.ID, day1, day2, day0); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("%s %s/%s\n", e.Task.ID, queueDir, must[name](t)(nameOf(e.Task.ID, day2)).queue())
	if data := must[[]byte](t)(os.ReadFile(s.path(keyPlace("k2")))); string(data) != want {
		t.Errorf("the hint is %q, want %q", data, want)
	}
}
