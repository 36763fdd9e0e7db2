package tasks

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// maxKey is the longest key, in bytes.
const maxKey = 200

// keyAndOrigin gives a new task its key and its origin.
func (c *Change) keyAndOrigin() (err error) {
	if !c.adds {
		return nil
	}
	if c.Task.Origin, err = c.Origin(); err != nil {
		return err
	}
	if c.Key == nil {
		if c.Replace {
			return problem.Of(problem.T("%s is for tasks that have a key", problem.Option("replace")), problem.T("name the task, %s", problem.Set("key", "backup")))
		}
		return nil
	}
	key := *c.Key
	switch {
	case strings.TrimSpace(key) == "":
		return problem.Of(problem.T("%s is empty", problem.Option("key")), problem.T("give a name of your own, such as %s, or leave it out", problem.Set("key", "backup")))
	case len(key) > maxKey:
		return problem.Of(problem.T("%s takes %d bytes at most, and this one has %d", problem.Option("key"), maxKey, len(key)), problem.T("give a short name, or a hash of the long one"))
	case strings.IndexFunc(key, unicode.IsControl) >= 0:
		return problem.Of(problem.T("%s %s has a control character", problem.Option("key"), plain.Quote(key)), problem.T("give it without line breaks, tabs and escapes"))
	}
	c.Task.Key = key
	return nil
}

// recordWait is how long to wait for a runner to record the end of an interrupted task.
const recordWait = 5 * time.Second

// Add makes the task. When a live task has the key, it is kept, or changed to the request, however
// many calls do so at the same time. wake starts a runner when none lives, and reports whether one
// does.
func (c *Change) Add(ctx context.Context, st state.TaskWriter, wake func(context.Context) bool) (Done, error) {
	e, err := st.Add(ctx, c.Task, c.Due)
	return c.finish(ctx, st, wake, state.Added{Entry: e, Err: err})
}

// AddAll is Add for many tasks at once, in their order.
func AddAll(ctx context.Context, st state.TaskWriter, wake func(context.Context) bool, list []*Change) []Result {
	drafts := make([]state.Draft, len(list))
	for i, c := range list {
		drafts[i] = state.Draft{Task: c.Task, Due: c.Due}
	}
	results := make([]Result, len(list))
	for i, added := range st.AddAll(ctx, drafts) {
		results[i].Done, results[i].Err = list[i].finish(ctx, st, wake, added)
	}
	return results
}

// Result is the result of one request among many.
type Result struct {
	Done
	Err error
}

// finish finishes the request, depending on what the store did with the task.
func (c *Change) finish(ctx context.Context, st state.TaskWriter, wake func(context.Context) bool, added state.Added) (Done, error) {
	give := c.Clock.Now().Add(recordWait)
	for try := 0; ; try++ {
		e, err := added.Entry, added.Err
		d := Done{Change: c, Entry: e, Was: e, Differs: []string{}}
		if !errors.Is(err, state.ErrKept) {
			d.Created = true
			return d, err
		}
		d.Differs = differsFrom(e.Task, c.Task)
		id, key := e.Task.ID, plain.Quote(c.Task.Key)
		switch {
		case Live(e) && c.Replace:
			d.Entry, err = c.overwrite(ctx, st, e)
			if err == nil {
				d.Replaced = true
				if !d.Entry.Due.Equal(e.Due) {
					d.Differs = append([]string{"due"}, d.Differs...)
				}
				return d, nil
			}
			if !errors.Is(err, state.ErrConflict) && !errors.Is(err, state.ErrTaken) {
				return d, err
			}
			if try >= Attempts {
				return d, problem.New(problem.Busy, problem.T("task %s, which has the key %s, is being changed all the time", id, key), problem.T("call again in a moment"))
			}
		case IsRunning(e) && c.Replace:
			return d, problem.New(problem.Failed, problem.T("task %s, which has the key %s, is running for the last time and cannot be replaced", id, key),
				problem.T("call again when it has ended (%s), or end it with %s first", problem.To("log", id), problem.To("stop", id)))
		case Live(e), IsRunning(e):
			return d, nil
		case !wake(ctx) || c.Clock.Now().After(give):
			// The run of that task was interrupted with its runner. The key is free as soon as a
			// runner has recorded that.
			return d, problem.New(problem.Failed, problem.T("task %s, which has the key %s, was interrupted, and no runner has recorded that yet", id, key),
				problem.T("%s does; then call again", problem.To("run").With("once", true)))
		default:
			if err := c.Clock.For(ctx, 50*time.Millisecond); err != nil {
				return d, err
			}
		}
		added.Entry, added.Err = st.Add(ctx, c.Task, c.Due)
	}
}

