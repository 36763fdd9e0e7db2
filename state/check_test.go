package state

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// keepable is a task that every store keeps.
func keepable() Task {
	return Task{When: Timing{Text: "in 1h", Kind: "once", Zone: "UTC"}}
}

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

func TestCheckSaysWhichPart(t *testing.T) {
	for _, c := range []struct {
		part  string
		spoil func(*Task)
	}{
		{"description is not", func(k *Task) { k.Description = "\xff" }},
		{"task is not", func(k *Task) { k.Text = "caf\xe9" }},
		{"run.command[1] is not", func(k *Task) { k.Run.Argv = []string{"a", "\xff"} }},
		{"run.env.A is not", func(k *Task) { k.Run.Env = map[string]string{"A": "\xc3"} }},
		{"run.env is not", func(k *Task) { k.Run.Env = map[string]string{"\xc3": "a"} }},
		{"at most 900 are", func(k *Task) { k.Run.Env = map[string]string{strings.Repeat("N", NameLimit+1): "a"} }},
		{"at most 1048576", func(k *Task) { k.Run.Script = strings.Repeat("x", TaskLimit) }},
		{"when.end: the year 12000", func(k *Task) { k.When.End = noon.AddDate(9974, 0, 0) }},
		{"when.text", func(k *Task) { k.When.Text = "" }},
		{"when.kind", func(k *Task) { k.When.Kind = "" }},
	} {
		task := keepable()
		c.spoil(&task)
		if err := Check(task, noon); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%v, want %q", err, c.part)
		}
	}
}

func TestCheckNext(t *testing.T) {
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name      string
		due, next time.Time
		want      error
	}{
		{"onwards", noon, noon.Add(1), nil},
		{"the end", noon, time.Time{}, nil},
		{"the same", noon, noon.In(time.FixedZone("", 3600)), ErrInvalid},
		{"backwards", noon, noon.Add(-1), ErrInvalid},
		{"after all years", noon, far, ErrInvalid},
		{"from after all years", far, time.Time{}, ErrInvalid},
		{"the last hour of the last year in the west", noon, far.Add(-1).In(time.FixedZone("", -3600)), nil},
		{"an hour later there", noon, far.In(time.FixedZone("", -3600)), ErrInvalid},
	} {
		if err := CheckNext(c.due, c.next); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestCheckFree(t *testing.T) {
	for _, c := range []struct {
		due  time.Time
		want error
	}{{noon.Add(-1), ErrTaken}, {noon, ErrTaken}, {noon.Add(1), nil}} {
		if err := CheckFree(c.due, time.Time{}, noon, noon.Add(-time.Hour)); !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c.due, err, c.want)
		}
	}
}

// FuzzCheck: what is refused is refused for a reason, and nothing else is.
func FuzzCheck(f *testing.F) {
	f.Add("text", "arg", "NAME", "value", int64(0), int64(1_800_000_000))
	f.Add("caf\xe9", "", "", "", int64(-62135596800), int64(253402300799)) // the ends of the years
	f.Add("", "\xff", "\xc3", "", int64(-62135596801), int64(253402300800))
	f.Fuzz(func(t *testing.T, text, arg, name, value string, start, due int64) {
		task := keepable()
		task.Text, task.Run.Argv, task.Run.Env = text, []string{arg}, map[string]string{name: value}
		task.When.Start = time.Unix(start, 0)
		at := time.Unix(due, 0)
		want := len(name) <= NameLimit
		if len(text)+len(arg)+len(value) >= TaskLimit/2 {
			t.Skip("its size decides, which other tests are for")
		}
		for _, s := range []string{text, arg, name, value} {
			want = want && utf8.ValidString(s)
		}
		for _, at := range []time.Time{task.When.Start.UTC(), at.UTC()} {
			want = want && at.Year() >= 1 && at.Year() <= 9999
		}
		err := Check(task, at)
		if (err == nil) != want || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%v, want it kept: %v", err, want)
		}
	})
}
