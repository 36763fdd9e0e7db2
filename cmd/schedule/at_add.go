package schedule

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/rhythm"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/await"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// confirmation is what at answers with --json: the task, and what became of the call.
type confirmation struct {
	Now time.Time `json:"now"`
	ID  *string   `json:"id,omitempty" jsonschema:"absent: it would get one, but for --dry-run"`
	view.TaskJSON
	Created bool              `json:"created"`
	Reading string            `json:"reading"`
	Notes   []string          `json:"notes,omitempty"`
	Others  []fault.Candidate `json:"others,omitempty"`
	view.RecurrenceJSON
	Remarks []remark `json:"remarks,omitempty" jsonschema:"what clock changes do to a recurrence, and what is left out"`
	view.PolicyJSON
	Env            []string `json:"env,omitempty" jsonschema:"the variables that it gets because the call names them"`
	Tell           []string `json:"tell,omitempty" jsonschema:"the channels by which it tells; none: it waits in the inbox"`
	TellOn         string   `json:"tell_on,omitempty" jsonschema:"when it does; absent: nobody is told"`
	Runner         string   `json:"runner" enum:"alive started stopped none"`
	SurvivesReboot bool     `json:"survives_reboot,omitempty"`
	Warnings       []string `json:"warnings,omitempty"`
	DryRun         bool     `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`
}

// confirm returns the confirmation of a request that was carried out. Its instants are in zone.
func confirm(s *cli.Call, d *tasks.Done, zone *time.Location, h handover.RunnerState, told handover.Recipients,
	warnings []cli.Warning) confirmation {
	e := d.Entry
	j := confirmation{
		Now: d.Now.In(zone).Truncate(time.Millisecond), ID: cli.OrNull(e.Task.ID),
		TaskJSON: view.AsJSON(e, d.Now), Created: d.Created, Reading: view.Coming(e, d.Now.In(zone)),
		Notes: []string{}, RecurrenceJSON: view.RecurrenceOf(e.Task),
		Tell: cli.ChannelWords(told.All()), TellOn: told.On, Runner: h.Runner,
		Warnings: s.WarningTexts(warnings), DryRun: s.DryRun,
	}
	if s.InJSON { // the text does not say it, and finding out reads files of the system
		j.SurvivesReboot = h.Survives()
	}
	j.PolicyJSON = view.PolicyInForce(e.Task)
	if !e.Task.Recurring() { // the defaults have no meaning for it
		j.Catchup, j.Overlap = cli.OrNull(e.Task.Policy.Catchup), cli.OrNull(e.Task.Policy.Overlap)
	}
	for _, pair := range d.Env {
		name, _, _ := strings.Cut(pair, "=")
		j.Env = append(j.Env, name)
	}
	if d.Sched != nil && d.Sched.Kind != when.Once {
		_, remarks := rhythm.Of(d.Sched, d.Now, 1)
		j.Remarks = asRemarks(remarks, d.Sched.Zone)
	}
	if s.Compact() && slices.Equal(j.Notify, j.Tell) {
		j.Notify = nil // tell says it
	}
	if s.Compact() && j.NotifyOn != nil && *j.NotifyOn == j.TellOn {
		j.NotifyOn = nil
	}
	if len(j.Tell) == 0 && e.Task.Policy.NotifyOn == "" {
		j.TellOn = ""
	}
	return j
}

// atJSON is the answer of at: a confirmation and, for a call with a key, what became of the task
// that had the key.
type atJSON struct {
	confirmation
	Replaced bool     `json:"replaced,omitempty"`
	Differs  []string `json:"differs,omitempty"`

	of     *scheduled
	h      handover.RunnerState
	unread int // items of the inbox
}

// Text writes a sentence, and says who runs the task and who is told. With --quiet it writes the
// ID.
func (a *atJSON) Text(o *cli.Out) {
	if o.Quiet {
		if id := a.of.Entry.Task.ID; id != "" {
			o.Line("%s", id)
		}
		return
	}
	o.Line("%s", a.of.sentence())
	for _, line := range a.of.details(a.h, o.Program()) {
		o.Line("%s", line)
	}
	for _, note := range a.of.notes() {
		o.Note("note: %s", cli.Visible(note))
	}
	for _, r := range a.Remarks {
		o.Note("note: %s", cli.Visible(r.Text))
	}
	view.ShowUnread(o, a.unread)
}

// scheduled is the result of one request of at: a task that was added, kept or replaced.
type scheduled struct {
	tasks.Done
	warnings []cli.Warning
	told     handover.Recipients
	dry      bool // the call was a dry run
}

