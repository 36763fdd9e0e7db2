package cmd

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

func lsCommand() command {
	return command{
		name: "ls", short: "list what is pending, next first",
		long: `
On a terminal it reads like a calendar. In a pipe each task is a line of tab-separated fields: ID, due instant (or -),
state, type, time expression, what it does; line breaks and tabs in texts are written \n and \t. --before lists each
occurrence up to an instant instead: due instant, ID, what it does.`,
		examples: []string{"ouro-timer ls", `ouro-timer ls --before "tomorrow midnight"`, "ouro-timer ls --json --limit 20"},
		flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "also what has ended or was removed"},
			&cli.StringFlag{Name: "before", Usage: "list the occurrences up to `WHEN`"},
			&cli.IntFlag{Name: "limit", Usage: "show at most `N` rows and say how many more there are (default: all; 1000 with --before)"},
			zoneFlag(), jsonFlag(),
		},
		run: runLs,
	}
}

func runLs(ctx context.Context, s *session) error {
	if err := s.noArguments(); err != nil {
		return err
	}
	limit := s.cli.Int("limit")
	if limit < 0 || s.cli.IsSet("limit") && limit == 0 {
		return usage("--limit must be 1 or more", "leave it out for all")
	}
	zone, err := s.zone()
	if err != nil {
		return err
	}
	st, err := s.open()
	if err != nil {
		return err
	}
	phases := []state.Phase{state.Pending, state.Running, state.Paused}
	if s.cli.Bool("all") {
		phases = append(phases, state.Ended, state.Removed)
	}
	entries, problems, err := st.List(ctx, phases...)
	if err != nil {
		return err
	}
	for _, p := range problems {
		s.warn("warning: %s", visible(p.Error()))
		if p.Hint != "" {
			s.talk("hint: %s", visible(p.Hint))
		}
	}
	lost := 0 // runs whose runner died, and whose end nobody has written yet
	entries = slices.DeleteFunc(entries, func(e state.Entry) bool {
		if len(e.Open) == 0 || isRunning(e) {
			return false
		}
		lost++
		return !s.cli.Bool("all") && !live(e)
	})
	unread := problemTexts(problems)
	aside, err := st.Aside()
	if err != nil {
		return err
	}
	for _, path := range aside {
		unread = append(unread, path+": could not be read and was set aside")
	}
	now := s.now(zone)
	if s.cli.IsSet("before") {
		return s.listOccurrences(entries, now, limit)
	}
	total := len(entries)
	if limit > 0 && total > limit {
		entries = entries[:limit]
	}
	_, led, err := st.Led(ctx)
	if err != nil {
		return err
	}
	stranded := ""
	if !led && anyPending(entries) {
		stranded = hands{runner: runnerNone}.sentence()
	} else if !led && lost > 0 {
		stranded = "a runner died while " + plural(lost, "task") + " ran; the next one accounts for it: ouro-timer run --once"
	}
	if s.json {
		rows := make([]taskJSON, len(entries))
		for i, e := range entries {
			rows[i] = asJSON(e)
		}
		runner, warnings := runnerAlive, []string{}
		if !led {
			runner = runnerNone
		}
		if stranded != "" {
			warnings = append(warnings, stranded)
		}
		s.emit(struct {
			Now      time.Time  `json:"now"`
			Total    int        `json:"total"`
			More     int        `json:"more"`
			Tasks    []taskJSON `json:"tasks"`
			Runner   string     `json:"runner"`
			Warnings []string   `json:"warnings"`
			Problems []string   `json:"problems"`
		}{now, total, total - len(rows), rows, runner, warnings, unread})
		return nil
	}
	s.listTasks(entries, now, total)
	if stranded != "" {
		s.warn("warning: %s", stranded)
	}
	return nil
}

func problemTexts(problems []state.Problem) []string {
	texts := []string{}
	for _, p := range problems {
		texts = append(texts, p.Error())
	}
	return texts
}

func anyPending(entries []state.Entry) bool { return slices.ContainsFunc(entries, awaited) }

