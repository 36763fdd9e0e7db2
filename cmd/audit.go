package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

func auditFlag() cli.Flag {
	return &cli.BoolFlag{Name: "audit", Usage: "say whether each instant that should have been has exactly one outcome; exit 1 when not"}
}

// findingJSON is something that does not balance, as log --audit --json has it: one line each, before that of the whole.
type findingJSON struct {
	Now     time.Time  `json:"now"`
	Type    string     `json:"type" jsonschema:"finding"`
	TaskID  string     `json:"task_id"`
	ID      *string    `json:"id" jsonschema:"the occurrence whose line is odd"`
	Kind    string     `json:"kind"`
	Due     time.Time  `json:"due"`
	DueLast *time.Time `json:"due_last"`
	Count   int        `json:"count"`
}

type auditJSON struct {
	Type     string     `json:"type" jsonschema:"audit"`
	Now      time.Time  `json:"now"`
	Balanced bool       `json:"balanced"`
	Since    *time.Time `json:"since" jsonschema:"of which instants on it is; null: none"`
	Known    *time.Time `json:"known_since"`
	Tasks    int        `json:"tasks"`
	Instants int        `json:"instants"`
	Open     int        `json:"open"`
	Running  int        `json:"running" jsonschema:"of them"`
	Resting  int        `json:"resting" jsonschema:"of them: a further attempt comes"`
	Overdue  int        `json:"overdue" jsonschema:"instants that should have started by now"`
	Findings int        `json:"findings"`
	Unknown  []string   `json:"unknown"`
	Warnings []string   `json:"warnings"`
}

// audit answers log --audit, of one task or of all. The tasks are read before the ledger: what happens in between is in the ledger.
func (s *session) audit(ctx context.Context, st *files.Store, since time.Time, o when.Options) error {
	if s.cli.IsSet("number") {
		return usage("--audit looks at all of the ledger; -n has no meaning with it", "ouro-timer log --audit --since 7d narrows it")
	}
	var entries []state.Entry
	var problems []state.Problem
	var err error
	task := ""
	if len(s.args) == 1 || s.cli.IsSet("match") {
		if len(s.args) == 1 && strings.Contains(s.args[0], "/") {
			return usage("an audit is of a task, not of one occurrence", "ouro-timer log --audit "+shellQuote(strings.SplitN(s.args[0], "/", 2)[0]))
		}
		found, failed, err := s.pick(ctx, st, func(state.Entry) bool { return true })
		if err != nil {
			return err
		}
		if len(failed) > 0 {
			return pickFailure(failed[0])
		}
		entries, task = found[:1], found[0].Task.ID
	} else if entries, problems, err = st.List(ctx); err != nil {
		return err
	}
	whole, err := wholeLedger(st.Dir())
	if err != nil {
		return err
	}
	a := runner.Auditor{Whole: whole}
	more, err := st.Log(ctx, task, func(l state.Line) bool {
		a.Add(l)
		return true
	})
	if err != nil {
		return err
	}
	problems = append(problems, more...)
	_, led, err := runner.Led(ctx, st)
	if err != nil {
		return err
	}
	return s.audited(a.Result(entries, since), lateOf(entries, led, o.Now), problems, since, o)
}

