package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/needs"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// MaxOverdue is how long a task may be overdue before it is reported.
const MaxOverdue = time.Minute

// survey is the result of one pass over the live tasks, for all checks of tasks.
type survey struct {
	all, recurring, running int
	late                    []state.Entry
	// the channels that tasks name, with one of the tasks each
	channels map[string]string
	found    map[string][]state.Finding
	fine     map[string]string // the texts of the checks that found nothing
}

// taskChecks are the checks of one task. They get the error of file systems that do not answer, or
// nil: a check that reads them would never end.
var taskChecks = []struct {
	name string
	look func(d *Doctor, ctx context.Context, e state.Entry, silent error, tell report)
}{
	{"schedules", (*Doctor).checkSchedule},
	{"commands", (*Doctor).checkCommand},
	{"allow", (*Doctor).checkAllowed},
	{"starts", (*Doctor).checkStart},
}

// findingsOf returns the findings of a check of tasks, which checkTasks has made.
func (d *Doctor) findingsOf(name string) check {
	return func(_ context.Context, tell report) string {
		for _, f := range d.tasks.found[name] {
			tell(f)
		}
		return d.tasks.fine[name]
	}
}

// checkTasks makes the checks of all live tasks, after it has found out about the runner. It
// reports only what prevents it.
func (d *Doctor) checkTasks(ctx context.Context, tell report) string {
	d.leader, d.led, d.leaderErr = d.Store.Led(ctx)
	s := survey{channels: map[string]string{}, found: map[string][]state.Finding{}}
	// another check reports files that cannot be read
	_, err := state.Each(ctx, d.Store, func(e state.Entry) bool {
		s.count(e)
		var silent error
		if starts(e.Task) {
			silent = d.Programs.Answers(ctx, e.Task)
		}
		for _, c := range taskChecks {
			c.look(d, ctx, e, silent, func(f state.Finding) {
				f.Subject = e.Task.ID
				s.found[c.name] = append(s.found[c.name], f)
			})
		}
		if d.late(e) {
			s.late = append(s.late, e)
		}
		return true
	}, state.Pending, state.Running, state.Paused)
	d.tasks = s
	if err != nil {
		tell(wrong(Unreadable, "", "the tasks cannot be read: "+err.Error(), "mend what is said of the folder first"))
		return ""
	}
	d.tasks.fine = map[string]string{"schedules": "the schedule of each of " + plain.Plural(s.all, "task") + " can be read", "commands": "each command could start now"}
	if d.config.Config.Run.Allow != nil {
		d.tasks.fine["allow"] = "[run] allow has the command of each"
	}
	return ""
}

func (s *survey) count(e state.Entry) {
	s.all++
	for _, word := range e.Task.Policy.Notify {
		if s.channels[word] == "" {
			s.channels[word] = named(e.Task)
		}
	}
	if e.Task.Recurring() && !e.Held {
		s.recurring++
	}
	if len(e.Open) > 0 {
		s.running++
	}
}

// named names a task in a sentence.
func named(t state.Task) string { return "task " + t.ID + " (" + summary(t) + ")" }

// summary says what a task does, in a few words.
func summary(t state.Task) string { return plain.Cut(plain.Line(t.Summary()), 40) }

// stamp writes an instant for people, to the second.
func stamp(t time.Time) string { return say.Stamp(t.Truncate(time.Second)) }

