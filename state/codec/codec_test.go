package codec

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

var (
	day0 = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	day2 = day0.AddDate(0, 0, 2)
)

// once is a task with as little as a task has.
func once(text string) state.Task {
	return state.Task{Created: day0, Description: text, When: state.Timing{Text: "in 1h", Kind: "once", Zone: "UTC", Start: day0},
		Run: state.Job{Argv: []string{"true"}, Dir: "/"}}
}

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
	data, _, err := EncodeTask(task, unknown)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestTaskRoundTrip: what is written is read.
func TestTaskRoundTrip(t *testing.T) {
	want := whole()
	got, unknown, err := DecodeTask(encoded(t, want, nil))
	if err != nil || len(unknown) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %v\n%+v\nwant\n%+v", err, unknown, got, want)
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
		{"start = 2026-11-23T08:00:00Z", "start = 2026-11-23T08:00:00", "start has no offset"},
		{"end = 2026-11-25T08:00:00Z", "end = 2026-11-25 # soon", "end has no offset"},
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
		if _, _, err := DecodeTask([]byte(edited)); !errors.Is(err, ErrBroken) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s → %s: %v, want %q", c.from, c.to, err, c.say)
		}
	}
}

// TestLineEnds: some editors end lines as Windows does, or leave out the last end of a line. The file is whole all the same.
func TestLineEnds(t *testing.T) {
	text := string(encoded(t, whole(), nil))
	want, _, err := DecodeTask([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, edited := range []string{strings.TrimSuffix(text, "\n"), strings.ReplaceAll(text, "\n", "\r\n"), strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\r\n"), "\r\n")} {
		if got, _, err := DecodeTask([]byte(edited)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q…: %v", edited[len(edited)-20:], err)
		}
	}
	if _, _, err := DecodeTask([]byte(strings.TrimSuffix(text, "d\n"))); !errors.Is(err, ErrBroken) {
		t.Errorf("with less of the last line: %v", err)
	}
}

func FuzzDecodeTask(f *testing.F) {
	data, _, err := EncodeTask(whole(), nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add(bytes.Replace(data, []byte("[when]"), []byte("[window]\nx = 1\n[when]"), 1))
	f.Add([]byte("format = 2\n# end\n"))
	f.Add([]byte("[task]\nid = 1979-05-27\n# end\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		task, unknown, err := DecodeTask(data)
		if err != nil {
			if !errors.Is(err, ErrBroken) && !errors.Is(err, state.ErrNewer) {
				t.Fatal(err)
			}
			return
		}
		// What can be read can be written, and is the same then; but for what grows beyond the limit.
		again, _, err := EncodeTask(task, unknown)
		if err != nil {
			if errors.Is(err, state.ErrInvalid) {
				return
			}
			t.Fatal(err)
		}
		task2, unknown2, err := DecodeTask(again)
		if err != nil || len(unknown) != len(unknown2) || task2.Description != task.Description || task2.Revision != task.Revision ||
			!task2.When.Start.Equal(task.When.Start) || !reflect.DeepEqual(task2.Run.Env, task.Run.Env) && len(task.Run.Env) > 0 {
			t.Fatalf("%v\n%+v\n%+v\n%s", err, task, task2, again)
		}
	})
}

// FuzzEncodeTask: what may be kept is kept as it was.
func FuzzEncodeTask(f *testing.F) {
	f.Add("t\x00\x7f\r", "a b", "A.B", "'''\n\"\"\"", int64(-62135596800))
	f.Add("", "", strings.Repeat("\x01", state.NameLimit), "", int64(0))
	f.Add("", "", strings.Repeat("\u2028", state.NameLimit/3), "", int64(0))
	f.Fuzz(func(t *testing.T, text, arg, key, value string, start int64) {
		want := whole()
		want.Text, want.Run.Argv, want.Run.Env = text, []string{arg, value}, map[string]string{key: value}
		want.When.Start = time.Unix(start, 0)
		if state.Check(want, day0) != nil {
			return
		}
		want = want.UTC()
		data, _, err := EncodeTask(want, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, unknown, err := DecodeTask(data); err != nil || len(unknown) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%v %v\n%+v\nwant\n%+v", err, unknown, got, want)
		}
	})
}

// TestEmptyPolicy: a policy that says nothing is not written, neither in a task's file nor in a record's, and a text that looks like one
// stays.
func TestEmptyPolicy(t *testing.T) {
	task := once("n")
	task.ID, task.Format, task.Revision, task.Text = state.ID(0), state.Format, 1, "x\n[policy]\n# end\n\n[task.policy]\n\n["
	for _, policy := range []state.Policy{{}, {Retries: 2}, {Notify: []string{"desktop"}}} {
		task.Policy = policy
		data := encoded(t, task, nil)
		record, err := EncodeRecord(state.Record{Task: task, Due: day0})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(data), string(record)} {
			if written := strings.Contains(text, "\n[policy]\n") || strings.Contains(text, "\n[task.policy]\n"); written == reflect.DeepEqual(policy, state.Policy{}) {
				t.Errorf("%+v is written as\n%s", policy, text)
			}
		}
		if r, err := DecodeRecord(record); err != nil || !reflect.DeepEqual(r.Task, task) {
			t.Errorf("%v\n%+v\nwant\n%+v", err, r.Task, task)
		}
		if got, _, err := DecodeTask(data); err != nil || !reflect.DeepEqual(got, task) {
			t.Errorf("%v\n%+v\nwant\n%+v", err, got, task)
		}
	}
}

// TestUnknownKeys: what a later version, or a person, has added is kept.
func TestUnknownKeys(t *testing.T) {
	text := strings.Replace(string(encoded(t, whole(), nil)), "[when]",
		"colour = \"red\"\nweights = [1, 2]\n[[later]]\nx = 1\n[[later]]\nx = 2\n[window]\nlength = \"1h\"\n[when]\nmood = 3.5", 1)
	task, unknown, err := DecodeTask([]byte(text))
	if err != nil || !reflect.DeepEqual(task, whole()) {
		t.Fatalf("%v\n%+v", err, task)
	}
	task.Revision++
	again, unknown2, err := DecodeTask(encoded(t, task, unknown))
	if err != nil || !reflect.DeepEqual(again, task) || !reflect.DeepEqual(unknown, unknown2) {
		t.Errorf("%v\n%+v\n%v\n%v", err, again, unknown, unknown2)
	}
}
