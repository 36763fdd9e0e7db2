package waiting

import (
	"context"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/healthwait"
	"github.com/ouro-timer/ouro-timer/cmd/view"
)

// anyJSON is the answer of wait --any.
type anyJSON struct {
	Now           time.Time       `json:"now"`
	Status        string          `json:"status" jsonschema:"came" enum:"came"`
	Which         string          `json:"which" jsonschema:"what came first, as it was given"`
	Position      int             `json:"position" jsonschema:"its place among what was given; 1 is the first"`
	Kind          string          `json:"kind" enum:"time task inbox target" jsonschema:"says which of time, run, item and target is there"`
	WaitedSeconds float64         `json:"waited_seconds"`
	Time          *arrivedJSON    `json:"time,omitempty" jsonschema:"the instant that has come"`
	Run           *view.LineJSON  `json:"run,omitempty" jsonschema:"how the run of the task has ended, well or not"`
	Item          *view.ItemJSON  `json:"item,omitempty" jsonschema:"of the inbox, the oldest that nobody has"`
	More          int             `json:"more,omitempty" jsonschema:"of the inbox: how many others there are"`
	Target        *healthwait.Row `json:"target,omitempty" jsonschema:"the target that is healthy"`
	Gone          []goneJSON      `json:"gone,omitempty" jsonschema:"the things that could not come any more"`

	ended view.EndedJSON
	line  string // what health-wait would write about the target
}

// arrivedJSON is an instant that has come.
type arrivedJSON struct {
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
		a.Time = &arrivedJSON{t.time.first.In(o.zone), cli.Seconds(max(0, t.time.late(s.Clock, t.time.first))),
			o.zone.String()}
	case thingTask:
		var err error
		if a.ended, err = view.EndOf(ctx, s, o.st, first.line, view.EndedOutputMost); err != nil {
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
		return view.EndLeases(ctx, o.st, first.mail, err)
	case err != nil:
		return err
	case t.kind == thingTask:
		a.ended.Acknowledge(ctx, o.st)
	}
	return nil
}

// goneThings are the things that will not come any more.
func (o *anyOptions) goneThings(s *cli.Call, w waited) (list []goneJSON) {
	for i, t := range o.things {
		if why := w.gone[i]; why != nil {
			list = append(list, goneJSON{t.text, s.Render(cli.Explain(why).Message)})
		}
	}
	return list
}

// Text writes what came first, as it was given. Below it stands what the command would write that
// waits for this thing only.
func (a anyJSON) Text(o *cli.Out) {
	o.Line("%s", cli.Visible(a.Which))
	for _, g := range a.Gone {
		o.Note("%s could not come any more: %s", cli.Visible(g.Which), cli.Visible(g.Message))
	}
	switch {
	case o.Quiet:
	case a.Time != nil && a.Time.LateSeconds >= 1:
		o.Note("it was due %s", view.Echo(a.Time.Due, a.Now))
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
		Continue: cli.ContinueWith(s, o.continueCall(s, w.gone))}
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
	o.Note("still waiting for the first of: %s", list)
	o.ShowContinue(a.Continue)
}
