package cmd

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

func logCommand() command {
	return command{
		name: "log", args: "[<id>]", short: "how runs ended, and their output",
		long: `
Without an ID: the last 20 entries of the ledger, oldest first; in a pipe as tab-separated fields: written, occurrence
or task, outcome or event, exit code or signal, seconds late, what it is. With the ID of a task: its last run and what
it wrote; with that of an occurrence (k7m2/3): that one. -n asks for more. With --json the texts of the output come
with an ID only. Every due instant ends with one outcome: ok, failed, timeout, interrupted (the runner or the machine
died), missed, skipped or cancelled. --audit holds the whole ledger to that: it names the instants with no outcome or with
more than one, says since when it can know, and exits 1 when there are any.`,
		examples: []string{"ouro-timer log", "ouro-timer log k7m2", "ouro-timer log -n 50 --since 2h --json", "ouro-timer log --audit --since 7d"},
		ids:      "any",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "number", Aliases: []string{"n"}, Usage: "show at most `N` entries (default 20; 1 with an ID)"},
			&cli.StringFlag{Name: "since", Usage: "only what was written since `WHEN`: a duration back from now (2h), or a date or instant"},
			auditFlag(), matchFlag(), zoneFlag(), jsonFlag(),
		},
		run: runLog,
	}
}

// lineJSON is a line of the ledger as log and run --json show it.
type lineJSON struct {
	Type        string      `json:"type"`
	At          time.Time   `json:"at"`
	ID          *string     `json:"id"`
	TaskID      string      `json:"task_id"`
	Event       *string     `json:"event"`
	When        *string     `json:"when"`
	Due         *time.Time  `json:"due"`
	DueLast     *time.Time  `json:"due_last"`
	Count       *int        `json:"count"`
	Outcome     *string     `json:"outcome"`
	Reason      *string     `json:"reason"`
	Started     *time.Time  `json:"started"`
	Ended       *time.Time  `json:"ended"`
	LateSeconds *float64    `json:"late_seconds"`
	Attempts    *int        `json:"attempts"`
	ExitCode    *int        `json:"exit_code"`
	Signal      *string     `json:"signal"`
	Description *string     `json:"description"`
	Text        *string     `json:"text"`
	Stdout      *outputJSON `json:"stdout"`
	Stderr      *outputJSON `json:"stderr"`
}

// outputJSON is what a run wrote to one stream. The text is left out (null) in lists of many tasks.
type outputJSON struct {
	Text      *string `json:"text"`
	Bytes     int64   `json:"bytes"`
	Truncated bool    `json:"truncated"`
}

// asLineJSON is a ledger line in the shape of lineJSON, without the texts of its output.
func asLineJSON(l state.Line, zone *time.Location) lineJSON {
	in := func(t *time.Time) *time.Time {
		if t == nil {
			return nil
		}
		return instant(*t, zone)
	}
	j := lineJSON{Type: l.Type, At: l.At.In(zone), TaskID: l.TaskID, Event: orNull(l.Event), When: orNull(l.When),
		Due: in(l.Due), DueLast: in(l.DueLast), Outcome: orNull(string(l.Outcome)), Reason: orNull(l.Reason),
		Started: in(l.Started), Ended: in(l.Ended), ExitCode: l.ExitCode,
		Signal: orNull(l.Signal), Description: orNull(l.Description), Text: orNull(l.Text)}
	if l.Number > 0 {
		j.ID = orNull(state.OccurrenceID(l.TaskID, l.Number))
	}
	if l.Type != state.LineTask {
		j.Count = &l.Count
	}
	if l.Outcome.Ran() && l.Number > 0 {
		j.LateSeconds, j.Attempts = &l.Late, &l.Attempts
	}
	if l.Started != nil && l.Number > 0 {
		j.Stdout = &outputJSON{Bytes: l.Stdout.Bytes, Truncated: l.Stdout.Truncated}
		j.Stderr = &outputJSON{Bytes: l.Stderr.Bytes, Truncated: l.Stderr.Truncated}
	}
	return j
}

// outputMost is how much of a run's output is shown at the most.
const outputMost = 64 << 10

