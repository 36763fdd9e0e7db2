package state

import (
	"testing"
	"time"
)

// TestInBoot: a task of each boot has come in the boot of the runner that takes it, and in no
// other; what does not take it leaves that alone.
func TestInBoot(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	task := Task{ID: "k7m2", Created: now, When: Timing{Text: "@reboot", Kind: KindBoot, Zone: "UTC", Start: now, Boot: "one"}, Text: "x"}
	d, _ := Create(task, Unscheduled)
	apply := func(r Rule) {
		t.Helper()
		var err error
		if d, _, err = InBoot("two", r)(d); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(step string, one, two, three, waits bool) {
		t.Helper()
		e := d.Entry()
		if e.HadBoot("one") != one || e.HadBoot("two") != two || e.HadBoot("three") != three || e.AtBoot() != waits {
			t.Errorf("%s: %v %v %v, waits: %v", step, e.HadBoot("one"), e.HadBoot("two"), e.HadBoot("three"), e.AtBoot())
		}
	}
	expect("made", true, false, false, true)
	apply(Pause(time.Time{}, now))
	apply(Resume(now))
	expect("held meanwhile", true, false, false, true)
	apply(Move(Unscheduled, now, now))
	expect("due", true, false, false, false)
	apply(Claim(now, Unscheduled, Ident{PID: 1}, now))
	expect("claimed", true, true, false, true)
	apply(Release(d.Open[0]))
	expect("given back", true, true, false, false)
	apply(Claim(now, Unscheduled, Ident{PID: 1}, now))
	apply(End(d.Open[0], Line{Outcome: OK, At: now}))
	expect("ended", true, true, false, true)
	edited := d.Task
	edited.Description = "y"
	apply(Update(edited, time.Time{}, now, nil))
	expect("edited", true, true, false, true)

	every := task
	every.When = Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: now}
	d, _ = Create(every, now)
	apply(Claim(now, now.Add(time.Hour), Ident{PID: 1}, now))
	if d.Tally.Boot != "" {
		t.Error("what has instants was noted to have come in a boot")
	}
}
