package simulate

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// simulationJSON is the last line of simulate --json.
type simulationJSON struct {
	Type        string         `json:"type" jsonschema:"simulation"`
	Now         time.Time      `json:"now"`
	From        time.Time      `json:"from"`
	To          time.Time      `json:"to"`
	Tasks       int            `json:"tasks"`
	Paused      int            `json:"paused" jsonschema:"tasks whose pause has no end"`
	Occurrences int            `json:"occurrences" jsonschema:"with an outcome"`
	Outcomes    map[string]int `json:"outcomes,omitempty" jsonschema:"the same, by outcome"`
	Late        int            `json:"late" jsonschema:"begun a second late or more"`
	Running     int            `json:"running" jsonschema:"at the end"`
	Warnings    []string       `json:"warnings,omitempty"`
	ByTask      []simulated    `json:"by_task,omitzero" jsonschema:"--summary: each task that had occurrences, the first of them first"`
	Once        *onceSummary   `json:"once,omitempty" jsonschema:"--summary: further tasks that came once; the first 20 of those are in by_task"`

	timeline []string // the lines for people
}

// answer answers with what happened in the simulated time.
func (m *simulation) answer(ctx context.Context, s *cli.Call, o when.Options) error {
	sum := simulationJSON{Type: "simulation", Now: o.Now, From: m.from.In(m.zone), To: m.to.In(m.zone),
		Tasks: m.tasks, Paused: m.paused,
		Outcomes: map[string]int{}, Warnings: m.warnings}
	summary := s.Opt.Bool("summary")
	var lines []state.Line
	var tasks tally
	if _, _, err := m.world.Store.Log(ctx, "", func(l state.Line) bool {
		switch {
		case l.At.Before(m.from):
			return false
		case l.Type == state.LineTask && l.Event != state.EventFinished && l.Event != state.EventClock:
			return true
		}
		if l.Type == state.LineOccurrence {
			sum.Occurrences += l.Count
			sum.Outcomes[string(l.Outcome)] += l.Count
			if l.Late >= 1 {
				sum.Late++
			}
		}
		if summary {
			tasks.add(l, m.zone)
		} else {
			lines = append(lines, l)
		}
		return true
	}); err != nil {
		return err
	}
	open, _, err := m.world.Store.Open(ctx)
	if err != nil {
		return err
	}
	sum.Running = len(open)
	for _, w := range m.warnings {
		s.Warn("warning: %s", cli.Visible(w))
	}
	if summary {
		rows, err := tasks.rows(ctx, m.world.Store)
		if err != nil {
			return err
		}
		rows, once := view.FoldOnce(rows, func(t simulated) bool { return t.Count == 1 })
		sum.ByTask, sum.Once = rows, onceOf(once)
		s.Answer(sum)
		return nil
	}
	slices.Reverse(lines)
	if err := m.world.Store.Spell(ctx, lines); err != nil {
		return err
	}
	if s.InJSON {
		for _, l := range lines {
			row := view.AsLineJSON(l, m.zone)
			// no command has run
			row.User, row.System, row.Stdout, row.Stderr, row.ExitCode = nil, nil, nil, nil, nil
			s.Emit(view.StreamLine{LineJSON: row, Now: o.Now})
		}
	}
	sum.timeline = timeline(lines, m.zone)
	s.Answer(sum)
	return nil
}

// Text writes the timeline, and sums up.
func (a simulationJSON) Text(o *cli.Out) {
	width, terminal := o.Width()
	times := cli.LocaleOf(o)
	at := func(t time.Time) string { return times.Format(t, view.ListedInstant) }
	var rows [][]string
	for _, t := range a.ByTask {
		last := ""
		if t.Last != nil {
			last = "… " + at(*t.Last)
		}
		rows = append(rows, []string{t.ID, view.Thousands(t.Count) + " ×", at(t.First), last,
			"(" + outcomeCounts(t.Outcomes) + ")", cli.Visible(t.Summary)})
	}
	lines := cli.InColumns(rows)
	if t := a.Once; t != nil {
		lines = append(lines, fmt.Sprintf("and %s more that came once  %s … %s  (%s)", view.Thousands(t.Count),
			at(t.First), at(t.Last), outcomeCounts(t.Outcomes)))
	}
	for _, text := range append(lines, a.timeline...) {
		if terminal {
			text = cli.Fit(text, width)
		}
		o.Line("%s", text)
	}
	o.Note("%s", a.sentence())
}

