package state

// KindBoot is the kind of a task that comes once in each boot of the machine. Nobody knows that
// instant before, so the task is due at Unscheduled. The runner of a later boot than the one in
// which the task was made, or has last come, moves it.
const KindBoot = "boot"

// OfBoots reports whether the task comes once in each boot of the machine.
func (t Timing) OfBoots() bool { return t.Kind == KindBoot }

// AtBoot reports whether the task waits for the next boot of the machine.
func (e *Entry) AtBoot() bool { return e.Task.When.OfBoots() && IsUnscheduled(e.Due) }

// HadBoot reports whether a task of each boot was made in this boot or has already come in it.
func (e Entry) HadBoot(boot string) bool { return boot == e.Task.When.Boot || boot == e.Tally.Boot }

// InBoot is a rule for the runner of a boot. If the task goes on to wait for the next boot, the
// rule records that it has come in this one.
func InBoot(boot string, rule Rule) Rule {
	return func(d Doc) (Doc, []Line, error) {
		after, lines, err := rule(d)
		if err == nil && d.Task.When.OfBoots() && !IsUnscheduled(d.Due) && IsUnscheduled(after.Due) {
			after.Tally.Boot = boot
		}
		return after, lines, err
	}
}
