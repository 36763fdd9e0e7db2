// Package simulate has the command simulate, which replays the schedule on a virtual clock.
package simulate

import (
	"context"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// Command is the command simulate.
func Command() cli.Command {
	return cli.Command{
		Exits: []int{cli.ExitNotFound},
		Name:  "simulate", Args: "", Short: "replay the schedule on a virtual clock",
		Long: `
Runs your tasks through the runner's own decisions on a virtual clock, and shows what would run, be late, be skipped or
missed. Nothing is started, told or changed. It begins now, with the tasks as they are now, and simulates a week; --from
and --to change that. With a --from that has passed, each recurring task begins at its first instant from there on.
Every command succeeds, and takes as long as its last run did, or a second; --duration changes that.
During --down A..B the machine has no power: what runs at A is interrupted. During --suspend A..B it sleeps, and goes on
at B. --clock-step T=+D or T=-D sets the clock, when it shows T, by D. B may be a duration, counted from A.
More than 1,000,000 occurrences are refused: end sooner with --to.
With --json each outcome is a line as log --json has it, and the last line sums up; --summary answers with that line
alone, task by task.`,
		Examples: []string{
			"ouro-timer simulate",
			"ouro-timer simulate --to 1y --json",
			"ouro-timer simulate --to 24h --summary",
			"ouro-timer simulate --down 'tomorrow 1am..tomorrow 9:30am'",
			"ouro-timer simulate --suspend 'tomorrow 10pm..9h' --duration k7m2=40m",
			"ouro-timer simulate --clock-step 'tomorrow 12:00=-5h'",
			"ouro-timer simulate --file tasks.jsonl --from 2026-03-28 --to 3d",
		},
		Options: option.Rows{
			option.Option{Name: "from", Kind: option.Time, Default: "now", Help: "begin at WHEN, an instant or a date"},
			option.Option{Name: "to", Kind: option.Time, Default: cli.SpanText(defaultPeriod),
				Help: "end at WHEN, an instant, a date, or a duration from the beginning"},
			option.Option{Name: "down", Kind: option.Span, Many: true, Help: "no power during A..B; may be repeated"},
			option.Option{Name: "suspend", Kind: option.Span, Many: true,
				Help: "the machine sleeps during A..B; may be repeated"},
			option.Option{Name: "clock-step", Kind: option.Pair, Value: "T=±D", Many: true,
				Help: "when the clock shows T it is set by D: T=±D; may be repeated"},
			option.Option{Name: "duration", Kind: option.Pair, Value: "ID=D", Many: true,
				Help: "the runs of task ID take D: ID=D; may be repeated"},
			option.Option{Name: "except", Kind: option.Text, Value: "DAYS", Many: true, OrText: true, Like: "24 dec",
				Help: "all recurrences also leave out DAYS, as with at --except; may be repeated"},
			option.Option{Name: "file", Kind: option.File, Value: "TASKS",
				Help: "the tasks in TASKS, JSON lines as at --stdin jsonl takes them, instead of yours (- is standard input)"},
			option.Option{Name: "summary", Kind: option.Flag,
				Help: "only a row for each task: how many occurrences, how they ended, the first and the last"},
			cli.QuietFlag.WithHelp("print the answer alone"), cli.ZoneFlag, cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{
			{Name: "line", Of: view.StreamLine{}, Means: "an occurrence of the simulated time", Stream: true},
			{Name: "simulate", Of: simulationJSON{}, Means: "the summary, which is the last line"},
		},
		Run: runSimulate,
	}
}

// simulation is a call of simulate.
type simulation struct {
	from, to  time.Time
	zone      *time.Location
	world     *sim.World
	runTimes  map[string]time.Duration // how long the runs of a task take
	idsByName map[string]string        // the IDs of tasks by the names that the user may give them
	hasDown   bool                     // the call has --down
	except    tasks.Exceptions         // the days of --except, which all recurrences leave out
	// past means that the simulation begins before the present, so that tasks begin at their
	// instants from there on.
	past     bool
	tasks    int
	entries  []state.Entry // the tasks at the beginning
	paused   int
	outcomes int // how many outcomes there are so far
	warnings []string
}

const (
	defaultPeriod = 7 * 24 * time.Hour
	maxPeriod     = 100 * 366 * 24 * time.Hour
	defaultRun    = time.Second
)

func runSimulate(ctx context.Context, s *cli.Call) error {
	o, err := s.TimeOptions()
	if err != nil {
		return err
	}
	if len(s.Args) > 0 {
		return problem.Of(problem.T("simulate takes no arguments: it is about all tasks"),
			problem.T("%s; %s names other tasks", problem.To("simulate").With("to", "30d"), problem.Option("file")))
	}
	m := &simulation{zone: o.Zone, runTimes: map[string]time.Duration{}, idsByName: map[string]string{},
		warnings: []string{}}
	if err := m.readPeriod(s, o); err != nil {
		return err
	}
	if m.except, err = tasks.ReadExceptions(ctx, schedule.AbsoluteDays(s, s.Opt.List("except")), handover.Programs(s), o); err != nil {
		return err
	}
	begin, now := m.from, o.Now.Truncate(time.Second)
	if now.Before(begin) && !s.Opt.Has("file") {
		begin = now // the present tasks begin then
	}
	m.past = begin.Before(now)
	m.world = sim.New(begin)
	// Without claims ahead, no power failure interrupts a run before its instant.
	m.world.NoClaimAhead = true
	config, err := s.Settings()
	if err != nil {
		return err
	}
	m.world.Fate = m.fates(ctx, config.Run.Allow)
	m.world.Told = func(h sim.Happening) {
		if h.What == sim.Outcome {
			m.outcomes++
		}
	}
	if err := m.load(ctx, s, begin); err != nil {
		return err
	}
	if err := m.readDurations(s); err != nil {
		return err
	}
	if err := m.readEvents(s, o); err != nil {
		return err
	}
	m.hasDown = s.Opt.Has("down")
	if err := m.refuseTooMany(); err != nil {
		return err
	}
	m.world.Up()
	if err := m.run(ctx, s); err != nil {
		return err
	}
	return m.answer(ctx, s, o)
}

// fates returns what becomes of each run: whether [run] allow refuses it, and how long it takes.
func (m *simulation) fates(ctx context.Context, allow []string) func(state.Record) sim.Fate {
	refused := map[string]*rules.Refusal{} // by task, because a task is always refused or never
	return func(r state.Record) sim.Fate {
		f := sim.Fate{Takes: defaultRun}
		refusal, known := refused[r.Task.ID]
		if !known {
			// a command that cannot be checked in time may be allowed
			refusal, _ = runner.Forbidden(ctx, r.Task, allow)
			refused[r.Task.ID] = refusal
		}
		if refusal != nil {
			f.Err = refusal
		}
		if r.Task.Type() == state.TypeAgent {
			f.Takes = 0 // the gate's answer
		}
		if d, ok := m.runTimes[r.Task.ID]; ok {
			f.Takes = d
		}
		if r.Task.Told() {
			f.Takes = 0
		}
		return f
	}
}

// readPeriod reads --from and --to.
func (m *simulation) readPeriod(s *cli.Call, o when.Options) error {
	m.from = o.Now.Truncate(time.Second)
	if s.Opt.Has("from") {
		t, err := when.Instant(s.Opt.Text("from"), o)
		if err != nil {
			return isNot("from", s.Opt.Text("from"), "an instant",
				problem.T("try %s or %s", problem.Set("from", "2026-11-23"), problem.Set("from", "2026-11-23T09:00")))
		}
		m.from = t
	}
	m.to = m.from.Add(defaultPeriod)
	if s.Opt.Has("to") {
		text := s.Opt.Text("to")
		t, ok := spanEnd(text, m.from, o)
		if !ok {
			return isNot("to", text, "an instant or a duration",
				problem.T("try %s or %s", problem.Set("to", "30d"), problem.Set("to", "24 dec")))
		}
		m.to = t
	}
	if !m.to.After(m.from) {
		return problem.Of(problem.T("the end, %s, is not after the beginning, %s", say.Stamp(m.to.In(m.zone)),
			say.Stamp(m.from.In(m.zone))),
			problem.T("name a later %s, such as %s", problem.Option("to"), problem.Set("to", "7d")))
	}
	if m.to.Sub(m.from) > maxPeriod {
		return problem.New(problem.Limit, problem.T("that is more than 100 years"),
			problem.T("end sooner, such as %s", problem.Set("to", "1y")))
	}
	return nil
}

// isNot returns the error for a value of an option that is not what the option takes.
func isNot(name problem.Option, text, what string, hint problem.Text) error {
	return problem.Of(problem.T("%s is %s, which is not %s", name, cli.Quote(text), what), hint)
}

// spanEnd reads the end of a span: a duration from its beginning, or an instant, which may be past.
func spanEnd(text string, begin time.Time, o when.Options) (time.Time, bool) {
	text = strings.TrimSpace(text)
	after := o
	after.Now = begin
	if t, err := when.Instant("in "+text, after); err == nil {
		return t, true // as with at, days and more keep the time of day
	}
	if d, err := when.Duration(text); err == nil {
		return begin.Add(d), true
	}
	t, err := when.Instant(text, o)
	return t, err == nil
}

// readSpans reads an option with spans A..B.
func (m *simulation) readSpans(s *cli.Call, o when.Options, name problem.Option, each func(a, b time.Time)) error {
	hint := problem.T("write it as %s, or with a duration, ..6h",
		problem.Set(name, "tomorrow 1am..tomorrow 7:30am"))
	for _, text := range s.Opt.List(string(name)) {
		left, right, ok := strings.Cut(text, "..")
		if !ok {
			return isNot(name, text, "a span A..B", hint)
		}
		a, err := when.Instant(strings.TrimSpace(left), o)
		if err != nil {
			return problem.Of(problem.T("%s begins at %s, which is not an instant", name, cli.Quote(left)), hint)
		}
		b, ok := spanEnd(right, a, o)
		switch {
		case !ok:
			return problem.Of(problem.T("%s ends at %s, which is neither an instant nor a duration", name,
				cli.Quote(right)), hint)
		case b.Equal(a):
			return problem.Of(problem.T("%s %s takes no time: it ends when it begins", name, cli.Quote(text)), hint)
		case !b.After(a):
			return problem.Of(problem.T("%s %s ends before it begins", name, cli.Quote(text)),
				problem.T("give the earlier instant first: A..B"))
		case a.Before(m.from) || a.After(m.to):
			return problem.Of(problem.T("%s %s begins outside the simulated time, %s to %s", name,
				cli.Quote(text), say.Stamp(m.from.In(m.zone)), say.Stamp(m.to.In(m.zone))), outsideHint())
		}
		each(a, b)
	}
	return nil
}

// outsideHint returns the hint about an instant outside of the simulated time.
func outsideHint() problem.Text {
	return problem.T("choose %s so that it lies between them", problem.Options(" and ", "from", "to"))
}

// readEvents reads what happens to the machine: --down, --suspend and --clock-step.
func (m *simulation) readEvents(s *cli.Call, o when.Options) error {
	w := m.world
	var down []time.Time // the ends of the times without power
	if err := m.readSpans(s, o, "down", func(a, b time.Time) {
		w.When(a, func() {
			w.Power()
			down = append(down, b)
			w.When(b, func() {
				for _, until := range down {
					if until.After(w.Now()) {
						return
					}
				}
				if len(w.Runners()) == 0 {
					w.Up()
				}
			})
		})
	}); err != nil {
		return err
	}
	if err := m.readSpans(s, o, "suspend", func(a, b time.Time) {
		w.When(a, func() { w.Suspend(max(b.Sub(w.Now()), 0)) })
	}); err != nil {
		return err
	}
	step, hint := problem.Option("clock-step"),
		problem.T("write it as %s or =+90s", problem.Set("clock-step", "tomorrow 12:00=-5h"))
	for _, text := range s.Opt.List("clock-step") {
		left, right, ok := strings.Cut(text, "=")
		right = strings.TrimSpace(right)
		if !ok || right == "" || right[0] != '+' && right[0] != '-' {
			return isNot(step, text, "an instant and a change of the clock, T=+D or T=-D", hint)
		}
		at, err := when.Instant(strings.TrimSpace(left), o)
		if err != nil {
			return problem.Of(problem.T("%s is at %s, which is not an instant", step, cli.Quote(left)), hint)
		}
		d, err := when.Duration(right[1:])
		if err != nil {
			return problem.Of(problem.T("%s changes the clock by %s, which is not a duration", step, cli.Quote(right)),
				hint)
		}
		if d == 0 {
			return problem.Of(problem.T("%s %s leaves the clock as it is", step, cli.Quote(text)), hint)
		}
		if at.Before(m.from) || at.After(m.to) {
			return problem.Of(problem.T("%s %s is outside the simulated time", step, cli.Quote(text)), outsideHint())
		}
		if right[0] == '-' {
			d = -d
		}
		w.When(at, func() { w.Step(d) })
	}
	return nil
}

// readDurations reads --duration.
func (m *simulation) readDurations(s *cli.Call) error {
	for _, text := range s.Opt.List("duration") {
		name, span, ok := strings.Cut(text, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return isNot("duration", text, "a task and how long it takes",
				problem.T("write it as %s", problem.Set("duration", "k7m2=40m")))
		}
		d, err := when.Duration(strings.TrimSpace(span))
		if err != nil {
			return problem.Of(problem.T("%s %s: %s is not a duration", problem.Option("duration"),
				cli.Quote(text), cli.Quote(span)), problem.T("write it as %s", problem.Set("duration", name+"=40m")))
		}
		id, ok := m.idsByName[name]
		if !ok {
			return problem.New(problem.NotFound, problem.T("%s: there is no task %s in the simulation",
				problem.Option("duration"), cli.Quote(name)),
				problem.T("%s shows the tasks and their IDs", problem.To("ls")))
		}
		m.runTimes[id] = d
	}
	return nil
}
