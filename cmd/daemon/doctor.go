package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/doctor"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// DoctorCommand is the command doctor.
func DoctorCommand() cli.Command {
	return cli.Command{
		Name: "doctor", Short: "say what needs doing", InAnyEnvironment: true,
		Long: `
Looks at everything ouro-timer depends on and changes nothing: the state folder and its file system, the locks, every task
file, the ledger, the tasks and whether each could start now, the runner, what waits in the inbox and to be told, the clock
and the zone, config.toml and the channels in it, and the environment. Each check is ok, warn (worth knowing) or bad
(something does not go on until you do something), and says what to do. It exits with 1 when something is bad. It ends
with all settings, and where each came from.

--fix does what is safe: it takes permissions away that other users should not have, moves files that cannot be read and
older copies of tasks into quarantine, cuts a torn line off the ledger, and removes what dead processes left. It ends no
process, starts none, and deletes no task.

In a pipe each check is a line of tab-separated fields: status, check, what was found, what to do (when it was mended:
fixed, check, what was found, what was done). Each setting is a line, too: setting, key, value, where it came from. With
--json the checks that found nothing are only counted (well), and settings with their default are left out; --json=full
has all.`,
		Examples: []string{"ouro-timer doctor", "ouro-timer doctor --fix", "ouro-timer doctor --json"},
		Options: option.Rows{
			option.Option{Name: "fix", Kind: option.Flag,
				Help: "do what is safe, and say what was done and what is left"},
			cli.DryFlag.WithHelp("with --fix: do nothing, and say what would be done"),
			cli.QuietFlag.WithHelp("leave out what is fine, and the settings"), cli.ZoneFlag, cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{{Name: "doctor", Of: doctorJSON{}, Means: "what was looked at, and the settings in force"}},
		Run:     runDoctor,
	}
}

// Heeded are the environment variables that are settings.
var Heeded = []string{"OURO_HOME", "OURO_STORE", "OURO_TZ", "OURO_AUTOSTART", "OURO_MAX"}

// examination is an examination with its findings.
type examination struct {
	*cli.Call
	doctor *doctor.Doctor
	dryRun bool // --fix --dry-run: say what would be done
	found  []state.Finding
}

func runDoctor(ctx context.Context, s *cli.Call) error {
	if err := cli.NoArguments(s); err != nil {
		return err
	}
	fix, dryRun := s.Opt.Bool("fix"), s.DryRun
	if s.DryRun = false; dryRun && !fix {
		return problem.Of(problem.T("--dry-run goes with --fix; without it doctor changes nothing"),
			problem.T("%s, or %s", problem.To("doctor"), problem.To("doctor").With("fix", true).With("dry-run", true)))
	}
	d := &examination{Call: s, dryRun: dryRun}
	unusable := d.openStore(newDoctor(s))
	local, shared := d.doctor.Inspections(), d.fleet()
	local = slices.DeleteFunc(local, func(i state.Inspection) bool {
		return slices.ContainsFunc(shared, func(of state.Inspection) bool { return of.Name == i.Name })
	})
	state.Examine(ctx, slices.Concat(unusable, local, shared), fix && !dryRun,
		func(f state.Finding) { d.found = append(d.found, f) })
	if err := ctx.Err(); err != nil {
		return err
	}
	return d.answer()
}

// newDoctor makes the doctor of this call.
func newDoctor(s *cli.Call) *doctor.Doctor {
	d := &doctor.Doctor{
		Environ: s.Environ(), Zone: time.UTC, Version: cli.Version, Program: s.Program(),
		Programs: handover.Programs(s), Parallel: parallel,
		Settings: Heeded, Given: s.CheckEnvironment, Survives: func() bool { return cli.Survives(s) },
		ChannelOf: cli.ChannelName,
		Near:      func(name string) string { return problem.Nearest(name, Heeded) },
		Explain: func(err error) (string, string) {
			if refusal, ok := errors.AsType[*rules.Refusal](err); ok {
				err = tasks.NotAllowed(refusal, cli.ConfigPath(s))
			}
			f := cli.Explain(err)
			return s.Render(f.Message), s.Render(f.Hint)
		},
	}
	zone, err := s.Zone()
	if d.ZoneErr = err; err == nil {
		d.Zone = zone
	}
	d.Now = s.Now(d.Zone)
	return d
}

// openStore gives the doctor its store. Without a store it returns an inspection that says why.
func (d *examination) openStore(of *doctor.Doctor) []state.Inspection {
	d.doctor = of
	home, err := d.Call.Home()
	if err == nil {
		d.doctor.Store, err = cli.OpenToExamine(home, d.addMended)
	}
	if err == nil {
		d.doctor.Home = home
		d.doctor.Channels, err = handover.NotifyEnv(d.Call)
	}
	if err == nil {
		return nil
	}
	unusable := d.doctor.Failed(err)
	unusable.Reason = "unusable"
	return []state.Inspection{{Name: "folder", Look: func(_ context.Context, tell func(state.Finding)) string {
		tell(unusable)
		return ""
	}}}
}

// fleet returns the inspections of a fleet, if the tasks are in one. They take the place of those
// of the folder with the same names. The servers are examined by fleet doctor.
func (d *examination) fleet() []state.Inspection {
	if address, err := d.StoreAddress(); err != nil || address == "" {
		return nil
	}
	return []state.Inspection{{Name: "fleet", Look: func(ctx context.Context, tell func(state.Finding)) string {
		st, err := d.Open()
		if err == nil {
			_, err = st.List(ctx, state.Running)
		}
		if err != nil {
			tell(d.doctor.Failed(err))
			return ""
		}
		twins, err := handover.TwinWarnings(ctx, d.Call, st)
		if err != nil {
			tell(d.doctor.Failed(err))
		}
		for _, w := range twins {
			tell(state.Finding{Level: state.Wrong, Reason: doctor.SameName, Text: d.Render(w.Text),
				Hint: d.Program() + " fleet nodes"})
		}
		for _, w := range handover.UnrunnableWarnings(ctx, st) {
			tell(state.Finding{Level: state.Odd, Reason: doctor.NoRunner, Text: d.Render(w.Text),
				Hint: d.Program() + " fleet nodes"})
		}
		return "its servers answer; " + d.Program() + " fleet doctor looks at them"
	}}, {Name: "overdue", Look: d.fleetOverdue}}
}

// fleetOverdue reports tasks that this machine may run and no runner has begun in time.
func (d *examination) fleetOverdue(ctx context.Context, tell func(state.Finding)) string {
	st, err := d.Open()
	if err != nil {
		return "" // the inspection before says so
	}
	l, err := st.List(ctx, state.Pending)
	if err != nil {
		return ""
	}
	late := 0
	for i := range l.Len {
		if at := l.Wake(i); !at.IsZero() && d.doctor.Now.Sub(at) > doctor.MaxOverdue {
			late++
		}
	}
	if late == 0 {
		return "no task that this machine may run is overdue"
	}
	tell(state.Finding{Level: state.Wrong, Reason: doctor.Overdue,
		Text: cli.Plural(late, "task") + " should have started by now, and no runner has begun them",
		Hint: d.Program() + " fleet nodes says whose runners live; one is started by " + d.Program() + " run --background"})
	return ""
}

// addMended adds a problem that had to be mended before the examination could go on.
func (d *examination) addMended(p state.Problem) {
	d.found = append(d.found, state.Finding{Check: "ledger", Level: state.Odd, Reason: "torn", Subject: p.Path,
		Text: p.Error(), Hint: p.Hint,
		Done: "done on the way, before something else was mended"})
}

// answer answers with the findings, and returns the exit code.
func (d *examination) answer() error {
	bad, warned, mended, well := 0, 0, 0, 0
	for _, f := range d.found {
		switch {
		case f.Level == state.Fine:
			well++
		case f.Done != "":
			mended++
		case f.Open():
			bad++
		case f.Level == state.Odd:
			warned++
		}
	}
	answer := doctorJSON{Now: d.doctor.Now, Healthy: bad == 0, Well: well, Checks: []checkJSON{},
		Settings: d.settings(), DryRun: d.dryRun, found: d.found, summary: findingsSummary(bad, warned, mended)}
	if d.Compact() {
		answer.Settings = slices.DeleteFunc(answer.Settings,
			func(v setting) bool { return v.Source == fromDefault || v.Source == fromMachine })
	}
	for _, f := range d.found {
		if d.Compact() && f.Level == state.Fine {
			continue
		}
		answer.Checks = append(answer.Checks, checkJSON{f.Check, string(f.Level), f.Text, cli.OrNull(f.Hint),
			f.Mend != nil, f.Done != "", cli.OrNull(f.Done), cli.OrNull(leftOf(f)),
			cli.OrNull(string(f.Reason)), cli.OrNull(f.Subject)})
	}
	d.Answer(answer)
	if bad > 0 {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// doctorJSON is the answer of doctor.
type doctorJSON struct {
	Now      time.Time   `json:"now"`
	Healthy  bool        `json:"healthy"`
	Well     int         `json:"well" jsonschema:"how many checks have found nothing"`
	Checks   []checkJSON `json:"checks" jsonschema:"what was found; --json=full: also what is well"`
	Settings []setting   `json:"settings" jsonschema:"those that somebody gave; --json=full: all that are in force"`
	DryRun   bool        `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	found   []state.Finding
	summary string // how many findings there are of each kind
}

// checkJSON is one thing that doctor looked at.
type checkJSON struct {
	Name    string  `json:"name"`
	Status  string  `json:"status"`
	Message string  `json:"message"`
	Hint    *string `json:"hint,omitempty"`
	Fixable bool    `json:"fixable,omitempty" jsonschema:"--fix can mend it"`
	Fixed   bool    `json:"fixed,omitempty"`
	Done    *string `json:"done,omitempty" jsonschema:"what --fix did"`
	Left    *string `json:"left,omitempty" jsonschema:"why --fix could not mend it"`
	Reason  *string `json:"reason,omitempty" jsonschema:"what kind of thing is wrong, in one word of its check's own"`
	Subject *string `json:"subject,omitempty" jsonschema:"what it is about: a path, a task, a run, a channel, a setting or a variable"`
}

// leftOf says why a finding could not be mended. It is empty when it was, or nobody tried.
func leftOf(f state.Finding) string {
	if f.Left == nil {
		return ""
	}
	return f.Left.Error()
}

// Text writes the findings and settings for people, or as fields for a pipe.
func (a doctorJSON) Text(o *cli.Out) {
	_, terminal := o.Width()
	for _, f := range a.found {
		if o.Quiet && f.Level == state.Fine {
			continue
		}
		status, then, left := string(f.Level), f.Hint, leftOf(f)
		switch {
		case f.Done != "":
			status, then = "fixed", f.Done
		case a.DryRun && f.Mend != nil:
			then = "--fix does something about it; by hand: " + cmp.Or(f.Hint, "nothing")
		}
		if !terminal {
			if left != "" {
				then = "not fixed: " + left + "; " + then
			}
			o.Line("%s\t%s\t%s\t%s", status, f.Check, cli.Visible(f.Text), cli.Visible(then))
			continue
		}
		o.Line("%-5s %-11s %s", status, f.Check, cli.Visible(f.Text))
		if left != "" {
			o.Line("%18s%s", "", "not fixed: "+cli.Visible(left))
		}
		if then != "" {
			o.Line("%18s%s", "", "→ "+cli.Visible(then))
		}
	}
	if !o.Quiet {
		form := "setting\t%s\t%s\t%s"
		if terminal {
			o.Line("")
			form = settingForm(a.Settings)
		}
		for _, v := range a.Settings {
			o.Line(form, v.Key, cli.Visible(fmt.Sprint(v.Value)), cli.Visible(v.from()))
		}
	}
	if terminal {
		o.Line("\n%s", a.summary)
	}
}

// settingForm is the format of the settings in columns, the first as wide as their longest key.
func settingForm(all []setting) string {
	width := 0
	for _, v := range all {
		width = max(width, len(v.Key))
	}
	return fmt.Sprintf("%%-%ds %%-28s %%s", width)
}

// findingsSummary says how many findings there are of each kind.
func findingsSummary(bad, warned, mended int) string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{mended, "mended"}, {bad, "to do"}, {warned, "to know"}} {
		if part.n > 0 {
			parts = append(parts, cli.Plural(part.n, "thing")+" "+part.what)
		}
	}
	return cmp.Or(strings.Join(parts, ", "), "all is well")
}
