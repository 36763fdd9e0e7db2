package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/settings"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// overdueMost is how long past its due instant a task may wait before somebody should ask why.
const overdueMost = time.Minute

// tasks is what doctor has counted on its way through them.
type tasks struct {
	all, recurring int
	overdue        int
	running        int
	next           time.Time // the earliest due instant, of those that are not paused
	// channels are those that tasks name, with one of the tasks each.
	channels map[string]string
}

// lookAtTasks looks at every task that lives: its schedule, its surroundings and its due instant.
func (d *doctor) lookAtTasks(ctx context.Context) {
	schedules, commands, overdue, allow := few{d: d, name: "schedules"}, few{d: d, name: "commands"}, few{d: d, name: "overdue"}, few{d: d, name: "allow"}
	offs := few{d: d, name: "starts"}
	patterns := d.patterns()
	d.tasks = tasks{channels: map[string]string{}}
	var late []state.Entry
	_, err := state.Each(ctx, d.st, func(e state.Entry) bool {
		d.tasks.all++
		for _, word := range e.Task.Policy.Notify {
			if d.tasks.channels[word] == "" {
				d.tasks.channels[word] = called(e.Task)
			}
		}
		if e.Task.Recurring() && !e.Held {
			d.tasks.recurring++
		}
		if len(e.Open) > 0 {
			d.tasks.running++
		}
		d.schedule(e, &schedules)
		if d.answers(ctx, e, &commands) {
			d.start(ctx, e, &commands)
			d.allowed(ctx, e, patterns, &allow)
		}
		off := whyPutOff(e, d.leader)
		if off != "" {
			d.putOff(e, off, &offs)
		}
		if e.Held {
			if !e.Resume.IsZero() && d.now.Sub(e.Resume) > overdueMost {
				late = append(late, e)
			}
			return true
		}
		if e.Phase == state.Pending || e.Task.Recurring() {
			if d.tasks.next.IsZero() || e.Due.Before(d.tasks.next) {
				d.tasks.next = e.Due
			}
			if d.now.Sub(e.Due) > overdueMost && len(e.Open) == 0 && !e.Attended && off == "" {
				late = append(late, e)
			}
		}
		return true
	}, state.Pending, state.Running, state.Paused)
	if err != nil {
		d.say("tasks", state.Wrong, "the tasks cannot be read: "+err.Error(), "mend what is said of the folder first")
		return
	}
	d.tasks.overdue = len(late)
	for _, e := range late {
		d.overdue(e, &overdue)
	}
	schedules.end(fmt.Sprintf("the schedule of each of %s can be read", plural(d.tasks.all, "task")))
	commands.end("each command could start now")
	if patterns != nil {
		allow.end("[run] allow has the command of each")
	}
	overdue.end("no task is overdue")
	if offs.n > 0 {
		offs.end("")
	}
}

// patterns are those of [run] allow; nil for none.
func (d *doctor) patterns() []string {
	if d.home == "" {
		return nil
	}
	r, err := settings.Read(d.home) // what is wrong with it is told elsewhere
	if err != nil {
		return nil
	}
	return r.Config.Run.Allow
}

// allowed looks whether the patterns have what a task runs.
func (d *doctor) allowed(ctx context.Context, e state.Entry, patterns []string, f *few) {
	refusal, err := runner.Forbidden(ctx, e.Task, patterns)
	if proc.Passing(err) {
		f.say(state.Wrong, called(e.Task)+": "+err.Error()+isPutOff, "look after what is mounted there, or ouro-timer rm "+e.Task.ID)
	}
	if refusal == nil {
		return
	}
	f.say(state.Wrong, called(e.Task)+": "+refusal.Error()+"; it fails when it is due", d.says(d.allowing(refusal))+"; or ouro-timer rm "+e.Task.ID)
}

// called names a task in a sentence.
func called(t state.Task) string {
	return "task " + t.ID + " (" + fit(describe(t), 40) + ")"
}

