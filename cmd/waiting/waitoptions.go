package waiting

import (
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// waitOptions are the words and options of a wait, read.
type waitOptions struct {
	schedule *when.Schedule
	zone     *time.Location
	first    time.Time // the first instant to wait for
	task     string
	pace

	kind   when.Kind
	text   string       // the time as it was given
	timing state.Timing // of the task of a kept wait that comes once

	name   string        // for people: what is waited for; empty: the task says so
	notify []string      // channels that are told when it is over, also while somebody waits
	length time.Duration // of a wait for a duration; else 0
	bell   bool
	big    bool

	stream bool // --count: the call repeats by itself
	count  int  // how many times; 0 means without end
	raw    bool
	quiet  bool

	most time.Duration // how long the call may block; 0 means no bound

	// again is the call that waits for the next time, without what changes each time; empty for a
	// time that comes once.
	again problem.Call
	next  option.Line // of a resumed wait: the call for the next time, as it was kept
}

// newWait reads the words and options of a new wait.
func newWait(s *cli.Call) (waitOptions, error) {
	// The clocks are read first, so that a delay does not include the time to read the rest.
	w := waitOptions{
		pace: pace{begun: clock.Here(s.Clock)}, stream: s.Opt.Has("count"), count: 1,
		raw: s.Opt.Bool("raw"), quiet: s.Quiet,
	}
	if err := w.readCommon(s); err != nil {
		return w, err
	}
	if err := readTold(s, &w); err != nil {
		return w, err
	}
	if w.stream {
		if w.count = s.Opt.Int("count"); w.count < 0 {
			return w, problem.Of(problem.T("%s is negative", problem.Option("count")),
				problem.T("give how many times to wait, or 0 for no end"))
		}
	}
	o, err := s.TimeOptions()
	if err != nil {
		return w, err
	}
	o.Now, o.BareSeconds, w.zone = w.begun.Wall.In(o.Zone), true, o.Zone
	for flag, to := range map[string]*time.Time{"start": &o.Start, "end": &o.End} {
		if s.Opt.Has(flag) {
			if *to, err = tasks.Moment(problem.Option(flag), s.Opt.Text(flag), o); err != nil {
				return w, err
			}
		}
	}
	text, form, task, err := waitWords(s, o)
	if err != nil {
		return w, err
	}
	o.Form, w.task = form, strings.Join(task, " ")
	if w.schedule, err = when.Parse(text, o); err != nil {
		return w, err
	}
	if err := w.recur(s, text, o); err != nil {
		return w, err
	}
	w.kind, w.text = w.schedule.Kind, w.schedule.Text
	w.timing = tasks.Timing(w.schedule, o, w.first, 0, 0)
	w.timing.Wall = "" // the instant stays the same even if the rules of the zone change
	if w.schedule.Delay > 0 {
		// a bare number is seconds here, and nowhere else
		w.timing.Text, w.timing.Form = w.schedule.Canonical, ""
	}
	return w, w.expect(s)
}

// readTold reads the options about who is told: --name and --notify.
func readTold(s *cli.Call, w *waitOptions) (err error) {
	if w.name = s.Opt.Text("name"); s.Opt.Has("name") && strings.TrimSpace(w.name) == "" {
		return problem.Of(problem.T("%s is empty", problem.Option("name")),
			problem.T("say what is waited for: %s", problem.To("wait", "4m").With("name", "tea")))
	}
	if s.Opt.Has("notify") {
		w.notify, err = tasks.Channels(s.Settings, func() string { return cli.ConfigPath(s) }, s.Opt.List("notify"))
	}
	return err
}

// readCommon reads the options of new and of resumed waits: how long a call may block, and how it
// answers.
func (w *waitOptions) readCommon(s *cli.Call) (err error) {
	w.bell, w.big = s.Opt.Bool("bell"), s.Opt.Bool("big")
	switch {
	case w.raw && s.InJSON:
		return cli.Excluding("raw", "json")
	case w.big && s.InJSON:
		return cli.Excluding("big", "json")
	case w.big && w.quiet:
		return cli.Excluding("big", "quiet")
	}
	w.most, err = cli.Bound(s)
	return err
}

// recur finds the first instant to wait for. For a recurrence it also fixes the phase, and makes
// the call that waits for the next time.
func (w *waitOptions) recur(s *cli.Call, text string, o when.Options) error {
	if w.schedule.Kind == when.Once {
		// The parser does not get --count, which here counts the times that are told.
		if s.Opt.Has("count") {
			return problem.Of(problem.T("%s is for a recurrence, and %s comes once", problem.Option("count"),
				cli.Quote(w.schedule.Text)),
				problem.T("leave it out, or wait for a recurrence, such as %s or %s", problem.Set("every", "5m"),
					problem.Set("cron", "0 9 * * *")))
		}
		w.first, w.elapsed, w.length = w.schedule.At, w.schedule.Delay > 0, w.schedule.Delay
		return nil
	}
	again := problem.To("wait")
	rule := w.schedule.Canonical
	if o.Form == when.CronForm || o.Form == when.RRuleForm {
		rule = w.schedule.Text // the words of the caller
	}
	switch w.schedule.Kind {
	case when.Interval:
		if !s.Opt.Has("start") {
			w.elapsed = true
			// A phase on a whole millisecond can be written and typed again. It is rounded up,
			// because early is worse than late.
			o.Start = o.Now.Add(time.Millisecond - 1).Truncate(time.Millisecond)
			var err error
			if w.schedule, err = when.Parse(text, o); err != nil {
				return err
			}
		}
		again = again.With("interval", strings.TrimPrefix(rule, "every "))
	case when.Cron:
		again = again.With("cron", rule)
	case when.RRule:
		again = again.With("rrule", rule)
		if strings.Contains(strings.ToUpper(rule), "DTSTART") {
			break
		}
		// A rule that counts or skips days means other days with another start.
		start := w.schedule.Begin
		if start.IsZero() { // a phrase, whose times are all in the rule
			start = o.Now.Truncate(time.Minute)
		}
		again = again.With("start", start.In(w.zone).Format(time.RFC3339Nano))
	}
	if s.Opt.Has("end") {
		again = again.With("end", o.End.Format(time.RFC3339Nano))
	}
	w.again = cli.With(again, s.Opt, "tz", "name", "notify")
	first, ok := w.schedule.Next(o.Now)
	if !ok {
		return problem.New(problem.Never, problem.T("%s does not come again after %s", cli.Quote(w.schedule.Text),
			say.Stamp(o.Now)),
			problem.T("give a later %s, or leave it out", problem.Option("end")))
	}
	w.first = first
	return nil
}

// expect refuses an instant that is not the one that --expect names.
func (w *waitOptions) expect(s *cli.Call) error {
	if !s.Opt.Has("expect") {
		return nil
	}
	text := s.Opt.Text("expect")
	t, err := time.Parse(time.RFC3339, strings.TrimSpace(text))
	if err != nil {
		return problem.NoTimestamp("expect", text, w.first.In(w.zone))
	}
	if w.first.Truncate(time.Second).Equal(t.Truncate(time.Second)) {
		return nil
	}
	read := w.first.In(w.zone).Truncate(time.Second)
	return problem.New(problem.Differs, problem.T("%s is read as %s, not as %s", cli.Quote(w.schedule.Text),
		say.Stamp(read), text),
		problem.T("to wait for what you expect: %s; for the reading: %s", problem.To("wait").With("until", text),
			problem.Set("expect", read.Format(time.RFC3339))))
}
