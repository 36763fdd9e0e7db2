package waiting

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/healthwait"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// arrival is the thing that came first, with what is told about it.
type arrival struct {
	thing int
	line  state.Line  // the end of the run, when the thing is a task
	mail  tasks.Found // the item, when the thing is the inbox
}

// contest lets one of several waits be the first. The others end without an effect.
type contest struct {
	mu    sync.Mutex
	first *arrival
	over  func()
}

// claim makes what take returns the first, unless there is a first already or take returns nil. It
// reports whether the contest is over. Only take may change something, such as lease an item.
func (c *contest) claim(take func() *arrival) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first != nil {
		return true
	}
	if c.first = take(); c.first == nil {
		return false
	}
	c.over()
	return true
}

// gone is a thing that will not come any more, and why.
type gone struct {
	thing int
	why   error
}

// waited is the result of a wait --any.
type waited struct {
	first  *arrival // nil when none has come
	health health.Result
	gone   map[int]error // the things that will not come any more, and why
}

// leastLook is how long targets are looked at, at least, however short the bound of the call is.
const leastLook = 250 * time.Millisecond

// await waits until one thing has come, until none can come any more, or until its bound or ctx
// ends. It looks at each thing at least once, however short the bound is.
func (o *anyOptions) await(ctx context.Context, s *cli.Call) waited {
	racing, stop := context.WithCancel(ctx)
	defer stop()
	c := &contest{over: stop}
	w := waited{gone: map[int]error{}}
	if o.lookOnce(racing, s, c) {
		w.first = c.first
		return w
	}
	waiting, cancel := o.within(racing, s, 0)
	defer cancel()
	var all []func() []gone
	for i, t := range o.things {
		one := func(wait func(context.Context, *cli.Call, *contest, int) error) {
			all = append(all, func() []gone {
				if err := wait(waiting, s, c, i); err != nil && waiting.Err() == nil {
					return []gone{{i, err}}
				}
				return nil
			})
		}
		switch t.kind {
		case thingTime:
			one(t.awaitTime)
		case thingTask:
			one(o.awaitTask)
		case thingInbox:
			one(o.awaitItem)
		}
	}
	if len(o.health.Targets) > 0 {
		all = append(all, func() []gone {
			looking, cancel := o.within(racing, s, leastLook)
			defer cancel()
			w.health = o.health.Run(looking, s)
			return o.targets(c, w.health)
		})
	}
	ended := make(chan []gone)
	for _, wait := range all {
		go func() { ended <- wait() }()
	}
	for range all {
		for _, g := range <-ended {
			w.gone[g.thing] = g.why
		}
	}
	w.first = c.first
	return w
}

// within bounds ctx by --max, and by no less than least.
func (o *anyOptions) within(ctx context.Context, s *cli.Call, least time.Duration) (context.Context,
	context.CancelFunc) {
	if o.most == 0 {
		return context.WithCancel(ctx)
	}
	return cli.Within(ctx, s.Clock, max(o.most-o.begun.Since(s.Clock), least))
}

// lookOnce looks at the tasks and the inbox in the order given, and reports whether one has come.
// Its errors are left to the wait that follows, which meets them again.
func (o *anyOptions) lookOnce(ctx context.Context, s *cli.Call, c *contest) bool {
	for i, t := range o.things {
		switch t.kind {
		case thingTask:
			line, found, err := t.task.Look(ctx, o.st)
			if err == nil && found && c.claim(func() *arrival { return &arrival{thing: i, line: line} }) {
				return true
			}
		case thingInbox:
			if over, err := o.claimItem(ctx, s, c, i); over && err == nil {
				return true
			}
		}
	}
	return false
}

// awaitTime waits for an instant. An instant that comes just when the bound ends has come.
func (t thing) awaitTime(ctx context.Context, s *cli.Call, c *contest, i int) error {
	_ = t.time.until(ctx, s.Clock, t.time.first)
	if t.time.late(s.Clock, t.time.first) >= 0 {
		c.claim(func() *arrival { return &arrival{thing: i} })
	}
	return nil
}

// awaitTask waits for the end of a run.
func (o *anyOptions) awaitTask(ctx context.Context, s *cli.Call, c *contest, i int) error {
	line, _, err := o.things[i].task.End(ctx, o.st, s.Clock)
	if err == nil {
		c.claim(func() *arrival { return &arrival{thing: i, line: line} })
	}
	return err
}

