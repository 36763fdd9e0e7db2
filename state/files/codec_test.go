package files

import (
	"bytes"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
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
	data, _, err := encodeTask(task, unknown)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestCutAtEveryLength: a task's file cut short is never a task, however much of it is TOML still.
func TestCutAtEveryLength(t *testing.T) {
	s := open(t, t.TempDir())
	good := must[state.Entry](t)(s.Add(ctx, once("good"), day0))
	bad := must[state.Entry](t)(s.Add(ctx, whole(), day0))
	path := s.path(queueDir + "/" + name{due: day0.Format(stamp), id: bad.Task.ID}.queue())
	data := must[[]byte](t)(os.ReadFile(path))
	for n := range len(data) {
		if _, _, err := decodeTask(data[:n]); !errors.Is(err, errDecode) {
			t.Fatalf("cut after %d of %d bytes: %v\n%s", n, len(data), err, data[:n])
		}
		if n%37 != 0 && n != len(data)-1 {
			continue
		}
		if err := os.WriteFile(path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		l, problems, err := s.List(ctx)
		if err != nil || len(l) != 1 || l[0].Task.ID != good.Task.ID || len(problems) != 1 || problems[0].Path != path {
			t.Fatalf("cut after %d: %v %v %v", n, l, problems, err)
		}
		if _, err := s.Claim(ctx, bad.Task.ID, day0, time.Time{}, state.Ident{}, day0); !errors.Is(err, errDecode) {
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

// TestTaskRoundTrip: what is written is read.
func TestTaskRoundTrip(t *testing.T) {
	want := whole()
	got, unknown, err := decodeTask(encoded(t, want, nil))
	if err != nil || len(unknown) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v\n%+v\nwant\n%+v", err, unknown, got, want)
	}
}

// TestUnknownKeys: what a later version, or a person, has added is kept and can be named.
func TestUnknownKeys(t *testing.T) {
	text := strings.Replace(string(encoded(t, whole(), nil)), "[when]",
		"colour = \"red\"\nweights = [1, 2]\n[[later]]\nx = 1\n[[later]]\nx = 2\n[window]\nlength = \"1h\"\n[when]\nmood = 3.5", 1)
	task, unknown, err := decodeTask([]byte(text))
	if err != nil || !reflect.DeepEqual(task, whole()) {
		t.Fatalf("%v\n%+v", err, task)
	}
	task.Revision++
	again, unknown2, err := decodeTask(encoded(t, task, unknown))
	if err != nil || !reflect.DeepEqual(again, task) || !reflect.DeepEqual(unknown, unknown2) {
		t.Errorf("%v\n%+v\n%v\n%v", err, again, unknown, unknown2)
	}
	s := open(t, t.TempDir())
	must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	path := s.path(queueDir + "/" + name{due: day0.Format(stamp), id: task.ID}.queue())
	os.WriteFile(path, []byte(text), 0o600)
	keys, err := s.UnknownKeys(ctx)
	want := []string{"colour", "later", "weights", "when.mood", "window.length"}
	if err != nil || len(keys) != 1 || !slices.Equal(keys[path], want) {
		t.Errorf("%v %v, want %v", keys, err, want)
	}
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
		_, problems, err := s.List(ctx)
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
		if moved, err := s.SetAside(ctx, 0); err != nil || len(moved) != 0 {
			t.Errorf("set aside: %v %v", moved, err)
		}
		if got := must[[]byte](t)(os.ReadFile(path)); string(got) != text {
			t.Error("it was changed")
		}
	}
}

// TestHandEdits: what a person may get wrong is said.
func TestHandEdits(t *testing.T) {
	text := string(encoded(t, whole(), nil))
	for _, c := range []struct{ from, to, say string }{
		{"revision = 3", "revision = \"3\"", "revision"},
		{"revision = 3\n", "", "revision is missing"},
		{"format = 1\n", "", "format is missing"},
		{"kind = \"rrule\"\n", "", "when.kind"},
		{"start = 2026-11-23T08:00:00Z", "start = 2026-11-23T08:00:00", "start says no offset"},
		{"end = 2026-11-25T08:00:00Z", "end = 2026-11-25 # soon", "end says no offset"},
		{"[when]", "[when", "line"},
		{"# end\n", "", "cut short"},
	} {
		edited := strings.Replace(text, c.from, c.to, 1)
		if c.from == "# end\n" {
			edited = strings.TrimSuffix(text, c.from)
		}
		if edited == text {
			t.Fatalf("%q is not in the file:\n%s", c.from, text)
		}
		if _, _, err := decodeTask([]byte(edited)); !errors.Is(err, errDecode) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s → %s: %v, want %q", c.from, c.to, err, c.say)
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

func FuzzDecodeTask(f *testing.F) {
	data, _, err := encodeTask(whole(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add(bytes.Replace(data, []byte("[when]"), []byte("[window]\nx = 1\n[when]"), 1))
	f.Add([]byte("format = 2\n# end\n"))
	f.Add([]byte("[task]\nid = 1979-05-27\n# end\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		task, unknown, err := decodeTask(data)
		if err != nil {
			if !errors.Is(err, errDecode) && !errors.Is(err, state.ErrNewer) {
				t.Fatal(err)
			}
			return
		}
		// What can be read can be written, and is the same then; but for what grows beyond the limit.
		again, _, err := encodeTask(task, unknown)
		if err != nil {
			if errors.Is(err, state.ErrInvalid) {
				return
			}
			t.Fatal(err)
		}
		task2, unknown2, err := decodeTask(again)
		if err != nil || len(unknown) != len(unknown2) || task2.Description != task.Description || task2.Revision != task.Revision ||
			!task2.When.Start.Equal(task.When.Start) || !reflect.DeepEqual(task2.Run.Env, task.Run.Env) && len(task.Run.Env) > 0 {
			t.Fatalf("%v\n%+v\n%+v\n%s", err, task, task2, again)
		}
	})
}

// FuzzEncodeTask: what may be kept is kept as it was.
func FuzzEncodeTask(f *testing.F) {
	f.Add("t\x00\x7f\r", "a b", "A.B", "'''\n\"\"\"", int64(-62135596800))
	f.Fuzz(func(t *testing.T, text, arg, key, value string, start int64) {
		want := whole()
		want.Text, want.Run.Argv, want.Run.Env = text, []string{arg, value}, map[string]string{key: value}
		want.When.Start = time.Unix(start, 0)
		if state.Check(want, day0) != nil {
			return
		}
		want = want.UTC()
		data, _, err := encodeTask(want, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, unknown, err := decodeTask(data); err != nil || len(unknown) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%v %v\n%+v\nwant\n%+v", err, unknown, got, want)
		}
	})
}

func FuzzParseName(f *testing.F) {
	f.Add("20261123T080000.000000000Z.k7m2.toml")
	f.Add("20261123T080000,000000000Z.cczu.toml")
	f.Add(name{due: day0.Format(stamp), id: state.ID(0)}.queue())
	f.Add(name{due: day0.Format(stamp), id: state.ID(40000)}.record())
	f.Add("00010101T000000.000000000Z." + state.ID(1) + ".toml")
	f.Fuzz(func(t *testing.T, file string) {
		if n, ok := parseName(file); ok {
			if n.queue() != file {
				t.Errorf("%q is read as %q", file, n.queue())
			}
			if again, err := nameOf(n.id, n.time()); err != nil || again != n {
				t.Errorf("%q is written as %v, %v", file, again, err)
			}
		}
		if n, ok := parseRecordName(file); ok && n.record() != file {
			t.Errorf("%q is read as %q", file, n.record())
		}
	})
}

// TestEarliest holds the choice of a few against sorting all.
func TestEarliest(t *testing.T) {
	var due []found
	for i := range 500 {
		due = append(due, found{name{due: day0.Add(time.Duration(i*i%97) * time.Second).Format(stamp), id: state.ID(uint64(i))}, queueDir})
	}
	all := earliest(slices.Values(due), len(due), byWake)
	if !slices.IsSortedFunc(all, func(a, b found) int { return strings.Compare(a.queue(), b.queue()) }) {
		t.Error("not in order")
	}
	for _, n := range []int{0, 1, 2, 7, 31, 32, 130, 499, 900} {
		if got := earliest(slices.Values(due), n, byWake); !slices.Equal(got, all[:min(n, len(all))]) {
			t.Errorf("the first %d differ", n)
		}
	}
}

// TestEmptyPolicy: a policy that says nothing is not written, neither in a task's file nor in a record's, and a text that looks like one
// stays.
func TestEmptyPolicy(t *testing.T) {
	task := once("n")
	task.ID, task.Format, task.Revision, task.Text = state.ID(0), state.Format, 1, "x\n[policy]\n# end\n\n[task.policy]\n\n["
	for _, policy := range []state.Policy{{}, {Retries: 2}, {Notify: []string{"desktop"}}} {
		task.Policy = policy
		data := encoded(t, task, nil)
		record := must[[]byte](t)(recordText(state.Record{Task: task, Due: day0}))
		for _, text := range []string{string(data), string(record)} {
			if written := strings.Contains(text, "\n[policy]\n") || strings.Contains(text, "\n[task.policy]\n"); written == reflect.DeepEqual(policy, state.Policy{}) {
				t.Errorf("%+v is written as\n%s", policy, text)
			}
		}
		var r notedRecord
		if _, err := decode(record, &r); err != nil || !reflect.DeepEqual(r.Task.UTC(), task) {
			t.Errorf("%v\n%+v\nwant\n%+v", err, r.Task, task)
		}
		if got, _, err := decodeTask(data); err != nil || !reflect.DeepEqual(got, task) {
			t.Errorf("%v\n%+v\nwant\n%+v", err, got, task)
		}
	}
}