// sentence sums up the simulation for people.
func (a simulationJSON) sentence() string {
	text := fmt.Sprintf("From %s to %s: %s of %s", say.Stamp(a.From), say.Stamp(a.To),
		cli.Plural(a.Occurrences, "occurrence"), cli.Plural(a.Tasks, "task"))
	if counts := outcomeCounts(a.Outcomes); counts != "" {
		text += " (" + counts + ")"
	}
	if a.Late > 0 {
		text += fmt.Sprintf(", %d of them late", a.Late)
	}
	if a.Running > 0 {
		text += fmt.Sprintf("; %d still running", a.Running)
	}
	if a.Paused > 0 {
		text += "; " + cli.Plural(a.Paused, "task") + " paused throughout"
	}
	return text + "."
}

// outcomeCounts returns the numbers of outcomes in words: 3 ok, 1 failed.
func outcomeCounts(outcomes map[string]int) string {
	var parts []string
	for _, o := range []state.Outcome{state.OK, state.Failed, state.TimedOut, state.Interrupted, state.Missed,
		state.Skipped, state.Cancelled} {
		if n := outcomes[string(o)]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	return strings.Join(parts, ", ")
}

// simulated sums up the occurrences of a task.
type simulated struct {
	ID       string         `json:"id"`
	Summary  string         `json:"summary" jsonschema:"what it does, in a few words"`
	Count    int            `json:"count"`
	Outcomes map[string]int `json:"outcomes"`
	Late     int            `json:"late,omitempty" jsonschema:"begun a second late or more"`
	First    time.Time      `json:"first"`
	Last     *time.Time     `json:"last,omitempty" jsonschema:"absent: count is 1"`

	latest time.Time
}

// onceSummary sums up tasks that had one occurrence each.
type onceSummary struct {
	Count    int            `json:"count"`
	Outcomes map[string]int `json:"outcomes"`
	First    time.Time      `json:"first"`
	Last     time.Time      `json:"last"`
}

// onceOf sums up tasks that had one occurrence each; nil for none.
func onceOf(list []simulated) *onceSummary {
	if len(list) == 0 {
		return nil
	}
	once := &onceSummary{len(list), map[string]int{}, list[0].First, list[len(list)-1].First}
	for _, t := range list {
		for outcome, n := range t.Outcomes {
			once.Outcomes[outcome] += n
		}
	}
	return once
}

// tally sums up the occurrences of each task. It keeps one line of each task, and not all of them.
type tally struct {
	at    map[string]int // the index of each task in the lists
	list  []simulated
	lines []state.Line
}

// add counts a line of the ledger.
func (y *tally) add(l state.Line, zone *time.Location) {
	if l.Type != state.LineOccurrence || l.Due == nil {
		return
	}
	i, seen := y.at[l.TaskID]
	if !seen {
		if y.at == nil {
			y.at = map[string]int{}
		}
		i = len(y.list)
		y.at[l.TaskID] = i
		y.list = append(y.list, simulated{ID: l.TaskID, Outcomes: map[string]int{}, First: l.Due.In(zone)})
		y.lines = append(y.lines, l)
	}
	t := &y.list[i]
	t.Count += l.Count
	t.Outcomes[string(l.Outcome)] += l.Count
	if l.Late >= 1 {
		t.Late++
	}
	if l.Due.Before(t.First) {
		t.First = l.Due.In(zone)
	}
	last := *l.Due
	if l.DueLast != nil {
		last = *l.DueLast
	}
	if last.After(t.latest) {
		t.latest = last
	}
}

// rows returns the sums, those of the task that came first first.
func (y *tally) rows(ctx context.Context, texts state.Ledger) ([]simulated, error) {
	if err := texts.Spell(ctx, y.lines); err != nil {
		return nil, err
	}
	list := append([]simulated{}, y.list...)
	for i, t := range list {
		list[i].Summary = y.lines[i].Description
		if t.Count > 1 {
			list[i].Last = cli.Instant(t.latest, t.First.Location())
		}
	}
	slices.SortFunc(list, func(a, b simulated) int {
		return cmp.Or(a.First.Compare(b.First), strings.Compare(a.ID, b.ID))
	})
	return list, nil
}

// timeline returns the rows of all days. Equal lines of a day become one row when they are many,
// and a row of equal days becomes one day.
func timeline(lines []state.Line, zone *time.Location) (out []string) {
	type day struct {
		date time.Time
		rows []string
	}
	slices.SortStableFunc(lines, func(a, b state.Line) int { return instantOf(a).Compare(instantOf(b)) })
	var days []day
	for i := 0; i < len(lines); {
		at := instantOf(lines[i]).In(zone)
		n := i
		for n < len(lines) && onDay(instantOf(lines[n]).In(zone), at) {
			n++
		}
		days = append(days, day{at, rows(lines[i:n], zone)})
		i = n
	}
	for i := 0; i < len(days); {
		n := i + 1
		for n < len(days) && slices.Equal(days[n].rows, days[i].rows) && onDay(days[n].date, days[n-1].date.AddDate(0, 0, 1)) {
			n++
		}
		out = append(out, days[i].date.Format("Mon 2 Jan 2006"))
		out = append(out, days[i].rows...)
		if n-i > 1 {
			out = append(out, fmt.Sprintf("  … and so on, each day until %s (%s more)",
				days[n-1].date.Format("Mon 2 Jan 2006"), cli.Plural(n-i-1, "day")))
		}
		i = n
	}
	return out
}

// onDay reports whether two instants have the same date.
func onDay(a, b time.Time) bool { return a.Format(time.DateOnly) == b.Format(time.DateOnly) }

// instantOf returns the instant of a line in the timeline: the start of a run, or else its due
// instant.
func instantOf(l state.Line) time.Time {
	switch {
	case l.Started != nil:
		return *l.Started
	case l.Due != nil && l.Type != state.LineTask:
		return *l.Due
	}
	return l.At
}

// maxEqualRows is how many equal rows of a task a day has at most; more become one row.
const maxEqualRows = 3

// rows returns the rows of a day.
func rows(lines []state.Line, zone *time.Location) (out []string) {
	alike := map[string][]int{}
	for i, l := range lines {
		alike[sameness(l)] = append(alike[sameness(l)], i)
	}
	for i, l := range lines {
		same := alike[sameness(l)]
		if len(same) <= maxEqualRows {
			out = append(out, row(l, hourOf(instantOf(l), zone), l.Count, zone))
			continue
		}
		if same[0] != i {
			continue
		}
		n := 0
		for _, j := range same {
			n += lines[j].Count
		}
		out = append(out, row(l, hourOf(instantOf(l), zone)+" … "+
			hourOf(instantOf(lines[same[len(same)-1]]), zone), n, zone))
	}
	return out
}

// sameness returns a key that is equal for lines with equal results.
func sameness(l state.Line) string {
	return fmt.Sprint(l.TaskID, l.Type, l.Event, l.Outcome, l.Reason, l.Late >= 1, l.Count > 1, l.Attempts)
}

// hourOf returns the time of day, with seconds unless they are 0.
func hourOf(t time.Time, zone *time.Location) string {
	t = t.In(zone)
	if t.Second() == 0 {
		return t.Format("15:04")
	}
	return t.Format("15:04:05")
}

func row(l state.Line, at string, n int, zone *time.Location) string {
	what := string(l.Outcome)
	if l.Type == state.LineTask {
		what = map[string]string{state.EventFinished: "ended",
			state.EventClock: "the clock was put back; it goes on from now"}[l.Event]
	}
	if n > 1 {
		what += fmt.Sprintf(" ×%d", n)
	}
	if l.Reason != "" {
		what += " (" + reasonWords(l.Reason) + ")"
	}
	if l.Late >= 1 && l.Due != nil && l.Started != nil {
		what += ", late by " + say.Distance(*l.Due, l.Started.In(zone))
	}
	if l.DueLast != nil {
		at += " … " + hourOf(*l.DueLast, zone)
	}
	return strings.TrimRight(fmt.Sprintf("  %-19s  %s  %-9s  %s", at, l.TaskID, what, cli.Visible(l.Description)), " ")
}

// reasonWords returns a reason for people.
func reasonWords(reason string) string {
	if words, ok := map[string]string{
		"coalesced": "a later run makes up for it", "window": "past its window",
		"catchup": "missed instants are not caught up", "cap": "beyond the 100 that are caught up",
		"clock_back": "the clock shows it for the second time", "overlap": "the run before had not ended",
		"paused": "it was paused", "replaced": "a later run took its place", "runner_died": "the power went",
		"next_due": "the next instant came first", "exit_unknown": "it outlived its runner",
		"memory": "it took more memory than it may",
	}[reason]; ok {
		return words
	}
	return cli.Visible(reason)
}