// awaitItem waits for an item that nobody has. Another reader may take it first, and then it waits
// for the next.
func (o *anyOptions) awaitItem(ctx context.Context, s *cli.Call, c *contest, i int) error {
	look := tasks.Mail{Query: o.mail.Query}
	for {
		if _, err := look.Await(ctx, o.st, s.Clock); err != nil {
			return err
		}
		if over, err := o.claimItem(ctx, s, c, i); over || err != nil {
			return err
		}
	}
}

// claimItem claims the oldest item that nobody has, and leases it with --take. It reports whether
// the contest is over.
func (o *anyOptions) claimItem(ctx context.Context, s *cli.Call, c *contest, i int) (over bool, err error) {
	over = c.claim(func() *arrival {
		var seen tasks.Found
		if seen, err = o.mail.Look(ctx, o.st, s.Clock); err != nil || len(seen.Items) == 0 {
			return nil
		}
		return &arrival{thing: i, mail: seen}
	})
	return over, err
}

// targets claims the target that is healthy, and returns those that will never be.
func (o *anyOptions) targets(c *contest, r health.Result) (list []gone) {
	for i, t := range o.things {
		if t.kind != thingTarget {
			continue
		}
		switch is := r.Targets[t.target]; {
		case is.Healthy:
			c.claim(func() *arrival { return &arrival{thing: i} })
		case is.Permanent:
			list = append(list, gone{i, problem.New(problem.Failed,
				problem.T("%s", cli.Visible(is.Target+": "+is.Last.String())),
				problem.T("%s says what to do about it, and has options for it", problem.To("health-wait", t.typed)))})
		}
	}
	return list
}

// runAny waits, and answers which thing came first.
func runAny(ctx context.Context, s *cli.Call, o anyOptions) error {
	if o.st != nil {
		limited, cancel := o.within(ctx, s, 0)
		handover.NoRunner(limited, s, o.st)
		cancel()
	}
	reading := ctx
	if o.has(thingInbox) {
		var stop context.CancelFunc
		reading, stop = cli.WhileRead(ctx, s.World.Out)
		defer stop()
	}
	hide := o.show(s)
	w := o.await(reading, s)
	hide()
	switch {
	case w.first != nil:
		return o.tell(ctx, s, w)
	case ctx.Err() != nil:
		if further := o.again(s, nil); !s.Quiet {
			s.Remark("continue: %s\n", cli.Visible(cli.ShellLine(further.Words(cli.Itself(s)))))
		}
		return ctx.Err()
	case errors.Is(context.Cause(reading), cli.ErrUnread):
		return cli.ExitCode(cli.ExitFailed)
	case len(w.gone) == len(o.things):
		return o.none(s, w)
	}
	s.Answer(o.unfinished(ctx, s, w))
	return cli.ExitCode(cli.ExitMax)
}

// none is the error of a wait when nothing can come any more.
func (o *anyOptions) none(s *cli.Call, w waited) error {
	if len(o.things) == 1 {
		return w.gone[0]
	}
	var why []problem.Text
	hint := problem.Text{}
	for i := range o.things {
		p := cli.Explain(w.gone[i])
		why = append(why, p.Message)
		if hint.Empty() {
			hint = p.Hint
		}
	}
	return problem.New(problem.Failed, problem.T("none of these will come: %s", problem.Texts("; ", why...)), hint)
}

// show tells a person what is waited for, with a countdown to the first instant. hide ends the
// countdown.
func (o *anyOptions) show(s *cli.Call) (hide func()) {
	var words []string
	var first *waitOptions
	now := o.begun.Wall.In(o.zone)
	for _, t := range o.things {
		text := cli.Visible(t.text)
		if t.kind == thingTime {
			if first == nil || t.time.first.Before(first.first) {
				first = t.time
			}
			if !t.time.elapsed {
				text += " (" + view.Echo(t.time.first.In(o.zone), now.Truncate(time.Second)) + ")"
			}
		}
		words = append(words, text)
	}
	s.Talk("waiting for the first of: %s", strings.Join(words, ", "))
	if first == nil || !view.Counts(s, s.Quiet) {
		return func() {}
	}
	return first.countDown(s, newProgress(first.first), first.first.Sub(o.begun.Wall), false)
}