// runnerStarter returns a function that starts a runner when none lives, and reports whether one
// lives afterwards.
func runnerStarter(s *cli.Call, st state.Leases) func(context.Context) bool {
	return func(ctx context.Context) bool {
		return handover.HandOver(ctx, s, st).Runner != handover.RunnerNone && !s.DryRun
	}
}

// addOne schedules the task of a draft, makes sure that a runner lives, and answers.
func addOne(ctx context.Context, s *cli.Call, draft Draft) error {
	st, err := s.Open()
	if err != nil {
		return err
	}
	done, err := draft.Add(ctx, st, runnerStarter(s, st))
	if err != nil {
		return err
	}
	// From here on the task is kept: whatever goes wrong is a warning.
	h := handover.HandOver(ctx, s, st, done.Entry)
	d := &scheduled{Done: done, warnings: draft.warnings, dry: s.DryRun}
	d.addWarnings(s, h, map[string]bool{})
	if s.Opt.Bool("wait") && !s.DryRun {
		return awaitFirst(ctx, s, st, d)
	}
	answer := asAtJSON(s, d, h)
	if _, terminal := s.Width(); terminal && !s.InJSON && !s.Quiet {
		answer.unread = view.UnreadItems(ctx, s, st)
	}
	s.Answer(answer)
	if err := s.Flush(); err != nil && !s.DryRun {
		p := cli.Explain(err)
		return p.Saying(problem.T("task %s was scheduled, but %s", d.Entry.Task.ID, p.Message))
	}
	s.WarnAll(d.warnings)
	return nil
}

// awaitFirst waits until a run ends: the first run of a task that was added, the next one of a task
// that was kept.
func awaitFirst(ctx context.Context, s *cli.Call, st state.Store, d *scheduled) error {
	longest, err := cli.Bound(s)
	if err != nil {
		return err
	}
	a := await.Run{ID: d.Entry.Task.ID}
	if d.Created {
		a.Number = 1
	}
	// The ID is written before the wait, for whoever ends the call early. Programs name the task
	// with --key, or find it with ls.
	if !s.Quiet && !s.InJSON {
		s.WriteError("scheduled %s; to wait for its end: %s\n", a.ID,
			cli.ShellLine(problem.To("log", a.ID).With("wait", true).Words(cli.OwnName(s))))
	}
	s.WarnAll(d.warnings)
	return view.AwaitEnd(ctx, s, st, a, longest, view.EndedOutputMost, d.warnings)
}

// addWarnings adds the warnings that follow from the state of the task, who runs it and who is
// told. Sets of channels that were checked for another task of the call are not checked again.
func (d *scheduled) addWarnings(s *cli.Call, h handover.RunnerState, checked map[string]bool) {
	e, made := d.Entry, d.Created || d.Replaced
	d.told = handover.RecipientsOf(s, e.Task)
	if !made {
		d.warnings = nil // they are about a task that was not scheduled
	}
	if !view.NeedsRunner(e) && e.Held {
		d.warnings = append(d.warnings, cli.Warning{Kind: cli.WarnPaused,
			Text: problem.T("task %s is paused; %s continues it", e.Task.ID, problem.To("resume", e.Task.ID))})
	} else {
		d.warnings = append(d.warnings, handover.RunWarnings(e, d.Now, h)...)
		if made {
			d.warnings = append(d.warnings, d.told.Warnings(e.Task)...)
		}
	}
	if names := strings.Join(d.told.All(), "\x00"); made && !checked[names] {
		checked[names] = true
		d.warnings = append(d.warnings, handover.Unready(s, d.told, h)...)
	}
	d.warnings = append(d.warnings, s.NetworkWarnings...)
}

// zone returns the zone in which the answer shows instants.
func (d *scheduled) zone() *time.Location {
	if d.Created && !state.IsUnscheduled(d.Due) {
		return d.Due.Location()
	}
	return rules.TaskZone(d.Entry.Task)
}

// forReading returns the words that follow the name of a task in a confirmation, such as "for
// tomorrow". A task without an instant has no "for".
func forReading(e state.Entry, reading string) string {
	switch {
	case state.IsUnscheduled(e.Due):
		return reading
	case e.Task.Recurring():
		return "for " + reading + " (" + cli.Cut(cli.Visible(e.Task.When.Text), 60, "…") + ")"
	}
	return "for " + reading
}

