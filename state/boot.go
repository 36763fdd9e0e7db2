package state

// KindBoot is the kind of a task that comes once in each boot of the machine, at an instant that nobody knows before: it is due at
// Unscheduled until a runner of a boot that it was not made in, and has not come in, moves it.
const KindBoot = "boot"

// OfBoots reports whether the task comes once in each boot of the machine.
func (t Timing) OfBoots() bool { return t.Kind == KindBoot }

// AtBoot reports whether the task waits for the next boot of the machine.
func (e *Entry) AtBoot() bool { return e.Task.When.OfBoots() && IsUnscheduled(e.Due) }

// HadBoot reports whether a task of each boot was made in a boot, or has come in it.
func (e Entry) HadBoot(boot string) bool { return boot == e.Task.When.Boot || boot == e.Tally.Boot }

// InBoot is a rule of a runner in a boot: when a task of each boot goes on to wait for the next one, it has come in this one.
func InBoot(boot string, rule Rule) Rule {
	return func(d Doc) (Doc, []Line, error) {
		after, lines, err := rule(d)
		if err == nil && d.Task.When.OfBoots() && !IsUnscheduled(d.Due) && IsUnscheduled(after.Due) {
			after.Tally.Boot = boot
		}
		return after, lines, err
	}
}