// anyJSON is the answer of wait --any.
type anyJSON struct {
	Now           time.Time       `json:"now"`
	Status        string          `json:"status" jsonschema:"came" enum:"came"`
	Which         string          `json:"which" jsonschema:"what came first, as it was given"`
	Position      int             `json:"position" jsonschema:"its place among what was given; 1 is the first"`
	Kind          string          `json:"kind" enum:"time task inbox target" jsonschema:"says which of time, run, item and target is there"`
	WaitedSeconds float64         `json:"waited_seconds"`
	Time          *cameJSON       `json:"time,omitempty" jsonschema:"the instant that has come"`
	Run           *view.LineJSON  `json:"run,omitempty" jsonschema:"how the run of the task has ended, well or not"`
	Item          *view.ItemJSON  `json:"item,omitempty" jsonschema:"of the inbox, the oldest that nobody has"`
	More          int             `json:"more,omitempty" jsonschema:"of the inbox: how many others there are"`
	Target        *healthwait.Row `json:"target,omitempty" jsonschema:"the target that is healthy"`
	Gone          []goneJSON      `json:"gone,omitempty" jsonschema:"what would not have come any more"`

	ended view.EndedJSON
	line  string // what health-wait would write about the target
}

// cameJSON is an instant that has come.
type cameJSON struct {
	Due         time.Time `json:"due"`
	LateSeconds float64   `json:"late_seconds"`
	TZ          string    `json:"tz"`
}

// goneJSON is a thing that will not come any more.
type goneJSON struct {
	Which   string `json:"which"`
	Message string `json:"message"`
}

// tell answers which came first.
func (o *anyOptions) tell(ctx context.Context, s *cli.Call, w waited) error {
	first := w.first
	t := o.things[first.thing]
	a := anyJSON{Now: s.Clock.Now().In(o.zone), Status: "came", Which: t.text, Position: first.thing + 1, Kind: t.kind,
		WaitedSeconds: cli.Seconds(o.begun.Since(s.Clock)), Gone: o.goneThings(s, w)}
	switch t.kind {
	case thingTime:
		a.Time = &cameJSON{t.time.first.In(o.zone), cli.Seconds(max(0, t.time.late(s.Clock, t.time.first))),
			o.zone.String()}
	case thingTask:
		var err error
		if a.ended, err = view.EndOf(ctx, s, o.st, first.line, view.EndedMost); err != nil {
			return err
		}
		a.Run = &a.ended.LineJSON
	case thingInbox:
		rows := []view.ItemJSON{view.AsItemJSON(context.WithoutCancel(ctx), o.st, first.mail.Items[0],
			first.mail.Now, o.zone)}
		rows[0].LeasedUntil = cli.Instant(first.mail.Until, o.zone)
		if s.InJSON {
			view.AddPrefixes(ctx, s, o.st, rows)
		}
		a.Item, a.More = &rows[0], first.mail.More
	case thingTarget:
		a.Target = new(o.health.Row(w.health, t.target))
		a.line = o.health.Line(w.health, t.target)
	}
	s.Answer(a)
	err := s.Flush()
	switch {
	case err != nil && !first.mail.Until.IsZero():
		return view.GiveBack(ctx, o.st, first.mail, err)
	case err != nil:
		return err
	case t.kind == thingTask:
		a.ended.Received(ctx, o.st)
	}
	return nil
}

// goneThings are the things that will not come any more.
func (o *anyOptions) goneThings(s *cli.Call, w waited) (list []goneJSON) {
	for i, t := range o.things {
		if why := w.gone[i]; why != nil {
			list = append(list, goneJSON{t.text, s.Says(cli.Explain(why).Message)})
		}
	}
	return list
}

// Text writes what came first, as it was given. Below it stands what the command would write that
// waits for this thing only.
func (a anyJSON) Text(o *cli.Out) {
	o.Line("%s", cli.Visible(a.Which))
	for _, g := range a.Gone {
		o.Talk("%s would not have come: %s", cli.Visible(g.Which), cli.Visible(g.Message))
	}
	switch {
	case o.Quiet:
	case a.Time != nil && a.Time.LateSeconds >= 1:
		o.Talk("it was due %s", view.Echo(a.Time.Due, a.Now))
	case a.Run != nil:
		a.ended.Text(o)
	case a.Item != nil:
		if width, terminal := o.Width(); terminal {
			a.Item.Show(o, cli.LocaleOf(o), width, 0, a.Now, true)
		} else {
			o.Line("%s", a.Item.Fields())
		}
	case a.Target != nil:
		o.Line("%s", a.line)
	}
}

