package cmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
)

func doctorCommand() command {
	return command{
		name: "doctor", short: "say what needs doing", always: true,
		long: `
Looks at everything ouro-timer depends on and changes nothing: the state folder and its file system, the locks, every task
file, the ledger, the tasks and whether each could start now, the runner, what waits in the inbox and to be told, the clock
and the zone, config.toml and the channels in it, and the environment. Each check is ok, warn (worth knowing) or bad
(something does not go on until somebody does something), and says what to do. It exits with 1 when something is bad. At
its end stand all settings, and where each came from.

--fix does what is safe: it takes permissions from others that they should not have, moves files aside that cannot be read
and older copies of tasks, cuts a torn line off the ledger, and removes what dead processes left. It ends no process,
starts none, and deletes no task.

In a pipe each check is a line of tab-separated fields: status, check, what was found, what to do (of what was mended:
fixed, check, what was found, what was done); each setting one too: setting, key, value, where it came from.`,
		examples: []string{"ouro-timer doctor", "ouro-timer doctor --fix", "ouro-timer doctor --json"},
		options: option.Rows{
			option.Option{Name: "fix", Kind: option.Flag, Help: "do what is safe, and say what was done and what is left"},
			option.Option{Name: "dry-run", Kind: option.Flag, OfCall: true, Help: "with --fix: do nothing, and say what would be done"},
			quietFlag("leave out what is fine, and the settings"), zoneFlag(), jsonFlag(),
		},
		answers: []answer{{name: "doctor", of: doctorJSON{}, says: "what was looked at, and the settings in force"}},
		run:     runDoctor,
	}
}

// check is what doctor found about one thing.
type check struct {
	state.Finding
	done string // what --fix did
	left string // why it could not
}

// bad reports whether something is still to be done.
func (c check) bad() bool { return c.Level == state.Wrong && c.done == "" }

// doctor is one examination.
type doctor struct {
	*session
	now    time.Time
	zone   *time.Location
	home   string // empty when there is none
	st     state.Examiner
	config settings.Reading
	fix    bool
	would  bool // --fix, but only in words
	checks []check
	tasks  tasks

	leader    state.Leader
	hasLeader bool
	leaderErr error
}

// doctorWait bounds doctor's waiting for the state lock: that it is held for so long is what it has to tell.
const doctorWait = 2 * time.Second

func runDoctor(ctx context.Context, s *session) error {
	if err := s.noArguments(); err != nil {
		return err
	}
	would := s.dry
	if s.dry = false; would && !s.opt.Bool("fix") {
		return usage("--dry-run goes with --fix; without it doctor changes nothing", "ouro-timer doctor, or ouro-timer doctor --fix --dry-run")
	}
	d := &doctor{session: s, fix: s.opt.Bool("fix"), would: would, zone: time.UTC}
	zone, zoneErr := s.zone()
	if zoneErr == nil {
		d.zone = zone
	}
	d.now = s.now(d.zone)
	home, err := s.home()
	if err != nil {
		d.fail("folder", err)
	} else if d.st, err = openToExamine(home, d.reported); err != nil {
		d.fail("folder", err)
	}
	if d.st != nil {
		d.home = home
		for f := range d.st.Examine(ctx) {
			d.add(ctx, f)
		}
		d.lookForLeader(ctx)
		d.lookAtTasks(ctx)
		d.lookAtClaims(ctx)
		d.lookAtRunner(ctx)
		d.lookAtInbox(ctx)
		d.lookAtOutbox(ctx)
	}
	d.lookAtClock(ctx)
	d.lookAtZone(zoneErr)
	d.lookAtConfig(ctx)
	d.lookAtChannels()
	d.lookAtEnvironment()
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.answer()
}

// add takes a finding in and, with --fix, does something about it.
func (d *doctor) add(ctx context.Context, f state.Finding) {
	c := check{Finding: f}
	if d.fix && f.Mend != nil && !d.would {
		done, err := f.Mend(ctx)
		if err != nil {
			c.left = err.Error()
		} else {
			c.done = done
		}
	}
	d.checks = append(d.checks, c)
}

// reported takes in what was found and mended before something else could be.
func (d *doctor) reported(p state.Problem) {
	d.checks = append(d.checks, check{Finding: state.Finding{Name: "ledger", Level: state.Odd, Text: p.Error(), Hint: p.Hint},
		done: "done on the way, before something else was mended"})
}

// say takes in a finding that --fix can do nothing about.
func (d *doctor) say(name string, level state.Level, text, hint string) {
	d.checks = append(d.checks, check{Finding: state.Finding{Name: name, Level: level, Text: text, Hint: hint}})
}

// fail takes an error in as what is wrong.
func (d *doctor) fail(name string, err error) {
	f := explain(err)
	d.say(name, state.Wrong, d.says(f.Message), d.says(f.Hint))
}

