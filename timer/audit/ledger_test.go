package audit_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/audit"
)

// day is a time of the day that the tests are about.
func day(clock string) time.Time {
	form := "2006-01-02 15:04"
	if strings.Count(clock, ":") == 2 {
		form += ":05"
	}
	at, err := time.Parse(form, "2026-11-21 "+clock)
	if err != nil {
		panic(err)
	}
	return at
}

// every is a task that runs every five minutes from 9:05 on.
var every = state.Task{ID: "cczu", Created: day("09:00"), Revision: 1, When: state.Timing{Text: "every 5m", Kind: "interval", Zone: "UTC", Start: day("09:00")}}

// tasks are what the lines of the tests are about.
var tasks = map[string]state.Task{
	"every":  every,
	"hourly": {ID: "cczu", Created: day("09:00"), Revision: 2, When: state.Timing{Text: "every 1h", Kind: "interval", Zone: "UTC", Start: day("09:00")}},
	"again":  {ID: "cczu", Created: day("09:00"), Revision: 2, When: every.When}, // another command, say
	"once":   {ID: "cczu", Created: day("09:00"), Revision: 1, When: state.Timing{Text: "9:30", Kind: "once", Zone: "UTC"}},
	"twelve": {ID: "cczu", Created: day("09:00"), Revision: 1, When: state.Timing{Text: "every 5m", Kind: "interval", Zone: "UTC", Start: day("09:00"), Count: 2}},
}

// lines reads a ledger as tests write it, a line each:
//
//	at EVENT TASK due [given N]
//	at OUTCOME number due[..last xCOUNT] [started CLOCK] [attempts N] [rev N] [manual]
//
// A change without a task is of every; one without given says nothing about numbers, as those of older versions.
func lines(t *testing.T, text string) (list []state.Line) {
	t.Helper()
	task := every
	for row := range strings.Lines(text) {
		words := strings.Fields(row)
		if len(words) == 0 {
			continue
		}
		at, what := day(words[0]), words[1]
		rest := words[2:]
		next := func() string {
			if len(rest) == 0 {
				return ""
			}
			word := rest[0]
			rest = rest[1:]
			return word
		}
		switch what {
		case "ok", "failed", "missed", "skipped", "interrupted", "cancelled", "bogus":
			l := state.Line{Type: state.LineOccurrence, At: at, TaskID: task.ID, Count: 1, Outcome: state.Outcome(what), Attempts: 1, Revision: task.Revision}
			fmt.Sscan(next(), &l.Number)
			first, last, many := strings.Cut(next(), "..")
			due := day(first)
			if l.Due = &due; many {
				due := day(last)
				l.DueLast = &due
				fmt.Sscanf(next(), "x%d", &l.Count)
			}
			if what == "ok" || what == "failed" {
				l.Started, l.ExitCode = &due, new(int)
			}
			for len(rest) > 0 {
				switch word := next(); word {
				case "started":
					started := day(next())
					l.Started = &started
				case "attempts":
					fmt.Sscan(next(), &l.Attempts)
				case "rev":
					fmt.Sscan(next(), &l.Revision)
				case "manual":
					l.Type = state.LineManual
				case "message":
					l.ExitCode = nil
				default:
					t.Fatalf("%q in %q", word, row)
				}
			}
			list = append(list, l)
		default:
			if len(rest) > 0 && tasks[rest[0]].ID != "" {
				task = tasks[next()]
			}
			e := state.Entry{Task: task, Due: day(next())}
			l := state.TaskLine(e, what, at)
			if l.Given = nil; next() == "given" {
				l.Given = new(int)
				fmt.Sscan(next(), l.Given)
			}
			list = append(list, l)
		}
	}
	return list
}

// found are the findings of a ledger, as KIND or KIND/NUMBER and the first instant.
func found(r audit.Result) string {
	var got []string
	for _, f := range r.Findings {
		name := f.Kind
		if f.Number > 0 {
			name += fmt.Sprint("/", f.Number)
		}
		if f.Count > 1 {
			name += fmt.Sprint(" x", f.Count)
		}
		got = append(got, name+" "+f.First.Format("15:04"))
	}
	return strings.Join(got, ", ")
}

func auditOf(lines []state.Line, o audit.Options, entries ...state.Entry) audit.Result {
	a := audit.New(o)
	for _, e := range entries {
		a.Expect(e)
	}
	for _, l := range lines {
		a.Add(l)
	}
	for _, e := range entries {
		a.Stand(e)
	}
	return a.Result()
}
