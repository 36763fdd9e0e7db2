package files

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// whole is a task with every field set.
func whole() state.Task {
	return state.Task{Format: state.Format, ID: state.ID(7), Revision: 3, Created: day0, Description: "d \" ' \\ \t\n☕", Text: "t",
		When: state.Timing{Text: "every day at 9", Form: "every", Kind: "rrule", Zone: "Europe/Warsaw", Wall: "2026-11-23T09:00:00",
			Start: day0, Given: true, End: day2, Count: 3},
		Run: state.Job{Argv: []string{"a", ""}, Shell: "s", Script: "x\n# end\n", Prog: "/bin/sh", Dir: "/", Umask: 0o77,
			Env: map[string]string{"A": "1", "B.C": "2", "D E": "3"}},
		Terminal: "/dev/pts/1"}
}

// encoded is the file of a task.
func encoded(t testing.TB, task state.Task, unknown map[string]any) []byte {
	t.Helper()
	data, _, err := codec.EncodeTask(task, unknown)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestCutAtEveryLength: a task's file cut short is never a task, however much of it is TOML still. Without the line feed at its end alone
// it is whole.
func TestCutAtEveryLength(t *testing.T) {
	s := open(t, t.TempDir())
	good := must[state.Entry](t)(s.Add(ctx, once("good"), day0))
	bad := must[state.Entry](t)(s.Add(ctx, whole(), day0))
	path := s.path(queueDir + "/" + name{due: day0.Format(stamp), id: bad.Task.ID}.queue())
	data := must[[]byte](t)(os.ReadFile(path))
	for n := range len(data) - 1 {
		if _, _, err := codec.DecodeTask(data[:n]); !errors.Is(err, codec.ErrBroken) {
			t.Fatalf("cut after %d of %d bytes: %v\n%s", n, len(data), err, data[:n])
		}
		if n%37 != 0 && n != len(data)-2 {
			continue
		}
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		l, problems, err := state.All(ctx, s)
		if err != nil || len(l) != 1 || l[0].Task.ID != good.Task.ID || len(problems) != 1 || problems[0].Path != path {
			t.Fatalf("cut after %d: %v %v %v", n, l, problems, err)
		}
		if _, err := s.Claim(ctx, bad.Task.ID, day0, time.Time{}, state.Ident{}, day0); !errors.Is(err, codec.ErrBroken) {
			t.Fatalf("cut after %d and claimed: %v", n, err)
		}
		if _, err := s.Find(ctx, bad.Task.ID); err == nil || !strings.Contains(err.Error(), path) {
			t.Fatalf("cut after %d and found: %v", n, err)
		}
	}
	if _, err := s.Claim(ctx, good.Task.ID, day0, time.Time{}, state.Ident{}, day0); err != nil {
		t.Errorf("another task suffers: %v", err)
	}
}

// TestUnknownKeys: what a later version, or a person, has added is kept and can be named.
func TestUnknownKeys(t *testing.T) {
	task := whole()
	task.ID = state.ID(0)
	text := strings.Replace(string(encoded(t, task, nil)), "[when]",
		"colour = \"red\"\nweights = [1, 2]\n[[later]]\nx = 1\n[[later]]\nx = 2\n[window]\nlength = \"1h\"\n[when]\nmood = 3.5", 1)
	s := open(t, t.TempDir())
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	path := s.path(queueDir + "/" + name{due: day0.Format(stamp), id: state.ID(0)}.queue())
	os.WriteFile(path, []byte(text), 0o600)
	keys := keysFound(t, s)
	want := []string{"colour", "later", "weights", "when.mood", "window.length"}
	if len(keys) != 1 || !slices.Equal(keys[path], want) {
		t.Errorf("%v, want %v", keys, want)
	}
}

// keysFound are the keys in task files that this version does not know, by path, as an examination finds them.
func keysFound(t *testing.T, s *Store) map[string][]string {
	t.Helper()
	look := must[*Store](t)(Open(s.dir, Options{Inspect: true}))
	_, problems, err := state.All(ctx, look)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string][]string{}
	for _, p := range problems {
		var unknown unknownKeys
		if errors.As(p, &unknown) {
			keys[p.Path] = unknown
		}
	}
	return keys
}