// overwrite changes the task that has the key to what the request says. The task keeps its ID and
// its history. A recurrence in the same words keeps its phase as well: otherwise a request that is
// repeated would postpone it for ever. A task that waits for the same ends goes on waiting. A
// one-shot gets a new due instant.
func (c *Change) overwrite(ctx context.Context, st state.TaskWriter, e state.Entry) (state.Entry, error) {
	r := *c
	r.was, r.Passed = e, nil
	t := &r.Task
	t.ID, t.Revision, t.Created = e.Task.ID, e.Task.Revision, e.Task.Created
	if err := (awaiting{&r}).refuseCycles(ctx); err != nil {
		return e, err
	}
	old, err := rules.Schedule(e.Task)
	if err != nil {
		old = nil // without its zone, the instants that it had are unknown
	}
	anew := timeDiffers(e.Task.When, c.Task.When)
	switch {
	case (t.Recurring() || len(t.When.After) > 0) && len(anew) == 0:
		t.When, r.Due = e.Task.When, e.Due
	case t.Recurring() && !slices.ContainsFunc(anew, func(name string) bool { return name == "when" || name == "tz" || name == "start" }):
		t.When.Start = e.Task.When.Start
		if t.When.Jitter == e.Task.When.Jitter {
			t.When.Delay = e.Task.When.Delay
		}
		if r.Sched, err = rules.Schedule(r.Task); err != nil {
			return e, err
		}
		after := lastTaken(e)
		if c.Now.After(after) {
			after = c.Now
		}
		var ok bool
		if r.Due, ok = r.Sched.Next(after); !ok {
			return e, problem.New(problem.Never, problem.T("%s never comes again within its bounds", plain.Quote(r.Sched.Text)),
				problem.T("give a later %s or a higher %s", problem.Option("end"), problem.Option("count")))
		}
		r.Passed = passedLine(e, old, c.Now)
	default:
		if r.Due, err = c.afterTaken(e); err != nil {
			return e, err
		}
		r.Passed = passedLine(e, old, c.Now)
	}
	r.Fields = differences(e.Task, r.Task, e.Due, r.Due)
	if e.Task.Terminal != r.Task.Terminal {
		r.Fields = append(r.Fields, "terminal")
	}
	return r.write(ctx, st)
}

// lastTaken returns the latest instant of the task that was claimed or has ended. No instant up to
// it can occur again.
func lastTaken(e state.Entry) time.Time {
	last := e.Tally.Floor()
	for _, r := range e.Open {
		if !r.Manual && r.Due.After(last) {
			last = r.Due
		}
	}
	return last
}

// afterTaken returns the first due instant of the request after all instants of the task that were
// taken.
func (c *Change) afterTaken(e state.Entry) (time.Time, error) {
	last := lastTaken(e)
	switch {
	case c.Due.After(last):
		return c.Due, nil
	case c.Task.Recurring():
		if due, ok := c.Sched.Shifted(delayOf(c.Task.When)).Next(last); ok {
			return due, nil
		}
	case last.Sub(c.Due) < time.Second: // "now", just before a runner claims that instant
		return last.Add(time.Millisecond), nil
	}
	return c.Due, problem.New(problem.Failed, problem.T("task %s has run for %s already, and nothing before that can come again", e.Task.ID, stamp(last.In(c.Due.Location()))),
		problem.T("was the clock put back? %s frees the key", problem.To("rm", e.Task.ID)))
}

// differsFrom returns the fields, as --json names them, in which the request differs from the task
// that has the key. Times are compared by their words, not by their instants: a repeated 2h is
// another instant in the same words.
func differsFrom(have, call state.Task) []string {
	drop := []string{"when", "kind", "tz", "start", "end", "count", "except", "jitter", "origin"}
	if have.Type() != call.Type() {
		// a task that is not a command does not have them
		drop = append(drop, "dir", "umask", "env")
	}
	if len(call.On) == 0 { // the request does not say where
		drop = append(drop, "on")
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
		// the zone in which an elapsed time is shown does not matter
		{"tz", have.Zone != call.Zone && !elapsed},
		{"start", have.Given != call.Given || call.Given && !have.Start.Equal(call.Start)},
		{"end", !have.End.Equal(call.End)},
		{"count", have.Count != call.Count},
		{"except", !slices.Equal(have.Except, call.Except) || !slices.Equal(have.ExceptDays, call.ExceptDays)},
		{"jitter", have.Jitter != call.Jitter},
	} {
		if f.is {
			names = append(names, f.name)
		}
	}
	return names
}