func runLog(ctx context.Context, s *session) error {
	n := s.cli.Int("number")
	if s.cli.IsSet("number") && n < 1 {
		return usage("-n must be 1 or more", "leave it out for 20, or 1 with an ID")
	}
	if len(s.args) > 1 {
		return usage("log takes one ID", "ouro-timer log "+shellQuote(s.args[0]))
	}
	o, err := s.options()
	if err != nil {
		return err
	}
	since, err := s.since(o)
	if err != nil {
		return err
	}
	st, err := s.open()
	if err != nil {
		return err
	}
	if s.cli.Bool("audit") {
		return s.audit(ctx, st, since, o)
	}
	var task, running, number = "", "", 0
	one := len(s.args) == 1 || s.cli.IsSet("match")
	if one {
		found, failed, err := s.pick(ctx, st, func(state.Entry) bool { return true })
		if err != nil {
			return err
		}
		if len(failed) > 0 {
			return pickFailure(failed[0])
		}
		task, running = found[0].Task.ID, runningNow(found[0], o.Now)
		if len(s.args) == 1 {
			if _, after, ok := strings.Cut(s.args[0], "/"); ok {
				if _, err := fmt.Sscanf(after, "%d", &number); err != nil || number < 1 {
					return usage(quote(s.args[0])+" names no occurrence", "write it as "+state.OccurrenceID(task, 1))
				}
			}
		}
	}
	if n == 0 {
		n = 20
		if one {
			n = 1
		}
	}
	var lines []state.Line
	more := false
	problems, err := st.Log(ctx, task, func(l state.Line) bool {
		switch {
		case !since.IsZero() && l.At.Before(since):
			return false
		case one && l.Type == state.LineTask && !s.cli.IsSet("number"):
			return true // the last run was asked for
		case number > 0 && l.Number != number:
			return true
		case len(lines) == n:
			more = true
			return false
		}
		lines = append(lines, l)
		return number == 0
	})
	if err != nil {
		return err
	}
	for _, p := range problems {
		s.warn("warning: %s", visible(p.Error()))
	}
	if number > 0 && len(lines) == 0 && running == "" {
		return &failure{exit: exitNotFound, code: "not_found", message: "the ledger has no occurrence " + state.OccurrenceID(task, number), hint: "ouro-timer log " + task + " -n 20 shows the latest"}
	}
	slices.Reverse(lines)
	if s.json {
		return s.logJSON(st, lines, o.Now, one, more, running != "", problems)
	}
	switch {
	case running != "":
		s.talk("%s", running)
	case len(lines) == 0 && one:
		s.talk("Task %s has not run yet.", task)
	case len(lines) == 0:
		s.talk("Nothing has happened yet.")
	}
	width, terminal := terminalWidth(s.Out, s.Getenv)
	for _, l := range lines {
		switch {
		case terminal:
			s.line("%s", fit(logLine(l, o.Zone, !one), width))
		case one:
			s.line("%s", logLine(l, o.Zone, false))
		default:
			s.line("%s", logFields(l, o.Zone))
		}
		if one && l.Number > 0 {
			s.output(st, l)
		}
	}
	return nil
}

// logFields is a ledger line for a pipe: when it was written, the occurrence or task, how it ended or what happened to
// the task, its exit code or signal, by how many seconds it was late, and what it is; - for what there is not.
func logFields(l state.Line, zone *time.Location) string {
	name, what, end, late := l.TaskID, l.Event, "-", "-"
	if l.Type != state.LineTask {
		name, what = state.OccurrenceID(l.TaskID, l.Number), string(l.Outcome)
	}
	switch {
	case l.Signal != "":
		end = l.Signal
	case l.ExitCode != nil:
		end = strconv.Itoa(*l.ExitCode)
	case l.Reason != "":
		end = visible(l.Reason)
	}
	if l.Started != nil {
		late = strconv.FormatFloat(l.Late, 'f', 3, 64)
	}
	return strings.Join([]string{l.At.In(zone).Format(time.RFC3339), name, what, end, late, visible(l.Description)}, "\t")
}

// runningNow says which runs of a task are going on, or is empty.
func runningNow(e state.Entry, now time.Time) string {
	if !isRunning(e) {
		return ""
	}
	var runs []string
	for _, r := range e.Open {
		text := state.OccurrenceID(e.Task.ID, r.Number)
		if !r.Started.IsZero() {
			text += " for " + when.Distance(r.Started, now)
		}
		runs = append(runs, text)
	}
	return "Running: " + strings.Join(runs, ", ") + "."
}

// since reads --since: a duration back from now, or an instant, which may lie in the past.
func (s *session) since(o when.Options) (time.Time, error) {
	if !s.cli.IsSet("since") {
		return time.Time{}, nil
	}
	text := strings.TrimSpace(s.cli.String("since"))
	if d, err := when.Duration(text); err == nil {
		return o.Now.Add(-d), nil
	}
	if t, err := when.Instant(text, o); err == nil {
		return t, nil
	}
	return time.Time{}, usage("--since is "+quote(text)+", neither a duration back from now nor an instant", "try --since 2h, --since 2026-11-21 or --since 2026-11-21T09:00")
}