// schedule looks whether a task's words can be read, and say what the rest of its file does.
func (d *doctor) schedule(e state.Entry, f *few) {
	t, path := e.Task, d.st.PathOf(e)
	zone, err := when.LoadZone(t.When.Zone)
	if err != nil {
		w := explain(err)
		f.say(state.Wrong, called(t)+": "+d.says(w.Message)+"; it does not run", d.says(w.Hint)+"; mend tz under [when] in "+shellQuote(path))
		return
	}
	again := "ouro-timer edit " + t.ID + " WHEN"
	if !t.Recurring() {
		// A one-shot is due when its name says. Its words are for people, but they should not say something else.
		o := when.Options{Now: t.When.Start, Zone: zone, Form: when.Form(t.When.Form)}
		if sched, err := when.Parse(t.When.Text, o); err == nil && sched.Kind != when.Once {
			f.say(state.Odd, fmt.Sprintf("%s: its words, %s, recur, and its kind is once: it runs once", called(t), quote(t.When.Text)), again)
			return
		}
		if _, err := time.Parse(state.WallForm, t.When.Wall); t.When.Wall != "" && err != nil {
			f.say(state.Odd, called(t)+": its wall clock, "+quote(t.When.Wall)+", cannot be read", "mend wall under [when] in "+shellQuote(path))
		} else if here := e.Due.In(zone).Format(state.WallForm); t.When.Wall != "" && here != t.When.Wall {
			f.say(state.Odd, fmt.Sprintf("%s is due at %s, and the wall clock in its file is %s, where the next runner to start puts it", called(t), here, t.When.Wall), again)
		}
		return
	}
	sched, err := rules.Schedule(t)
	switch {
	case err != nil:
		f.say(state.Wrong, fmt.Sprintf("%s: its schedule, %s, cannot be read: %s; it does not run", called(t), quote(t.When.Text), explain(err)), again)
	case string(sched.Kind) != t.When.Kind:
		f.say(state.Odd, fmt.Sprintf("%s: its words, %s, are of kind %s, and its file says %s; the words count", called(t), quote(t.When.Text), sched.Kind, t.When.Kind),
			"mend kind under [when] in "+shellQuote(path))
	default:
		if at, ok := sched.Next(e.Due.Add(-1)); ok && at.Equal(e.Due) {
			return
		}
		text := "it has no instant after that"
		if at, ok := sched.Next(e.Due); ok {
			text = "the next after it is " + stamp(at)
		}
		f.say(state.Odd, fmt.Sprintf("%s is due at %s, which is no instant of %s; %s", called(t), stamp(e.Due.In(zone)), quote(t.When.Text), text), again)
	}
}

// programsOf are the programs that a task names, and the PATH on which they are looked for.
func programsOf(t state.Task) (programs []string, path string) {
	job := t.Run
	path, ok := job.Env["PATH"]
	if !ok {
		path = "/usr/bin:/bin"
	}
	if len(job.Argv) > 0 {
		programs = append(programs, job.Argv[0])
	}
	if len(job.Agent) > 0 {
		programs = append(programs, job.Agent[0])
	}
	if len(programs) == 0 || t.Policy.If != "" {
		programs = append(programs, cmp.Or(job.Prog, defaultShell))
	}
	return programs, path
}

// answers looks whether the file systems answer that a task's folder and programs are on, and tells
// it when one does not: what is looked at there would never come to an end.
func (d *doctor) answers(ctx context.Context, e state.Entry, f *few) bool {
	t := e.Task
	if t.Type() != state.TypeCommand && t.Type() != state.TypeAgent {
		return true
	}
	err := d.taskAnswers(ctx, t)
	if err != nil && ctx.Err() == nil {
		f.say(state.Wrong, called(t)+": "+err.Error()+isPutOff, "look after what is mounted there, or ouro-timer rm "+t.ID)
	}
	return err == nil
}

