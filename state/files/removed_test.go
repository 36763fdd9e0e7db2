package files

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestRemovedUnderItsRunner: after the state of a runner was removed, or is being removed, or was moved away and another begun in its place, nothing that
// the runner does makes or changes anything there.
func TestRemovedUnderItsRunner(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("what is open cannot be removed here")
	}
	for name, remove := range map[string]func(t *testing.T, s *Store) error{
		"all of it": func(_ *testing.T, s *Store) error { return os.RemoveAll(s.dir) },
		"all in it": func(_ *testing.T, s *Store) error {
			return errors.Join(os.RemoveAll(s.path(queueDir)), os.RemoveAll(s.path(runsDir)))
		},
		"the runs": func(_ *testing.T, s *Store) error { return os.RemoveAll(s.path(runsDir)) },
		"the first files": func(_ *testing.T, s *Store) error {
			return errors.Join(os.Remove(s.path(leadFile)), os.Remove(s.path(lockFile)), os.RemoveAll(s.path(pausedDir)), os.RemoveAll(s.path(tallyDir)),
				os.RemoveAll(s.path(removedDir)), os.RemoveAll(s.path(outputDir)))
		},
		"all but the lock of the runner's successor": func(t *testing.T, s *Store) error {
			if err := os.Rename(s.dir, s.dir+".away"); err != nil {
				return err
			}
			other := open(t, s.dir)
			must[state.Entry](t)(other.Add(ctx, once("another"), day0))
			l := must[state.Lease](t)(other.Lead(ctx, state.Leader{Ident: state.Ident{PID: 2}}))
			t.Cleanup(func() { l.Release() })
			return os.RemoveAll(s.path(outboxDir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, filepath.Join(t.TempDir(), "ouro"))
			task := must[state.Entry](t)(s.Add(ctx, daily("n"), day0)).Task
			gone := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
			must[state.Entry](t)(s.Remove(ctx, gone.Task.ID, day0))
			l := must[state.Lease](t)(s.Lead(ctx, state.Leader{Ident: state.Ident{PID: 1}}))
			must[state.Queue](t)(s.Follow(t.Context()))
			r := must[state.Record](t)(s.Claim(ctx, task.ID, day0, day1, state.Ident{PID: 1}, day0))
			out, _ := s.Output(task.ID, 1)
			if err := remove(t, s); err != nil {
				t.Fatal(err)
			}
			left := func() []string {
				if _, err := os.Stat(s.dir); missing(err) {
					return nil
				}
				return tree(t, s.dir)
			}
			before := left()
			for what, err := range map[string]error{
				"an end":     s.End(ctx, r, state.Line{At: day0, Outcome: state.Failed, Inbox: state.ItemFailure, Tell: []string{"desktop"}}),
				"a claim":    second(s.Claim(ctx, task.ID, day1, day2, state.Ident{PID: 1}, day1)),
				"an answer":  second(s.Add(ctx, once("from a run"), day1)),
				"trouble":    s.SetTrouble(state.Trouble{At: day0, Text: "lost"}),
				"agents":     s.NoteAgents(ctx, state.Agents{Runner: state.Ident{PID: 1}, Processes: []state.AgentProcess{{}}}),
				"a script":   second(s.Scratch("true")),
				"its delays": l.Delay([]state.Delay{{TaskID: task.ID}}),
				"its output": second(out.Create(ctx)),
				"a text":     s.Spool(ctx, "n", "text"),
				"leading":    second(s.Lead(ctx, state.Leader{Ident: state.Ident{PID: 1}})),
			} {
				if !errors.Is(err, state.ErrUnusable) {
					t.Errorf("%s: %v, want ErrUnusable", what, err)
				}
			}
			s.Sync(ctx)
			s.Prune(ctx, state.Keep{}, day2)
			s.remake()
			if after := left(); !slices.Equal(after, before) {
				t.Errorf("there is\n%q, want\n%q", after, before)
			}
			if err := l.Release(); err != nil {
				t.Error(err)
			}
			if after := left(); !slices.Equal(after, before) {
				t.Errorf("once it has ended there is\n%q, want\n%q", after, before)
			}
		})
	}
}

// second is the error of a call.
func second[T any](_ T, err error) error { return err }

// TestRemakeMakesNoState: who watches makes a folder again that somebody has removed, and not the state.
func TestRemakeMakesNoState(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "ouro"))
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	if err := os.RemoveAll(s.path(inboxDir)); err != nil {
		t.Fatal(err)
	}
	s.remake()
	if _, err := os.Stat(s.path(inboxDir)); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(s.dir); err != nil {
		t.Fatal(err)
	}
	s.remake()
	if _, err := os.Stat(s.dir); !missing(err) {
		t.Errorf("it was made: %v", err)
	}
	must[state.Entry](t)(s.Add(ctx, once("n"), time.Now())) // who writes begins another one
}
