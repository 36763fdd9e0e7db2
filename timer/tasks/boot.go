package tasks

import (
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// BootText is the time of a task that runs once in each boot of the machine, as the task keeps it.
const BootText = "@reboot"

// bootTexts are the words for it.
var bootTexts = []string{BootText, "at boot", "at reboot", "on boot", "on reboot", "at every boot", "at each boot", "on every boot", "on each boot", "every boot", "every reboot", "each boot", "at startup", "on startup"}

// IsBoot reports whether a text means once in each boot of the machine.
func IsBoot(text string, form when.Form) bool {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	return form == when.CronForm && text == BootText || form == when.Any && slices.Contains(bootTexts, text)
}

// boot makes the task run once in each boot of the machine, from the next one on.
func (c *Change) boot() error {
	if name := c.aboutTimes(); name != "" {
		return problem.Of(problem.T("nobody knows at what time the machine boots, and %s is about times", name), problem.T("leave it out, or give a time such as every day at 9:00"))
	}
	o, err := wording{c}.against()
	if err != nil {
		return err
	}
	boot := c.Boot()
	if boot == "" {
		return problem.Of(problem.T("%s needs a name for each boot of the machine, and this system gives none", plain.Quote(BootText)),
			problem.T("have the system start it: %s in what it runs at a boot", problem.To("at", "now").Running("COMMAND")))
	}
	c.Sched = nil
	if c.was.Task.When.OfBoots() {
		c.Task.When.Zone = o.Zone.String()
		return nil
	}
	c.Task.When = state.Timing{Text: BootText, Kind: state.KindBoot, Zone: o.Zone.String(), Start: o.Now.UTC(), Boot: boot}
	c.Due = state.Unscheduled
	return nil
}
