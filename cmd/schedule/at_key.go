package schedule

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ouro-timer/ouro-timer/cmd/handover"

	"github.com/ouro-timer/ouro-timer/cmd/view"

	"github.com/ouro-timer/ouro-timer/cmd/cli"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// keyMost bounds a key, in bytes.
const keyMost = 200

// key reads --key and --replace.
func key(s *cli.Call, o *AtOptions) error {
	key := s.Opt.Text("key")
	o.Task.Key, o.replace = key, s.Opt.Bool("replace")
	switch {
	case !s.Opt.Has("key") && o.replace:
		return problem.Of(problem.T("%s is for tasks that have a key", problem.Option("replace")), problem.T("name the task, %s", problem.Set("key", "backup")))
	case !s.Opt.Has("key"):
	case strings.TrimSpace(key) == "":
		return problem.Of(problem.T("%s is empty", problem.Option("key")), problem.T("give a name of your own, such as %s, or leave it out", problem.Set("key", "backup")))
	case len(key) > keyMost:
		return problem.Of(problem.T("%s takes %d bytes at most, and this one has %d", problem.Option("key"), keyMost, len(key)), problem.T("give a short name, or a hash of the long one"))
	case strings.IndexFunc(key, unicode.IsControl) >= 0:
		return problem.Of(problem.T("%s %s has a control character", problem.Option("key"), cli.Quote(key)), problem.T("give it without line breaks, tabs and escapes"))
	}
	return nil
}

// Scheduled is what became of one call of at.
type Scheduled struct {
	AtOptions
	entry    state.Entry
	Created  bool
	replaced bool     // else, when not created either, the task that has the key was kept as it was
	differs  []string // what the call says differently from the task that had the key
	told     handover.Audience
	dry      bool // nothing was done
}

// noted bounds the wait for a runner that is to note the end of an interrupted task.
const noted = 5 * time.Second

// settle is what becomes of a call to which Add answered with the entry and the error: when a task that lives has the
// key, that one is kept, or with --replace changed in its place, however many do so at once.
func settle(ctx context.Context, s *cli.Call, st state.Store, o AtOptions, e state.Entry, err error) (Scheduled, error) {
	give := s.Clock.Now().Add(noted)
	for try := 0; ; try++ {
		if !errors.Is(err, state.ErrKept) {
			return Scheduled{AtOptions: o, entry: e, Created: true, differs: []string{}}, err
		}
		d := Scheduled{AtOptions: o, entry: e, differs: DiffersFrom(e.Task, o.Task)}
		id := e.Task.ID
		switch {
		case view.Live(e) && o.replace:
			d.entry, err = overwrite(ctx, s, o, e)
			if err == nil {
				d.replaced = true
				if !d.entry.Due.Equal(e.Due) {
					d.differs = append([]string{"due"}, d.differs...)
				}
				return d, nil
			}
			if !errors.Is(err, state.ErrConflict) && !errors.Is(err, state.ErrTaken) {
				return d, err
			}
			if try >= view.Attempts {
				return d, problem.New(problem.Busy, problem.T("task %s, which has the key %s, is being changed all the time", id, cli.Quote(o.Task.Key)), problem.T("call again in a moment"))
			}
		case view.IsRunning(e) && o.replace:
			return d, problem.New(problem.Failed, problem.T("task %s, which has the key %s, is running for the last time and cannot be replaced", id, cli.Quote(o.Task.Key)),
				problem.T("call again when it has ended (%s), or end it with %s first", problem.To("log", id), problem.To("stop", id)))
		case view.Live(e), view.IsRunning(e):
			return d, nil
		default:
			// Its run was cut off together with its runner, and the key is free as soon as a runner has noted that.
			if err := awaitNote(ctx, s, st, o, e, give); err != nil {
				return d, err
			}
		}
		e, err = cli.Changes(s, st).Add(ctx, o.Task, o.Due)
	}
}

// awaitNote gives a runner a moment to note that a task was interrupted, and starts one when none lives.
func awaitNote(ctx context.Context, s *cli.Call, st state.Leases, o AtOptions, e state.Entry, give time.Time) error {
	h := handover.HandOver(ctx, s, st)
	if s.DryRun || h.Runner == handover.RunnerNone || s.Clock.Now().After(give) {
		return problem.New(problem.Failed, problem.T("task %s, which has the key %s, was interrupted, and no runner has noted that yet", e.Task.ID, cli.Quote(o.Task.Key)),
			problem.T("%s does; then call again", problem.To("run").With("once", true)))
	}
	return s.Clock.For(ctx, 50*time.Millisecond)
}