// start looks whether a task's command could be started now.
func (d *doctor) start(ctx context.Context, e state.Entry, f *few) {
	t := e.Task
	if t.Type() != state.TypeCommand && t.Type() != state.TypeAgent {
		return
	}
	job := t.Run
	programs, path := programsOf(t)
	if info, err := os.Stat(job.Dir); err != nil || !info.IsDir() {
		why := "is not a folder"
		if err != nil {
			why = "is gone"
			if !errors.Is(err, os.ErrNotExist) {
				why = "cannot be entered"
			}
		}
		f.say(state.Wrong, fmt.Sprintf("%s: its folder %s %s; it fails when it is due", called(t), quote(job.Dir), why), "mkdir -p "+shellQuote(job.Dir)+", or ouro-timer rm "+t.ID)
		return
	}
	for _, program := range programs {
		why := d.missing(ctx, program, path, job.Dir, "")
		if why == "" {
			continue
		}
		if program == defaultShell {
			f.say(state.Wrong, called(t)+": there is no "+defaultShell+" here; it fails when it is due", "install one; or schedule the command behind --, which needs none: ouro-timer show "+t.ID+", ouro-timer rm "+t.ID)
			return
		}
		hint := "install it, or schedule the task anew: ouro-timer show " + t.ID + ", ouro-timer rm " + t.ID
		f.say(state.Wrong, called(t)+": "+why+" on its PATH; it fails when it is due", hint)
		return
	}
	// What a shell makes of its text only the shell knows: these are worth a look, and no more.
	if why := d.missingInShell(ctx, job.Shell, job, ""); why != "" {
		f.say(state.Odd, called(t)+": "+why+", which its text for the shell begins with; it will fail", "install it, or ouro-timer edit "+t.ID+" -c TEXT")
	}
	if why := d.missingInShell(ctx, t.Policy.If, job, ""); why != "" {
		f.say(state.Odd, called(t)+": "+why+", which its --if begins with; its occurrences are skipped", "install it, or ouro-timer edit "+t.ID+" --if TEXT")
	}
}

// putOff tells of a task whose runner cannot start it for now.
func (d *doctor) putOff(e state.Entry, why string, f *few) {
	level, since := state.Odd, d.now
	for _, off := range d.leader.Delays {
		if off.TaskID == e.Task.ID {
			since = off.Since
		}
	}
	if d.now.Sub(since) > overdueMost {
		level = state.Wrong
	}
	f.say(level, fmt.Sprintf("%s cannot be started since %s: %s", called(e.Task), stamp(since.In(d.zone)), why),
		"the runner tries again within a minute; mend what it says, or ouro-timer rm "+e.Task.ID)
}

// overdue tells of a task that no runner took.
func (d *doctor) overdue(e state.Entry, f *few) {
	due, what := e.Due, "was due"
	if e.Held {
		due, what = e.Resume, "was to be resumed"
	}
	hint := "ouro-timer run --background"
	if d.led() {
		hint = "see what the runner says: tail " + shellQuote(d.logPath()) + "; a new one: ouro-timer run --stop, ouro-timer run --background"
		if d.tasks.running >= d.parallel() {
			f.say(state.Odd, fmt.Sprintf("%s %s at %s and waits for room: %s run", called(e.Task), what, stamp(due.In(taskZone(e.Task))), plural(d.tasks.running, "task")),
				"wait, or raise max_parallel under [run] in config.toml")
			return
		}
	}
	f.say(state.Wrong, fmt.Sprintf("%s %s at %s, and no runner took it", called(e.Task), what, stamp(due.In(taskZone(e.Task)))), hint)
}

// readable says what is wrong with a task whose file can be read: its zone, or its schedule.
func readable(t state.Task) error {
	_, err := when.LoadZone(t.When.Zone)
	if err == nil {
		_, err = rules.Schedule(t)
	}
	if err != nil {
		return fmt.Errorf("has a schedule that cannot be read: %s", explain(err))
	}
	return nil
}
