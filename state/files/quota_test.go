package files

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestBooks: what is known of an origin is there only when it is counted, is made again when it is damaged, follows tasks that have moved,
// and goes when nothing is left of the origin.
func TestBooks(t *testing.T) {
	dir := scratch(t)
	s := lazy(t, dir, nil)
	limits := state.Limits{}
	s.limits = func() (state.Limits, error) { return limits, nil }
	path := s.path(quotaPlace(from1))
	there := func(want bool) {
		t.Helper()
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("there is a book: %v, want %v", err == nil, want)
		}
	}
	add := func(at time.Time) error {
		task := from(from1, daily("n"))
		task.Created = at
		_, err := s.Add(ctx, task, day1)
		return err
	}
	uncounted := from(from1, once("uncounted"))
	uncounted.Run, uncounted.Wait = state.Job{}, state.Wait{Text: "1h", Kind: "once"}
	must[state.Entry](t)(s.Add(ctx, uncounted, day0))
	there(false)

	limits = state.Limits{Pending: 3, PerHour: 3}
	must[state.Entry](t)(s.Add(ctx, once("of nobody"), day0))
	there(false)
	for range 2 {
		if err := add(day0); err != nil {
			t.Fatal(err)
		}
	}
	there(true)

	// Made again, it has the one that was not counted before, too: from all tasks and the ledger.
	for _, damage := range []string{"", "junk", "format = 1\norigin = \"" + from2 + "\"\n" + "# end\n"} {
		if err := os.WriteFile(path, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		var limit *state.LimitError
		if err := add(day0); !errors.As(err, &limit) || limit.Setting != state.SettingPending || limit.Have != 3 {
			t.Errorf("damaged by %q: %v", damage, err)
		}
		limits.Pending = 9
		if err := add(day0); !errors.As(err, &limit) || limit.Setting != state.SettingPerHour || limit.Have != 3 {
			t.Errorf("damaged by %q: %v", damage, err)
		}
		limits.Pending = 3
	}

	// A task that has moved is found, and where it is now is noted.
	r := must[state.Record](t)(s.Claim(ctx, state.ID(2), day1, day2, state.Ident{PID: 1}, day1))
	if err := s.End(ctx, r, state.Line{At: day1, Outcome: state.OK}); err != nil {
		t.Fatal(err)
	}
	if err := add(day0); !errors.Is(err, state.ErrLimit) {
		t.Errorf("one has moved: %v", err)
	}
	if text := string(must[[]byte](t)(os.ReadFile(path))); !strings.Contains(text, name{due: day2.Format(stamp), id: state.ID(2)}.queue()) {
		t.Errorf("where it is now is not noted:\n%s", text)
	}

	later := day0.AddDate(0, 0, 30)
	aged := func() {
		t.Helper()
		if err := os.Chtimes(path, day0, day0); err != nil {
			t.Fatal(err)
		}
		must[state.Pruned](t)(s.Prune(ctx, state.Keep{}, later))
	}
	aged()
	there(true)
	list, _, _ := state.All(ctx, s)
	for _, e := range list {
		if e.Task.Origin == from1 {
			must[state.Entry](t)(s.Remove(ctx, e.Task.ID, later))
		}
	}
	must[state.Pruned](t)(s.Prune(ctx, state.Keep{}, time.Now()))
	there(true) // it was written a moment ago
	aged()
	there(false)
	if err := add(later); err != nil {
		t.Errorf("after its book was forgotten: %v", err)
	}
}

// TestOldBooks: the book of a version before 0.2 counts, also when it is damaged, and is replaced by the next change of the origin.
func TestOldBooks(t *testing.T) {
	for what, damage := range map[string]string{"whole": "", "damaged": "junk"} {
		t.Run(what, func(t *testing.T) {
			dir := scratch(t)
			s := lazy(t, dir, nil)
			limits := state.Limits{Pending: 2, PerHour: 9}
			s.limits = func() (state.Limits, error) { return limits, nil }
			add := func() error {
				task := from(from1, daily("n"))
				task.Created = day0
				_, err := s.Add(ctx, task, day1)
				return err
			}
			if err := errors.Join(add(), add()); err != nil {
				t.Fatal(err)
			}
			first, second := queueDir+"/"+name{due: day1.Format(stamp), id: state.ID(0)}.queue(), queueDir+"/"+name{due: day1.Format(stamp), id: state.ID(1)}.queue()
			made := day0.Format(time.RFC3339)
			text := fmt.Appendf(nil, "format = 1\norigin = %q\npending = [%q, %q]\nmade = [%s, %s]\n# end\n", from1, first, second, made, made)
			if damage != "" {
				text = []byte(damage)
			}
			old := s.path(quotaPlace(from1) + suffix)
			if err := errors.Join(os.Remove(s.path(quotaPlace(from1))), os.WriteFile(old, text, 0o600)); err != nil {
				t.Fatal(err)
			}
			var limit *state.LimitError
			if err := add(); !errors.As(err, &limit) || limit.Setting != state.SettingPending || limit.Have != 2 {
				t.Errorf("%v", err)
			}
			limits = state.Limits{Pending: 9, PerHour: 3}
			if err := add(); err != nil {
				t.Error(err)
			}
			if err := add(); !errors.As(err, &limit) || limit.Setting != state.SettingPerHour || limit.Have != 3 {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(old); !missing(err) {
				t.Errorf("the old book is there: %v", err)
			}
		})
	}
}

// TestBookIsNotRead: as long as a limit is far an addition appends a line of one length to the book, which it does not read.
func TestBookIsNotRead(t *testing.T) {
	s := lazy(t, scratch(t), nil)
	s.limits = func() (state.Limits, error) { return state.Limits{Pending: 50, PerHour: 60}, nil }
	path := s.path(quotaPlace(from1))
	for i := range 40 {
		must[state.Entry](t)(s.Add(ctx, from(from1, daily("n")), day1))
		if i == 20 { // of the right size, and none
			if err := os.WriteFile(path, bytes.Repeat([]byte("x"), 21*quotaWidth), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if info := must[os.FileInfo](t)(os.Lstat(path)); info.Size() != int64(i+1)*quotaWidth {
			t.Fatalf("after %d additions it has %d bytes", i+1, info.Size())
		}
	}
	s.limits = func() (state.Limits, error) { return state.Limits{Pending: 40, PerHour: 60}, nil }
	var limit *state.LimitError
	if _, err := s.Add(ctx, from(from1, daily("n")), day1); !errors.As(err, &limit) || limit.Have != 40 {
		t.Errorf("it is read when the limit is near, and made again: %v", err)
	}
}

// TestQuotaThatCannotBeRead: a quota that could not be read is not taken for an empty one later in the transaction.
func TestQuotaThatCannotBeRead(t *testing.T) {
	unreadable := &quota{origin: strings.Repeat("a", 300)} // no name is so long
	err := open(t, t.TempDir()).transact(ctx, func(x *tx) error {
		for range 2 {
			if x.load(unreadable, day0) == nil {
				t.Error("it was read")
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