// wholeLedger reports whether the ledger of a state has its first part still: pruning takes the oldest parts away.
func wholeLedger(dir string) (bool, error) {
	runs := filepath.Join(dir, "runs")
	names, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	for _, f := range names { // in the order of their names
		if strings.HasPrefix(f.Name(), "ledger-") {
			return f.Name() == "ledger-000001.jsonl", nil
		}
	}
	f, err := plainfile.Open(filepath.Join(runs, "ledger.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	head, follows := make([]byte, 16), `{"type":"ledger"` // what a file that goes on from another begins with
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	return string(head[:n]) != follows, nil
}

// lateness is what is due and has not begun.
type lateness struct {
	overdue int
	warning string // empty for none
}

// lateOf warns of instants that are due and that nobody runs.
func lateOf(entries []state.Entry, led bool, now time.Time) (l lateness) {
	for _, e := range entries {
		if !isOverdue(e, now) {
			continue
		}
		l.overdue++
		if sched, err := runner.Schedule(e.Task); err == nil && sched != nil {
			l.overdue += sched.Count(e.Due, now, instantsMost)
		}
	}
	switch {
	case l.overdue == 0:
	case led:
		l.warning = plural(l.overdue, "instant") + " should have started by now; ouro-timer doctor says why"
	default:
		l.warning = plural(l.overdue, "instant") + " should have started by now, and no runner is alive: ouro-timer run --background"
	}
	return l
}

// instantsMost bounds the counting of a task's overdue instants.
const instantsMost = 1_000_000

// claims tells apart the open claims that run, those that rest until a further attempt, and those that nobody runs: a warning each.
func claims(open []state.Record) (running, resting int, lost []string) {
	for _, r := range open {
		switch {
		case runner.Elsewhere(r.Runner) || runAlive(r) && r.Retry.IsZero():
			running++
		case !r.Retry.IsZero():
			resting++
		default:
			lost = append(lost, state.OccurrenceID(r.Task.ID, r.Number)+": its runner has ended; ouro-timer run --once accounts for it")
		}
	}
	return running, resting, lost
}

// audited tells the result.
func (s *session) audited(r runner.Audited, late lateness, problems []state.Problem, since time.Time, o when.Options) error {
	from := r.Known
	if since.After(from) {
		from = since
	}
	warnings := []string{}
	for _, p := range problems {
		warnings = append(warnings, p.Error())
		s.warn("warning: %s", visible(p.Error()))
	}
	running, resting, lost := claims(r.Claims)
	left := len(lost)
	if late.warning != "" {
		lost = append(lost, late.warning)
	}
	for _, w := range lost {
		warnings = append(warnings, w)
		if !s.json {
			s.warn("warning: %s", w)
		}
	}
	if len(r.Unknown) > 0 && !s.json {
		s.warn("warning: the ledger no longer has the schedule of %s; of what they did before its beginning nothing can be said", strings.Join(r.Unknown, ", "))
	}
	balanced := len(r.Findings) == 0
	if s.json {
		for _, f := range r.Findings {
			j := findingJSON{Now: o.Now, Type: "finding", TaskID: f.TaskID, Kind: f.Kind, Due: f.First.In(o.Zone), Count: f.Count}
			if f.Last.After(f.First) {
				j.DueLast = instant(f.Last, o.Zone)
			}
			if f.Number > 0 {
				j.ID = orNull(state.OccurrenceID(f.TaskID, f.Number))
			}
			s.emit(j)
		}
		if r.Unknown == nil {
			r.Unknown = []string{}
		}
		s.emit(auditJSON{"audit", o.Now, balanced, instant(from, o.Zone), instant(r.Known, o.Zone), r.Tasks, r.Instants, r.Open, running, resting, late.overdue, len(r.Findings), r.Unknown, warnings})
	} else {
		for _, f := range r.Findings {
			s.line("%s", findingLine(f, o.Zone))
		}
		switch {
		case r.Known.IsZero() && balanced:
			s.talk("The ledger is empty: there is nothing to audit.")
		case balanced:
			s.talk("The books balance: %s of %s, each with exactly one outcome (%d running%s%s).", plural(r.Instants, "instant"), plural(r.Tasks, "task"), running,
				alsoResting(resting), alsoLeft(left))
		default:
			s.talk("The books do not balance: %s among %s of %s.", plural(len(r.Findings), "finding"), plural(r.Instants, "instant"), plural(r.Tasks, "task"))
		}
		if !r.Known.IsZero() {
			s.talk("This is about the instants since %s; the ledger begins at %s.", when.Stamp(from.In(o.Zone)), when.Stamp(r.Known.In(o.Zone)))
		}
	}
	if !balanced {
		return exitCode(exitFailed)
	}
	return nil
}

// alsoResting says how many claims rest between two attempts; nothing for none.
func alsoResting(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return ", 1 waits for a further attempt"
	}
	return fmt.Sprintf(", %d wait for a further attempt", n)
}

func alsoLeft(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d still to be accounted for", n)
}

// findingLine is a finding as a line: the task or the occurrence, what is wrong, the instants.
func findingLine(f runner.Finding, zone *time.Location) string {
	name, text, what := f.TaskID, "", "instant"
	if f.Number > 0 {
		name = state.OccurrenceID(f.TaskID, f.Number)
	}
	switch f.Kind {
	case runner.FoundNone:
		text = "no outcome"
	case runner.FoundTwice:
		text = "more than one outcome"
	case runner.FoundUnscheduled:
		text = "an outcome, and no such instant"
	case runner.FoundCount:
		text = "a line that counts otherwise"
	case runner.FoundOutcome:
		text = "an outcome that is none"
	case runner.FoundLacking:
		text, what = "the ledger lacks it", "number"
	case runner.FoundUnmade:
		text, what = "the ledger lacks its making", "task"
	}
	span := f.First.In(zone).Format(time.RFC3339)
	if f.Last.After(f.First) {
		span += "\t" + f.Last.In(zone).Format(time.RFC3339)
	} else {
		span += "\t-"
	}
	return strings.Join([]string{name, text, plural(f.Count, what), span}, "\t")
}