// overwrite gives the task that has the key what the call says. It keeps its ID and its history. A recurrence that is said in
// the same words keeps its phase too: else a call that comes again and again would put it off for ever. A one-shot is due
// anew.
func overwrite(ctx context.Context, s *cli.Call, o AtOptions, e state.Entry) (state.Entry, error) {
	r := edited{task: o.Task, due: o.Due, sched: o.Sched}
	r.task.ID, r.task.Revision, r.task.Created = e.Task.ID, e.Task.Revision, e.Task.Created
	old, err := rules.Schedule(e.Task)
	if err != nil {
		old = nil // its zone is gone, and with it what its instants were
	}
	anew := timeDiffers(e.Task.When, o.Task.When)
	switch {
	case r.task.Recurring() && len(anew) == 0:
		r.task.When, r.due = e.Task.When, e.Due
	case r.task.Recurring() && !slices.ContainsFunc(anew, func(name string) bool { return name == "when" || name == "tz" || name == "start" }):
		r.task.When.Start = e.Task.When.Start
		if r.task.When.Jitter == e.Task.When.Jitter {
			r.task.When.Delay = e.Task.When.Delay
		}
		if r.sched, err = rules.Schedule(r.task); err != nil {
			return e, err
		}
		var ok bool
		if r.due, ok = r.sched.Next(cli.Later(o.read, lastTaken(e))); !ok {
			return e, problem.New(problem.Never, problem.T("%s never comes again within its bounds", cli.Quote(r.sched.Text)),
				problem.T("give a later %s or a higher %s", problem.Option("end"), problem.Option("count")))
		}
		r.passed = passedLine(e, old, o.read)
	default:
		if r.due, err = afterTaken(o, e); err != nil {
			return e, err
		}
		r.passed = passedLine(e, old, o.read)
	}
	r.fields = differences(e.Task, r.task, e.Due, r.due)
	if e.Task.Terminal != r.task.Terminal {
		r.fields = append(r.fields, "terminal")
	}
	ed := edit{Call: s, now: o.read}
	return ed.write(ctx, e, r)
}

// lastTaken is the latest instant of the task that was claimed or has ended: none up to it can come again.
func lastTaken(e state.Entry) time.Time {
	last := e.Tally.Floor()
	for _, r := range e.Open {
		if !r.Manual {
			last = cli.Later(last, r.Due)
		}
	}
	return last
}

// afterTaken is the first due instant of the call that comes after all instants of the task that were taken.
func afterTaken(o AtOptions, e state.Entry) (time.Time, error) {
	last := lastTaken(e)
	switch {
	case o.Due.After(last):
		return o.Due, nil
	case o.Task.Recurring():
		if due, ok := o.Sched.Shifted(delayOf(o.Task.When)).Next(last); ok {
			return due, nil
		}
	case last.Sub(o.Due) < time.Second: // "now", in the moment before the instant in which a runner claims it
		return last.Add(time.Millisecond), nil
	}
	return o.Due, problem.New(problem.Failed, problem.T("task %s has run for %s already, and nothing before that can come again", e.Task.ID, view.Stamp(last.In(o.Due.Location()))),
		problem.T("was the clock put back? %s frees the key", problem.To("rm", e.Task.ID)))
}

// DiffersFrom names, as --json does, what the call says of a task otherwise than the one that has the key. Times are compared by
// their words, not by their instants: 2h said again is another instant and the same words.
func DiffersFrom(have, call state.Task) []string {
	drop := []string{"when", "kind", "tz", "start", "end", "count", "jitter", "origin"}
	if have.Type() != call.Type() {
		drop = append(drop, "dir", "umask", "env") // of one that is no command there are none
	}
	if have.Run.Prog == "" || call.Run.Prog == "" {
		drop = append(drop, "program")
	}
	names := slices.DeleteFunc(differences(have, call, time.Time{}, time.Time{}), func(name string) bool { return slices.Contains(drop, name) })
	return append(timeDiffers(have.When, call.When), names...)
}

// timeDiffers is differsFrom for the time.
func timeDiffers(have, call state.Timing) []string {
	words := func(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }
	elapsed := call.Kind == "once" && call.Wall == "" && have.Kind == "once" && have.Wall == ""
	names := []string{}
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"when", words(have.Text) != words(call.Text) || have.Form != call.Form || have.Kind != call.Kind},
		{"tz", have.Zone != call.Zone && !elapsed}, // where an elapsed time is shown changes nothing of it
		{"start", have.Given != call.Given || call.Given && !have.Start.Equal(call.Start)},
		{"end", !have.End.Equal(call.End)},
		{"count", have.Count != call.Count},
		{"jitter", have.Jitter != call.Jitter},
	} {
		if f.is {
			names = append(names, f.name)
		}
	}
	return names
}