// checkSchedule checks whether the words of a task can be read, and agree with the rest of its
// file.
func (d *Doctor) checkSchedule(ctx context.Context, e state.Entry, _ error, tell report) {
	t := e.Task
	mend := func(key string) string { return "mend " + key + " under [when] in " + quoted(d.Store.PathOf(e)) }
	zone, err := civil.LoadZone(t.When.Zone)
	if err != nil {
		text, hint := d.Explain(err)
		tell(wrong(BadZone, "", named(t)+": "+text+"; it does not run", hint+"; "+mend("tz")))
		return
	}
	again := d.Program + " edit " + t.ID + " WHEN"
	words := plain.Quote(t.When.Text)
	if !t.Recurring() {
		// A one-shot is due at the instant in its file. Its words are only for people, but must not
		// say anything else.
		sched, err := when.Parse(t.When.Text, when.Options{Now: t.When.Start, Zone: zone, Form: when.Form(t.When.Form)})
		_, bad := time.Parse(state.WallForm, t.When.Wall)
		here := e.Due.In(zone).Format(state.WallForm)
		switch {
		case err == nil && sched.Kind != when.Once:
			tell(odd(BadKind, "", named(t)+": its words, "+words+", recur, and its kind is once: it runs once", again))
		case t.When.Wall != "" && bad != nil:
			tell(odd(BadWall, "", named(t)+": its wall clock, "+plain.Quote(t.When.Wall)+", cannot be read", mend("wall")))
		case t.When.Wall != "" && here != t.When.Wall:
			tell(odd(BadWall, "", fmt.Sprintf("%s is due at %s, and the wall clock in its file is %s, where the next runner to start puts it", named(t), here, t.When.Wall), again))
		}
		return
	}
	if t.When.OfBoots() {
		return
	}
	_, _, _, unread := rules.Reread(t.When, func(path string) (string, error) { return d.Programs.Text(ctx, path) })
	sched, err := rules.Schedule(t)
	if err == nil && unread != nil {
		tell(odd(BadDays, "", named(t)+": "+unread.Error()+"; it leaves out the days that were last read", "mend the file; the runner reads it again before anything of the task begins; or "+d.Program+" edit "+t.ID+" --except DAYS"))
	}
	if err != nil {
		text, _ := d.Explain(err)
		tell(wrong(BadWords, "", named(t)+": its schedule, "+words+", cannot be read: "+text+"; it does not run", again))
		return
	}
	if string(sched.Kind) != t.When.Kind {
		tell(odd(BadKind, "", fmt.Sprintf("%s: its words, %s, are of kind %s, and its file says %s; the words count", named(t), words, sched.Kind, t.When.Kind), mend("kind")))
		return
	}
	if at, ok := sched.Next(e.Due.Add(-1)); ok && at.Equal(e.Due) {
		return
	}
	text := "it has no instant after that"
	if at, ok := sched.Next(e.Due); ok {
		text = "the next after it is " + stamp(at)
	}
	tell(odd(BadDue, "", fmt.Sprintf("%s is due at %s, which is not an instant of %s; %s", named(t), stamp(e.Due.In(zone)), words, text), again))
}

// starts reports whether something is started for a task.
func starts(t state.Task) bool { return t.Type() == state.TypeCommand || t.Type() == state.TypeAgent }

// checkCommand checks whether the command of a task could start now.
func (d *Doctor) checkCommand(ctx context.Context, e state.Entry, silent error, tell report) {
	const fails = "; it fails when it is due"
	t, job := e.Task, e.Task.Run
	switch {
	case !starts(t), ctx.Err() != nil:
		return
	case silent != nil:
		tell(d.unanswered(t, silent))
		return
	}
	if info, err := os.Stat(job.Dir); job.Dir != "" && (err != nil || !info.IsDir()) {
		why := "is not a folder"
		switch {
		case errors.Is(err, os.ErrNotExist):
			why = "is gone"
		case err != nil:
			why = "cannot be entered"
		}
		tell(wrong(NoDir, "", named(t)+": its folder "+plain.Quote(job.Dir)+" "+why+fails, "mkdir -p "+quoted(job.Dir)+", or "+d.Program+" rm "+t.ID))
		return
	}
	programs, path := needs.Programs(t)
	for _, program := range programs {
		missing := d.Programs.Missing(ctx, program, path, job.Dir)
		switch {
		case missing == nil:
			continue
		case program == needs.Shell:
			tell(wrong(NoProgram, "", named(t)+": there is no "+needs.Shell+" here"+fails,
				"install one; or schedule the command behind --, which needs none: "+d.Program+" show "+t.ID+", "+d.Program+" rm "+t.ID))
		default:
			tell(wrong(NoProgram, "", named(t)+": "+missing.Says("")+" on its PATH"+fails, "install it, or schedule the task anew: "+d.Program+" show "+t.ID+", "+d.Program+" rm "+t.ID))
		}
		return
	}
	// Only the shell knows what it makes of its text, so these are hints.
	if missing := d.Programs.MissingInShell(ctx, job.Shell, job); missing != nil {
		tell(odd(NoProgram, "", named(t)+": "+missing.Says("")+", which its text for the shell begins with; it will fail", "install it, or "+d.Program+" edit "+t.ID+" -c TEXT"))
	}
	if missing := d.Programs.MissingInShell(ctx, t.Policy.If, job); missing != nil {
		tell(odd(NoGate, "", named(t)+": "+missing.Says("")+", which its --if begins with; its occurrences are skipped", "install it, or "+d.Program+" edit "+t.ID+" --if TEXT"))
	}
}

