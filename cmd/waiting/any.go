package waiting

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/healthwait"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/await"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// These are the kinds of things that wait --any waits for.
const (
	thingTime   = "time"   // an instant, or the end of a length of time
	thingTask   = "task"   // the end of a run
	thingInbox  = "inbox"  // an item that nobody has
	thingTarget = "target" // the health of a target
)

// thing is one of the things that a wait --any waits for.
type thing struct {
	kind, text string       // text is the word as it was given, without a password
	typed      string       // the word in the call that goes on
	time       *waitOptions // the wait, when it is a time
	task       await.Run    // the run, when it is a task
	target     int          // its place in health, when it is a target
}

// anyOptions is a wait --any, with all its words and options read.
type anyOptions struct {
	things []thing
	begun  clock.Moment
	zone   *time.Location
	most   time.Duration // how long the call may block; 0 means no bound
	mail   tasks.Mail
	health healthwait.Group
	st     state.Store  // nil when no thing needs it
	place  *state.Place // of the ledger: later ends of runs count; nil until findTasks sets it
}

// anyOptionNames are the options that wait --any shares with a wait for one instant.
var anyOptionNames = []string{"any", "take", "after", "max", "dry-run", "quiet", "tz", "json", "fields"}

// anyExample is an example of a call of wait --any, for hints.
func anyExample(things ...string) problem.Call {
	return problem.To("wait").With("any", true).Saying(things...)
}

// readAny reads a wait --any.
func readAny(ctx context.Context, s *cli.Call) (o anyOptions, err error) {
	o.begun = clock.Here(s.Clock)
	for _, name := range s.Opt.Names() {
		if !slices.Contains(anyOptionNames, name) {
			return o,
				problem.Of(problem.T("%s is for a wait for one time, and %s waits for the first of several things",
					problem.Option(name), problem.Option("any")),
					problem.T("leave it out; each time is a word of its own: %s", anyExample("10m", "task:k7m2")))
		}
	}
	if len(s.Args) == 0 {
		return o, cli.CallInstead(problem.T("there is nothing to wait for"),
			anyExample("10m", "task:k7m2", "inbox", "tcp://localhost:5432"))
	}
	if o.most, err = cli.Bound(s); err != nil {
		return o, err
	}
	times, err := s.TimeOptions()
	if err != nil {
		return o, err
	}
	o.zone = times.Zone
	times.Now, times.BareSeconds = o.begun.Wall.In(o.zone), true
	if err := refuseSplitTime(s, times); err != nil {
		return o, err
	}
	o.health = healthwait.Group{Options: health.Options{Any: true, HTTP: health.HTTP{Proxy: http.ProxyFromEnvironment}}}
	for _, word := range s.Args {
		t, err := o.read(s, word, times)
		if err != nil {
			return o, err
		}
		o.things = append(o.things, t)
	}
	if _, err := o.health.Path(s); err != nil {
		return o, err
	}
	if err := o.health.Allowed(ctx, s, nil); err != nil {
		return o, err
	}
	if err := o.health.Docker(s); err != nil {
		return o, err
	}
	if err := o.readInbox(s); err != nil {
		return o, err
	}
	return o, o.findTasks(ctx, s)
}

// read reads one thing.
func (o *anyOptions) read(s *cli.Call, word string, times when.Options) (thing, error) {
	if strings.EqualFold(strings.TrimSpace(word), thingInbox) {
		return thing{kind: thingInbox, text: thingInbox, typed: thingInbox}, nil
	}
	target, err := health.Parse(word)
	refused := (*health.ParseError)(nil)
	switch {
	case err == nil && target.Scheme() == thingTask:
		return thing{kind: thingTask, text: target.String(), typed: word, task: await.Run{ID: target.Arg()}}, nil
	case err == nil:
		o.health.Targets = append(o.health.Targets, target)
		return thing{kind: thingTarget, text: target.String(), typed: word, target: len(o.health.Targets) - 1}, nil
	case errors.As(err, &refused) && !refused.Bare && strings.TrimSpace(word) != "":
		return thing{}, healthwait.Refused(refused, problem.T("%s", refused.Hint))
	}
	w, err := o.time(s, word, times)
	if err != nil {
		return thing{}, unknownThing(word, refused, err)
	}
	return thing{kind: thingTime, text: word, typed: w.first.In(o.zone).Format(time.RFC3339Nano), time: w}, nil
}

// time reads an instant. It may have passed, because an earlier call may have begun to wait for it.
// A recurrence means its first instant.
func (o *anyOptions) time(s *cli.Call, word string, times when.Options) (*waitOptions, error) {
	w := &waitOptions{pace: pace{begun: o.begun}, zone: o.zone, kind: when.Once, text: word}
	if t, err := time.Parse(time.RFC3339, strings.TrimSpace(word)); err == nil {
		w.first = t
		return w, nil
	}
	times.Form = when.Any
	var err error
	if w.schedule, err = when.Parse(word, times); err != nil {
		return nil, err
	}
	w.kind = w.schedule.Kind
	return w, w.recur(s, word, times)
}