// logJSON answers with the lines as JSON. The ledger is not read to its end, so the total is not known.
func (s *session) logJSON(st state.Store, lines []state.Line, now time.Time, texts, more, running bool, problems []state.Problem) error {
	rows := make([]lineJSON, len(lines))
	for i, l := range lines {
		rows[i] = asLineJSON(l, now.Location())
		if texts && rows[i].Stdout != nil {
			stdout, stderr := st.OutputPaths(l.TaskID, l.Number)
			rows[i].Stdout.read(stdout)
			rows[i].Stderr.read(stderr)
		}
	}
	left := 0
	if more {
		left = 1
	}
	s.emit(struct {
		Now      time.Time  `json:"now"`
		Total    *int       `json:"total"`
		More     int        `json:"more"`
		Running  bool       `json:"running"` // a run of the task asked for is going on
		Log      []lineJSON `json:"log"`
		Problems []string   `json:"problems"`
	}{now, nil, left, running, rows, problemTexts(problems)})
	return nil
}

// read fills in the text of a stream, cut to what may be shown. A file that is gone (only the latest runs keep theirs)
// leaves it null.
func (j *outputJSON) read(path string) {
	text, cut, err := proc.ReadTail(path, outputMost)
	if err != nil {
		return
	}
	valid := strings.ToValidUTF8(string(text), "\uFFFD")
	j.Text = &valid
	j.Truncated = j.Truncated || cut
}

// logLine is a ledger line as a person reads it.
func logLine(l state.Line, zone *time.Location, withTask bool) string {
	at := l.At.In(zone).Format("2006-01-02 15:04:05")
	name := l.TaskID
	if l.Number > 0 {
		name = state.OccurrenceID(l.TaskID, l.Number)
	}
	text := at + "  " + pad(name, 8) + "  "
	if l.Type == state.LineTask {
		text += l.Event
		if l.When != "" {
			text += ": " + visible(l.When)
		}
	} else {
		text += outcomeWords(l)
	}
	if withTask && l.Description != "" && l.Description != l.Text {
		text += "  " + visible(l.Description)
	}
	return text
}

// outcomeWords says how an occurrence ended.
func outcomeWords(l state.Line) string {
	text := string(l.Outcome)
	var extra []string
	if l.ExitCode != nil && *l.ExitCode != 0 {
		extra = append(extra, fmt.Sprintf("exit code %d", *l.ExitCode))
	}
	if l.Signal != "" {
		extra = append(extra, l.Signal)
	}
	if l.Reason != "" {
		extra = append(extra, visible(l.Reason))
	}
	if l.Outcome == state.Failed && l.Text != "" {
		extra = append(extra, visible(l.Text))
	}
	if l.Count > 1 {
		extra = append(extra, plural(l.Count, "instant"))
	}
	if l.Started != nil && l.Ended != nil {
		extra = append(extra, "took "+l.Ended.Sub(*l.Started).Round(time.Millisecond).String())
	}
	if l.Late >= 1 {
		extra = append(extra, "late by "+time.Duration(l.Late*float64(time.Second)).Round(time.Second).String())
	}
	if len(extra) > 0 {
		text += " (" + strings.Join(extra, ", ") + ")"
	}
	if l.Outcome == state.OK && l.Text != "" {
		text += ": " + visible(l.Text)
	}
	return text
}

// output writes what a run wrote: standard output as it is, then what it wrote to standard error. Only a terminal gets its control
// characters written out; a pipe gets the bytes.
func (s *session) output(st state.Store, l state.Line) {
	stdout, stderr := st.OutputPaths(l.TaskID, l.Number)
	_, terminal := terminalWidth(s.Out, s.Getenv)
	for _, stream := range []struct {
		path, title string
		was         state.Output
	}{{stdout, "", l.Stdout}, {stderr, "standard error:", l.Stderr}} {
		if stream.was.Bytes == 0 {
			continue
		}
		text, cut, err := proc.ReadTail(stream.path, outputMost)
		if os.IsNotExist(err) {
			s.line("(output of %d bytes is no longer kept)", stream.was.Bytes)
			continue
		}
		if err != nil {
			s.warn("warning: %v", err)
			continue
		}
		if stream.title != "" {
			s.line("%s", stream.title)
		}
		if cut {
			s.line("… (the end of %d bytes; all that is kept is in %s)", stream.was.Bytes, stream.path)
		}
		if terminal {
			for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
				s.line("%s", strings.ReplaceAll(visible(line), `\t`, "\t"))
			}
			continue
		}
		_, _ = s.out.Write(text) // flush tells
		if len(text) > 0 && text[len(text)-1] != '\n' {
			s.line("")
		}
	}
}