// unanswered returns the finding of a task for which a file system does not answer.
func (d *Doctor) unanswered(t state.Task, why error) state.Finding {
	return wrong(Silent, "", named(t)+": "+why.Error()+"; its start is put off until it does", "look after what is mounted there, or "+d.Program+" rm "+t.ID)
}

// checkAllowed checks whether the patterns of [run] allow match what a task runs.
func (d *Doctor) checkAllowed(ctx context.Context, e state.Entry, silent error, tell report) {
	patterns := d.config.Config.Run.Allow
	if d.configErr != nil || patterns == nil || silent != nil {
		return
	}
	refusal, err := runner.Forbidden(ctx, e.Task, patterns)
	if proc.Passing(err) {
		tell(d.unanswered(e.Task, err))
	}
	if refusal != nil {
		_, hint := d.Explain(refusal)
		tell(wrong(NotAllowed, "", named(e.Task)+": "+refusal.Error()+"; it fails when it is due", hint+"; or "+d.Program+" rm "+e.Task.ID))
	}
}

// delay returns why the runner postpones the start of a task, if it does and the task has no run.
func (d *Doctor) delay(e state.Entry) (delay state.Delay, putOff bool) {
	for _, r := range e.Open {
		if runner.Alive(r.Child) {
			return delay, false
		}
	}
	for _, delay := range d.leader.Delays {
		if d.led && !e.Held && delay.TaskID == e.Task.ID {
			return delay, true
		}
	}
	return delay, false
}

// checkStart checks whether the runner cannot start a task at present.
func (d *Doctor) checkStart(_ context.Context, e state.Entry, _ error, tell report) {
	delay, putOff := d.delay(e)
	if !putOff {
		return
	}
	f := odd(Postponed, "", fmt.Sprintf("%s cannot be started since %s: %s", named(e.Task), stamp(delay.Since.In(d.Zone)), delay.Why),
		"the runner tries again within a minute; mend what it says, or "+d.Program+" rm "+e.Task.ID)
	if d.Now.Sub(delay.Since) > MaxOverdue {
		f.Level = state.Wrong
	}
	tell(f)
}

// late reports whether a runner should have taken or resumed a task.
func (d *Doctor) late(e state.Entry) bool {
	if e.Held {
		return !e.Resume.IsZero() && d.Now.Sub(e.Resume) > MaxOverdue
	}
	_, putOff := d.delay(e)
	return (e.Phase == state.Pending || e.Task.Recurring()) && d.Now.Sub(e.Due) > MaxOverdue && len(e.Open) == 0 && !e.Awaited && !putOff
}

// checkOverdue reports tasks that no runner took.
func (d *Doctor) checkOverdue(_ context.Context, tell report) string {
	most := d.Parallel
	if n := d.config.Config.Run.MaxParallel; d.configErr == nil && n > 0 {
		most = n
	}
	for _, e := range d.tasks.late {
		due, what := e.Due, "was due"
		if e.Held {
			due, what = e.Resume, "was to be resumed"
		}
		text := fmt.Sprintf("%s %s at %s", named(e.Task), what, stamp(due.In(rules.TaskZone(e.Task))))
		switch {
		case !d.led:
			tell(wrong(Overdue, e.Task.ID, text+", and no runner took it", d.Program+" run --background"))
		case d.tasks.running >= most:
			tell(odd(NoRoom, e.Task.ID, text+" and waits for room: "+plain.Plural(d.tasks.running, "task")+" run", "wait, or raise max_parallel under [run] in config.toml"))
		default:
			tell(wrong(Overdue, e.Task.ID, text+", and no runner took it", "see what the runner says: "+d.tail()+"; a new one: "+d.Program+" run --stop, "+d.Program+" run --background"))
		}
	}
	if d.tasks.fine == nil { // the tasks could not be read
		return ""
	}
	return "no task is overdue"
}