// listTasks writes the table: as a calendar on a terminal, as tab-separated fields elsewhere.
func (s *session) listTasks(entries []state.Entry, now time.Time, total int) {
	width, terminal := terminalWidth(s.Out, s.Getenv)
	if !terminal {
		for _, e := range entries {
			due := "-"
			if live(e) {
				due = e.Due.In(taskZone(e.Task)).Format(time.RFC3339)
			}
			s.line("%s", strings.Join([]string{e.Task.ID, due, stateName(e), e.Task.Type(), visible(e.Task.When.Text), describe(e.Task)}, "\t"))
		}
		if len(entries) == 0 {
			s.talk("%s", nothing(s.cli.Bool("all")))
		}
		if more := total - len(entries); more > 0 {
			s.talk("… and %d more", more)
		}
		return
	}
	if len(entries) == 0 {
		s.line("%s", nothing(s.cli.Bool("all")))
		return
	}
	slices.SortStableFunc(entries, func(a, b state.Entry) int { return order(a.Held) - order(b.Held) })
	day := ""
	widest := 0
	for _, e := range entries {
		widest = max(widest, len(e.Task.ID))
	}
	for _, e := range entries {
		due := e.Due.In(now.Location())
		head := dayName(due, now)
		if e.Held {
			head = "Paused"
		} else if !live(e) {
			head = "Ended"
			if e.Phase == state.Removed {
				head = "Removed"
			} else if isRunning(e) {
				head = "Running"
			}
		}
		if head != day {
			if day != "" {
				s.line("")
			}
			day = head
			s.line("%s", fit(head, width))
		}
		left, clock, column := "in "+when.Distance(now, due), "15:04:05", 24
		if width < 80 {
			left, clock, column = shortly(due.Sub(now)), "15:04", 7
		}
		switch {
		case isRunning(e):
			left = "running"
		case e.Held:
			switch {
			case column == 7:
				left = "paused"
			case e.Resume.IsZero():
				left = "until resumed"
			default:
				left = "until " + e.Resume.In(now.Location()).Format("2 Jan 2006 15:04")
			}
		case !live(e):
			left = e.Tally.Last
			if column > 7 {
				left = strings.TrimSuffix(due.Format("2 Jan 2006")+", "+left, ", ")
			}
		case !due.After(now):
			left = "now"
		}
		what := describe(e.Task)
		if e.Task.Recurring() {
			what += " (" + visible(e.Task.When.Text) + ")"
		}
		row := "  " + due.Format(clock) + "  " + pad(e.Task.ID, widest) + "  " + pad(left, column) + "  " + what
		s.line("%s", fit(row, width))
	}
	if more := total - len(entries); more > 0 {
		s.line("… and %d more", more)
	}
}

// order puts what is paused behind the rest.
func order(paused bool) int {
	if paused {
		return 1
	}
	return 0
}

// shortly is a distance in at most seven columns: 45s, 59m, 23h52m, 5d23h, 412d.
func shortly(d time.Duration) string {
	d = max(d, 0)
	h, m := int(d/time.Hour), int(d%time.Hour/time.Minute)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(m) + "m"
	case h < 24:
		return fmt.Sprintf("%dh%02dm", h, m)
	case h < 100*24:
		return fmt.Sprintf("%dd%02dh", h/24, h%24)
	}
	return strconv.Itoa(h/24) + "d"
}

// nothing is the answer when there is nothing to list.
func nothing(all bool) string {
	if all {
		return "No tasks."
	}
	return "No tasks pending."
}

// dayName is the heading of a day in the calendar.
func dayName(t, now time.Time) string {
	name := t.Format("Mon 2 Jan 2006")
	y, m, d := now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	y, m, d = t.Date()
	switch time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Sub(today) {
	case 0:
		return "Today, " + name
	case 24 * time.Hour:
		return "Tomorrow, " + name
	}
	return name
}

// mostOccurrences bounds a list of occurrences when no limit is given, countMost the counting of those of one task.
const (
	mostOccurrences = 1000
	countMost       = 1_000_000
)

// listOccurrences lists each instant up to --before at which a task is due.
func (s *session) listOccurrences(entries []state.Entry, now time.Time, limit int) error {
	o, err := s.options()
	if err != nil {
		return err
	}
	until, err := s.moment("before", o)
	if err != nil {
		return err
	}
	if limit == 0 {
		limit = mostOccurrences
	}
	type row struct {
		Due         time.Time `json:"due"`
		ID          string    `json:"id"`
		Description *string   `json:"description"`
		Summary     string    `json:"summary"`
		what        string
	}
	rows := []row{}
	total, capped := 0, false
	for _, e := range entries {
		if !live(e) || e.Held || e.Due.After(until) {
			continue
		}
		zone := taskZone(e.Task)
		add := func(due time.Time) {
			rows = append(rows, row{due.In(zone), e.Task.ID, orNull(e.Task.Description), e.Task.Summary(), describe(e.Task)})
		}
		add(e.Due)
		total++
		sched, err := runner.Schedule(e.Task)
		if err != nil || sched == nil {
			continue // ls shows what is there; doctor says what is wrong with it
		}
		n := 0
		for t, ok := sched.Next(e.Due); ok && !t.After(until) && n < limit; t, ok = sched.Next(t) {
			add(t)
			n++
		}
		all := sched.Count(e.Due, until, countMost)
		capped = capped || all == countMost
		total += all
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].Due.Before(rows[j].Due) })
	if len(rows) > limit {
		rows = rows[:limit]
	}
	counted := &total
	if capped {
		counted = nil
	}
	if s.json {
		s.emit(struct {
			Now         time.Time `json:"now"`
			Total       *int      `json:"total"` // null: more than were counted
			More        int       `json:"more"`
			Occurrences []row     `json:"occurrences"`
		}{now, counted, total - len(rows), rows})
		return nil
	}
	width, terminal := terminalWidth(s.Out, s.Getenv)
	for _, r := range rows {
		if terminal {
			s.line("%s", fit(r.Due.In(now.Location()).Format("Mon 2 Jan 2006 15:04:05")+"  "+r.ID+"  "+r.what, width))
		} else {
			s.line("%s\t%s\t%s", r.Due.Format(time.RFC3339), r.ID, r.what)
		}
	}
	switch {
	case total == 0:
		s.talk("Nothing is due before %s.", stamp(until))
	case total > len(rows):
		s.talk("… and %d more", total-len(rows))
	}
	return nil
}