// few is the findings of one check, of which only so many are told one by one.
type few struct {
	d     *doctor
	name  string
	n     int
	first []check
	over  state.Level // the worst of those that are not told
}

const fewMost = 20

func (f *few) say(level state.Level, text, hint string) {
	f.n++
	if f.n <= fewMost {
		f.first = append(f.first, check{Finding: state.Finding{Name: f.name, Level: level, Text: text, Hint: hint}})
	} else if f.over != state.Wrong {
		f.over = level
	}
}

// end tells them all, or what is fine when nothing was found.
func (f *few) end(fine string) {
	f.d.checks = append(f.d.checks, f.first...)
	switch {
	case f.n == 0:
		f.d.say(f.name, state.Fine, fine, "")
	case f.n > fewMost:
		f.d.say(f.name, f.over, fmt.Sprintf("%d more like these", f.n-fewMost), "mend those first, and call doctor again")
	}
}

// answer tells it all.
func (d *doctor) answer() error {
	bad, warned, mended := 0, 0, 0
	for _, c := range d.checks {
		switch {
		case c.done != "":
			mended++
		case c.bad():
			bad++
		case c.Level == state.Odd:
			warned++
		}
	}
	if d.json {
		d.emitJSON(bad == 0)
	} else {
		d.print(bad, warned, mended)
	}
	if bad > 0 {
		return exitCode(exitFailed)
	}
	return nil
}

// doctorJSON is the answer of doctor.
type doctorJSON struct {
	Now      time.Time   `json:"now"`
	Healthy  bool        `json:"healthy"`
	Checks   []checkJSON `json:"checks"`
	Settings []setting   `json:"settings"`
	DryRun   bool        `json:"dry_run" jsonschema:"nothing was changed: this is what would have been done"`
}

// checkJSON is one thing that doctor looked at.
type checkJSON struct {
	Name    string  `json:"name"`
	Status  string  `json:"status"`
	Message string  `json:"message"`
	Hint    *string `json:"hint"`
	Fixable bool    `json:"fixable" jsonschema:"--fix can mend it"`
	Fixed   bool    `json:"fixed"`
	Done    *string `json:"done" jsonschema:"what --fix did"`
	Left    *string `json:"left" jsonschema:"why --fix could not mend it"`
}

func (d *doctor) emitJSON(healthy bool) {
	answer := doctorJSON{Now: d.now, Healthy: healthy, Checks: []checkJSON{}, Settings: d.settings(), DryRun: d.would}
	for _, c := range d.checks {
		answer.Checks = append(answer.Checks, checkJSON{c.Name, string(c.Level), c.Text, orNull(c.Hint), c.Mend != nil, c.done != "", orNull(c.done), orNull(c.left)})
	}
	d.emit(answer)
}

// print is the answer for people, or for a pipe.
func (d *doctor) print(bad, warned, mended int) {
	_, terminal := terminalWidth(d.Out, d.Getenv)
	quiet := d.opt.Bool("quiet")
	for _, c := range d.checks {
		if quiet && c.Level == state.Fine {
			continue
		}
		status, then := string(c.Level), c.Hint
		if d.would && c.Mend != nil {
			then = "--fix does something about it; by hand: " + orElse(c.Hint, "nothing")
		}
		if c.done != "" {
			status, then = "fixed", c.done
		}
		if !terminal {
			if c.left != "" {
				then = "not fixed: " + c.left + "; " + then
			}
			d.line("%s\t%s\t%s\t%s", status, c.Name, visible(c.Text), visible(then))
			continue
		}
		d.line("%-5s %-11s %s", status, c.Name, visible(c.Text))
		if c.left != "" {
			d.line("%18s%s", "", "not fixed: "+visible(c.left))
		}
		if then != "" {
			d.line("%18s%s", "", "→ "+visible(then))
		}
	}
	if !quiet {
		if terminal {
			d.line("")
		}
		for _, v := range d.settings() {
			if terminal {
				d.line("%-17s %-28s %s", v.Key, visible(fmt.Sprint(v.Value)), visible(v.from()))
			} else {
				d.line("setting\t%s\t%s\t%s", v.Key, visible(fmt.Sprint(v.Value)), visible(v.from()))
			}
		}
	}
	if !terminal {
		return
	}
	d.line("")
	var parts []string
	if mended > 0 {
		parts = append(parts, plural(mended, "thing")+" mended")
	}
	if bad > 0 {
		parts = append(parts, plural(bad, "thing")+" to do")
	}
	if warned > 0 {
		parts = append(parts, plural(warned, "thing")+" to know")
	}
	if len(parts) == 0 {
		parts = []string{"all is well"}
	}
	d.line("%s", strings.Join(parts, ", "))
}