// TestNewerFormat: a later version's file is named and left alone, also when this one cannot read it at all.
func TestNewerFormat(t *testing.T) {
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	path := s.path(queueDir + "/" + name{due: day0.Format(stamp), id: e.Task.ID}.queue())
	for _, text := range []string{
		strings.Replace(string(must[[]byte](t)(os.ReadFile(path))), "format = 1", "format = 2", 1),
		"format = 99\nwhen = \"of another type\"\n",
	} {
		os.WriteFile(path, []byte(text), 0o600)
		_, problems, err := state.All(ctx, s)
		if err != nil || len(problems) != 1 || !errors.Is(problems[0], state.ErrNewer) || problems[0].Path != path {
			t.Errorf("list: %v %v", problems, err)
		}
		_, err = s.Find(ctx, e.Task.ID)
		if !errors.Is(err, state.ErrNewer) || !strings.Contains(err.Error(), path) {
			t.Errorf("find: %v", err)
		}
		if _, err := s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{}, day0); !errors.Is(err, state.ErrNewer) {
			t.Errorf("claim: %v", err)
		}
		if _, err := s.Remove(ctx, e.Task.ID, day0); !errors.Is(err, state.ErrNewer) {
			t.Errorf("remove: %v", err)
		}
		if moved, err := s.Quarantine(ctx, 0); err != nil || len(moved) != 0 {
			t.Errorf("set aside: %v %v", moved, err)
		}
		if got := must[[]byte](t)(os.ReadFile(path)); string(got) != text {
			t.Error("it was changed")
		}
	}
}

// TestDamagedRecord: an occurrence whose record cannot be read still ends, once.
func TestDamagedRecord(t *testing.T) {
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
	must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, day1, state.Ident{}, day0))
	path := s.path(openDir + "/" + name{due: day0.Format(stamp), id: e.Task.ID}.record())
	os.WriteFile(path, []byte("junk"), 0o600)
	open, problems, err := s.Open(ctx)
	if err != nil || len(open) != 1 || len(problems) != 1 || problems[0].Path != path || open[0].Task.ID != e.Task.ID || !open[0].Due.Equal(day0) {
		t.Fatalf("%+v %v %v", open, problems, err)
	}
	if _, err := s.Claim(ctx, e.Task.ID, day1, day2, state.Ident{}, day1); err != nil {
		t.Errorf("the next occurrence suffers: %v", err)
	}
	if err := s.End(ctx, open[0], state.Line{At: day1, Outcome: state.Interrupted}); err != nil {
		t.Fatal(err)
	}
	if _, problems, err := s.Open(ctx); err != nil || len(problems) != 0 {
		t.Errorf("%v %v", problems, err)
	}
}

// TestDamagedTally: it is made again from the ledger.
func TestDamagedTally(t *testing.T) {
	for _, spoil := range []func(path string) error{
		func(p string) error { return os.WriteFile(p, []byte("numb"), 0o600) },
		func(p string) error { return os.Truncate(p, 0) },
		func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o700)) },
	} {
		s := open(t, t.TempDir())
		e := must[state.Entry](t)(s.Add(ctx, daily("n"), day0))
		id := e.Task.ID
		r := must[state.Record](t)(s.Claim(ctx, id, day0, day1, state.Ident{}, day0))
		if err := s.End(ctx, r, state.Line{At: day0, Outcome: state.Failed}); err != nil {
			t.Fatal(err)
		}
		if err := s.Skip(ctx, id, day1, day2, state.Line{At: day1, Outcome: state.Missed, Count: 4, DueLast: new(day1.Add(time.Hour))}); err != nil {
			t.Fatal(err)
		}
		want := must[[]state.Entry](t)(s.Find(ctx, id))[0].Tally
		if err := spoil(s.path(tallyPlace(id))); err != nil {
			t.Fatal(err)
		}
		if got := must[[]state.Entry](t)(s.Find(ctx, id))[0].Tally; !reflect.DeepEqual(got, want) || got.Number != 5 || got.Fired != 1 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// TestUnreadClaim: of a task whose claim cannot be read nothing is told that is not so, and nothing is decided.
func TestUnreadClaim(t *testing.T) {
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	r := must[state.Record](t)(s.Claim(ctx, e.Task.ID, day0, time.Time{}, state.Ident{}, day0))
	path := s.path(openDir + "/" + must[name](t)(nameOf(r.Task.ID, r.Due)).record())
	if err := os.WriteFile(path, []byte("format = 99\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find(ctx, e.Task.ID); !errors.Is(err, state.ErrNewer) {
		t.Errorf("find: %v", err)
	}
	list, problems, err := state.All(ctx, s)
	if err != nil || len(list) != 0 || len(problems) != 1 || !errors.Is(problems[0], state.ErrNewer) {
		t.Errorf("list: %v, %v, %v", list, problems, err)
	}
	if err := s.Release(ctx, r); !errors.Is(err, state.ErrNewer) {
		t.Errorf("release: %v", err)
	}
	open, problems, err := s.Open(ctx)
	if err != nil || len(open) != 0 || len(problems) != 1 || problems[0].Path != path {
		t.Errorf("open: %v, %v, %v", open, problems, err)
	}
}