// unknownThing returns the error for a word that is nothing to wait for.
func unknownThing(word string, refused *health.ParseError, err error) error {
	if p := cli.Explain(err); p.Code != problem.NotUnderstood {
		return p
	}
	hint := problem.T("write 10m or 22:30 for a time, task:ID for the end of a task, inbox for an item of the " +
		"inbox, tcp://localhost:5432 for a service")
	switch {
	case strings.TrimSpace(word) == "":
	case strings.ContainsAny(word, ":/") && refused.Hint != "":
		hint = problem.T("%s; %s", refused.Hint, hint)
	case state.WholeID(strings.ToLower(word)):
		hint = problem.T("the end of a task is %s; %s", anyExample("task:"+strings.ToLower(word)), hint)
	}
	return problem.New(problem.NotUnderstood, problem.T("%s is neither a time nor anything else to wait for",
		cli.Quote(word)), hint)
}

// refuseSplitTime refuses several words that are a time together, because each time is one word.
// Words after -- are not judged.
func refuseSplitTime(s *cli.Call, times when.Options) error {
	words := s.Args[:len(s.Args)-min(s.After, len(s.Args))]
	times.Form = when.Any
	for from := range words {
		for n := min(len(words)-from, cli.MaxTimeWords); n > 1; n-- {
			text := strings.Join(words[from:from+n], " ")
			if _, err := when.Parse(text, times); err != nil {
				if p := cli.Explain(err); p.Code == problem.Ambiguous {
					return p // "at 7" would be a time if it were said more clearly
				}
				continue
			}
			meant := slices.Concat(words[:from], []string{text}, words[from+n:])
			return problem.New(problem.Ambiguous,
				problem.T("%s is a time as well, and each thing to wait for is one word", cli.Quote(text)),
				problem.T("did you mean %s? If you mean two times, give only the earlier", anyExample(meant...)))
		}
	}
	return nil
}

// readInbox reads the options about the inbox, and the place at which an earlier call ended.
func (o *anyOptions) readInbox(s *cli.Call) (err error) {
	o.mail.Query = state.Query{Free: true, Limit: 1}
	if s.Opt.Has("take") {
		if !o.has(thingInbox) {
			return problem.Of(problem.T("%s leases an item of the inbox, and this call does not wait for the inbox",
				problem.Option("take")),
				problem.T("%s", problem.To("wait", append(slices.Clone(s.Args), thingInbox)...).With("any",
					true).With("take", problem.Bare(s.Opt.Text("take")))))
		}
		if o.mail.Take, err = view.TakeSpan(s.Opt.Text("take")); err != nil {
			return err
		}
	}
	if !s.Opt.Has("after") {
		return nil
	}
	place, err := state.ParsePlace(s.Opt.Text("after"))
	if err != nil {
		return problem.Of(problem.T("%s %s is not a place in the ledger", problem.Option("after"),
			cli.Quote(s.Opt.Text("after"))),
			problem.T("copy it from the end of an earlier answer, or leave it out"))
	}
	o.place = &place
	return nil
}

// has reports whether the call waits for a thing of a kind.
func (o *anyOptions) has(kind string) bool {
	return slices.ContainsFunc(o.things, func(t thing) bool { return t.kind == kind })
}

// findTasks opens the store if a thing needs it, and finds the tasks.
func (o *anyOptions) findTasks(ctx context.Context, s *cli.Call) (err error) {
	if !o.has(thingTask) && !o.has(thingInbox) {
		return nil
	}
	if o.st, err = s.Open(); err != nil {
		return err
	}
	for i := range o.things {
		t := &o.things[i]
		if t.kind != thingTask {
			continue
		}
		name, number, numbered := strings.Cut(strings.ToLower(t.task.ID), "/")
		if numbered {
			if t.task.Number, err = strconv.Atoi(number); err != nil || t.task.Number < 1 {
				return problem.Of(problem.T("%s is not an occurrence", cli.Quote(t.text)),
					problem.T("the first occurrence is task:%s", state.OccurrenceID(name, 1)))
			}
		}
		e, bad, err := view.PickID(ctx, o.st.Find, name, s.Clock.Now(), func(state.Entry) bool { return true })
		switch {
		case err != nil:
			return err
		case bad != nil:
			return bad.Problem
		}
		t.task.ID, t.task.After = e.Task.ID, o.place
		t.typed = "task:" + e.Task.ID
		if numbered {
			t.typed = "task:" + state.OccurrenceID(e.Task.ID, t.task.Number)
		}
	}
	if o.place != nil {
		return nil
	}
	place, _, err := o.st.Log(ctx, "", func(state.Line) bool { return false })
	o.place = &place
	return err
}

// continueCall returns the call that goes on with this wait: for the same instants, and for all
// ends of runs since this wait began. It leaves out the things that are gone.
func (o *anyOptions) continueCall(s *cli.Call, gone map[int]error) problem.Call {
	var words []string
	for i, t := range o.things {
		if gone[i] == nil {
			words = append(words, t.typed)
		}
	}
	c := problem.To("wait", words...).With("any", true)
	if o.has(thingTask) {
		c = c.With("after", o.place.String())
	}
	if o.mail.Take > 0 {
		c = c.With("take", problem.Bare(s.Opt.Text("take")))
	}
	if o.most > 0 {
		c = c.With("max", cli.BoundText(s))
	}
	return cli.With(c, s.Opt, "quiet", "tz", "json", "fields")
}
