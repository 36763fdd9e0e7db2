package cmd

import (
	"context"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

func auditFlag() cli.Flag {
	return &cli.BoolFlag{Name: "audit", Usage: "say whether each instant that should have been has exactly one outcome; exit 1 when not"}
}

// findingJSON is something that does not balance, as log --audit --json has it: one line each, before that of the whole.
type findingJSON struct {
	Type    string     `json:"type"` // finding
	TaskID  string     `json:"task_id"`
	ID      *string    `json:"id"` // the occurrence whose line is odd
	Kind    string     `json:"kind"`
	Due     time.Time  `json:"due"`
	DueLast *time.Time `json:"due_last"`
	Count   int        `json:"count"`
}

type auditJSON struct {
	Type     string     `json:"type"` // audit
	Now      time.Time  `json:"now"`
	Balanced bool       `json:"balanced"`
	Since    *time.Time `json:"since"` // of which instants on it is; null: none
	Known    *time.Time `json:"known_since"`
	Tasks    int        `json:"tasks"`
	Instants int        `json:"instants"`
	Open     int        `json:"open"`
	Findings int        `json:"findings"`
	Unknown  []string   `json:"unknown"`
	Warnings []string   `json:"warnings"`
}

// audit answers log --audit, of one task or of all. The tasks are read before the ledger: what happens in between is in the ledger.
func (s *session) audit(ctx context.Context, st state.Store, since time.Time, o when.Options) error {
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
	var a runner.Auditor
	more, err := st.Log(ctx, task, func(l state.Line) bool {
		a.Add(l)
		return true
	})
	if err != nil {
		return err
	}
	problems = append(problems, more...)
	return s.audited(a.Result(entries, since), problems, since, o)
}

// audited tells the result.
func (s *session) audited(r runner.Audited, problems []state.Problem, since time.Time, o when.Options) error {
	from := r.Known
	if since.After(from) {
		from = since
	}
	warnings := []string{}
	for _, p := range problems {
		warnings = append(warnings, p.Error())
		s.warn("warning: %s", visible(p.Error()))
	}
	if len(r.Unknown) > 0 && !s.json {
		s.warn("warning: the ledger no longer has the schedule of %s; of what they did before its beginning nothing can be said", strings.Join(r.Unknown, ", "))
	}
	balanced := len(r.Findings) == 0
	if s.json {
		for _, f := range r.Findings {
			j := findingJSON{Type: "finding", TaskID: f.TaskID, Kind: f.Kind, Due: f.First.In(o.Zone), Count: f.Count}
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
		s.emit(auditJSON{"audit", o.Now, balanced, instant(from, o.Zone), instant(r.Known, o.Zone), r.Tasks, r.Instants, r.Open, len(r.Findings), r.Unknown, warnings})
	} else {
		for _, f := range r.Findings {
			s.line("%s", findingLine(f, o.Zone))
		}
		switch {
		case r.Known.IsZero():
			s.talk("The ledger is empty: there is nothing to audit.")
		case balanced:
			s.talk("The books balance: %s of %s, each with exactly one outcome (%d running).", plural(r.Instants, "instant"), plural(r.Tasks, "task"), r.Open)
		default:
			s.talk("The books do not balance: %s among %s of %s.", plural(len(r.Findings), "finding"), plural(r.Instants, "instant"), plural(r.Tasks, "task"))
		}
		if !from.IsZero() {
			s.talk("This is about the instants since %s; the ledger begins at %s.", when.Stamp(from.In(o.Zone)), when.Stamp(r.Known.In(o.Zone)))
		}
	}
	if !balanced {
		return exitCode(exitFailed)
	}
	return nil
}

// findingLine is a finding as a line: the task or the occurrence, what is wrong, the instants.
func findingLine(f runner.Finding, zone *time.Location) string {
	name, text := f.TaskID, ""
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
	}
	span := f.First.In(zone).Format(time.RFC3339)
	if f.Last.After(f.First) {
		span += "\t" + f.Last.In(zone).Format(time.RFC3339)
	} else {
		span += "\t-"
	}
	return strings.Join([]string{name, text, plural(f.Count, "instant"), span}, "\t")
}