// anyWaitingJSON is the answer of wait --any when --max came first, and of a dry run.
type anyWaitingJSON struct {
	Now      time.Time      `json:"now"`
	Status   string         `json:"status" enum:"waiting would_wait"`
	Things   []thingJSON    `json:"things" jsonschema:"what is waited for, in the order given"`
	Gone     []goneJSON     `json:"gone,omitempty" jsonschema:"what will not come any more"`
	Continue cli.ArgvOrNull `json:"continue,omitempty" jsonschema:"the command that goes on, for the same instants"`
	DryRun   bool           `json:"dry_run,omitempty" jsonschema:"nothing was waited for or tried: this is what would have been done"`
}

// thingJSON is the state of a thing that has not come.
type thingJSON struct {
	Which       string     `json:"which"`
	Kind        string     `json:"kind" enum:"time task inbox target"`
	Due         *time.Time `json:"due,omitempty" jsonschema:"of a time, and of a task that is due"`
	LeftSeconds *float64   `json:"left_seconds,omitempty" jsonschema:"of a time"`
	TaskID      *string    `json:"task_id,omitempty"`
	State       *string    `json:"state,omitempty" enum:"pending running paused ended" jsonschema:"of a task"`
	LastError   *string    `json:"last_error,omitempty" jsonschema:"of a target"`
}

// unfinished is the answer when nothing has come: the state of each thing.
func (o *anyOptions) unfinished(ctx context.Context, s *cli.Call, w waited) anyWaitingJSON {
	a := anyWaitingJSON{Now: s.Clock.Now().In(o.zone), Status: "waiting", Gone: o.goneThings(s, w),
		Continue: cli.GoingOn(s, o.again(s, w.gone))}
	for i, t := range o.things {
		if w.gone[i] != nil {
			continue
		}
		row := thingJSON{Which: t.text, Kind: t.kind}
		switch t.kind {
		case thingTime:
			row.Due, row.LeftSeconds = cli.Instant(t.time.first, o.zone),
				new(cli.Seconds(max(0, -t.time.late(s.Clock, t.time.first))))
		case thingTask:
			row.TaskID = &t.task.ID
			if list, err := o.st.Find(context.WithoutCancel(ctx), t.task.ID); err == nil {
				row.State, row.Due = cli.OrNull(view.StateName(list[0])), cli.Instant(view.DueOf(list[0]), o.zone)
			}
		case thingTarget:
			if len(w.health.Targets) > 0 {
				row.LastError = cli.OrNull(w.health.Targets[t.target].Last.String())
			}
		}
		a.Things = append(a.Things, row)
	}
	return a
}

// Text says what is waited for, and how to go on.
func (a anyWaitingJSON) Text(o *cli.Out) {
	words := make([]string, len(a.Things))
	for i, t := range a.Things {
		words[i] = cli.Visible(t.Which)
		for _, more := range []string{cli.Deref(t.State), cli.Visible(cli.Deref(t.LastError))} {
			if more != "" {
				words[i] += " (" + more + ")"
			}
		}
		if t.Due != nil && t.Kind == thingTime {
			words[i] += " (" + view.Echo(*t.Due, a.Now) + ")"
		}
	}
	list := strings.Join(words, ", ")
	if a.DryRun {
		o.Line("would wait for the first of: %s", list)
		return
	}
	o.Talk("still waiting for the first of: %s", list)
	o.GoOn(a.Continue)
}

// waitAny is wait --any.
func waitAny(ctx context.Context, s *cli.Call) error {
	o, err := newAny(ctx, s)
	if err != nil {
		return err
	}
	if s.DryRun {
		// A dry run tries no target: some run a command, and others are servers that would notice.
		a := o.unfinished(ctx, s, waited{})
		a.Status, a.Continue, a.DryRun = "would_wait", nil, true
		s.Answer(a)
		return nil
	}
	return runAny(ctx, s, o)
}