// asAtJSON makes the answer of at.
func asAtJSON(s *cli.Call, d *scheduled, h handover.RunnerState) *atJSON {
	j := &atJSON{Replaced: d.Replaced, Differs: d.Differs, confirmation: confirm(s, &d.Done, d.zone(), h, d.told,
		d.warnings), of: d, h: h}
	if d.Created || d.Replaced {
		j.Notes = cli.OrEmpty(readings(d.Sched, d.Now))
		if d.Sched != nil {
			j.Others = d.Sched.Others
		}
	}
	return j
}

// sentence returns the first line of the answer for people.
func (d *scheduled) sentence() string {
	e := d.Entry
	what, id, reading := cli.Quote(taskWords(e.Task)), e.Task.ID, view.Coming(e, d.Now.In(d.zone()))
	if d.Created {
		if id == "" {
			return fmt.Sprintf("%s %s %s.", cli.VerbOf("Scheduled", d.dry), what, forReading(e, reading))
		}
		return fmt.Sprintf("%s %s %s. (ID: %s)", cli.VerbOf("Scheduled", d.dry), what, forReading(e, reading), id)
	}
	status := "due " + reading
	switch {
	case e.Held:
		status = "paused"
	case !tasks.Live(e):
		status = "running now"
	}
	if d.Replaced {
		return fmt.Sprintf("%s the task with the key %s by %s, %s. (ID: %s)", cli.VerbOf("Replaced", d.dry),
			cli.Quote(e.Task.Key), what, status, id)
	}
	return fmt.Sprintf("%s the task that has the key %s already: %s, %s. (ID: %s)", cli.VerbOf("Kept", d.dry),
		cli.Quote(e.Task.Key), what, status, id)
}

// differences says how the call differs from the task that had the key; empty when it does not.
func (d *scheduled) differences() string {
	names := strings.Join(d.Differs, ", ")
	switch {
	case names == "":
		return ""
	case d.Replaced:
		return "It differed in: " + names + "."
	}
	return "This call differs in: " + names + ". --replace changes the task to what the call says."
}

// details returns the lines that follow the sentence in the answer for people.
func (d *scheduled) details(h handover.RunnerState, program string) []string {
	e := d.Entry
	var lines []string
	if text := d.differences(); text != "" {
		lines = append(lines, text)
	}
	switch {
	case !d.Created && !d.Replaced, e.Held, e.Task.ID == "":
	case e.Task.Type() == state.TypeMessage:
		lines = append(lines, d.told.Sentence(e.Task, program)+" "+whoRuns(e, h))
	case e.Task.Type() == state.TypeAgent:
		lines = append(lines, fmt.Sprintf("%s The agent %s will be told; %s log %s shows what comes of it.",
			whoRuns(e, h), cli.Quote(cli.Visible(state.ShellLine(e.Task.Run.Agent))), program, e.Task.ID),
			d.told.Sentence(e.Task, program))
	default:
		lines = append(lines, fmt.Sprintf("%s Its output is kept: %s log %s", whoRuns(e, h), program, e.Task.ID),
			d.told.Sentence(e.Task, program))
	}
	return append(lines, policyWords(e.Task)...)
}

// whoRuns says who runs a task. A task that waits for the next boot of the machine is run by a
// runner of that boot.
func whoRuns(e state.Entry, h handover.RunnerState) string {
	if e.AtBoot() {
		return "A runner of the next boot runs it."
	}
	return h.Who()
}

// policyWords returns a line with the tags and the parts of the policy that were set; no line when
// all are defaults.
func policyWords(t state.Task) []string {
	var parts []string
	if len(t.Tags) > 0 {
		parts = append(parts, "tags "+cli.Visible(strings.Join(t.Tags, " ")))
	}
	for _, f := range view.PolicyFields(t) {
		parts = append(parts, f.Name+" "+cli.Visible(f.Value))
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"Set: " + strings.Join(parts, ", ") + "."}
}

// notes returns how the time was read, and by how much jitter delays the task.
func (d *scheduled) notes() []string {
	if !d.Created && !d.Replaced {
		return nil
	}
	var notes []string
	if t := d.Entry.Task.When; t.Delay != "" && d.Share == nil {
		notes = append(notes, "delayed by "+view.AsTyped(t.Delay)+", chosen at random from the jitter of "+view.AsTyped(t.Jitter))
	}
	return slices.Concat(notes, readings(d.Sched, d.Now))
}

// taskWords returns the words by which a confirmation names a task: its description or command,
// and also the text that a command gets.
func taskWords(t state.Task) string {
	text := view.Describe(t)
	if t.Type() == state.TypeCommand && t.Description == "" && t.Text != "" && len(t.Run.Argv) > 0 {
		return fmt.Sprintf("%s (%s)", text, cli.Visible(t.Text))
	}
	return text
}
