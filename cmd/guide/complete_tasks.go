package guide

import (
	"bufio"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

const (
	// mostSuggested is how many tasks are suggested. Nobody reads more, and reading 10,000 tasks
	// takes too long for a key press.
	mostSuggested = 300
	// mostLines is how many lines of the ledger are read for tasks that have ended.
	mostLines = 1000
	// readAlways is how many of those tasks are read in full. More are read until readFor is over.
	// The others are described from their line alone.
	readAlways = 3
	readFor    = 12 * time.Millisecond
)

// suggestTasks returns the tasks of a kind (Command.Ids) whose IDs begin as typed and are not named
// already, in the order of their next instants. If nothing is typed yet, it reads only the next
// tasks and the latest in the ledger, and not the whole state.
func suggestTasks(ctx context.Context, s *cli.Call, ids string, named []string, beginning string) suggestions {
	st, err := s.Open()
	if err != nil {
		return suggestions{}
	}
	l := taskList{except(named), ids, s.Clock.Now()}
	// A task that cannot be read is not suggested; ls, log and doctor show it.
	if beginning != "" {
		entries, _ := st.Find(ctx, beginning)
		for _, e := range entries {
			if strings.HasPrefix(e.Task.ID, beginning) {
				l.put(e)
			}
		}
		return suggestions{words: l.words}
	}
	if ids == "live" || ids == "any" {
		_, _ = state.DueBy(ctx, st, state.EndOfTime, l.put)
	}
	if ids == "running" {
		_, _ = state.Each(ctx, st, l.put, state.Running)
		return suggestions{words: l.words}
	}
	if ids != "removed" && len(l.words) < mostSuggested {
		_, _ = state.Each(ctx, st, l.put, state.Paused)
	}
	if (ids == "removed" || ids == "any") && len(l.words) < mostSuggested {
		addLatest(ctx, s.Clock, st, &l)
	}
	return suggestions{words: l.words}
}

// suggestTags returns the tags of the next tasks, each with the first task that has it.
func suggestTags(ctx context.Context, s *cli.Call) []suggestion {
	l, read := except(nil), 0
	if st, err := s.Open(); err == nil {
		_, _ = state.Each(ctx, st, func(e state.Entry) bool {
			for _, tag := range e.Task.Tags {
				l.add(tag, aboutTask(e, s.Clock.Now()))
			}
			read++
			return read < mostSuggested
		}, state.Pending, state.Running, state.Paused)
	}
	return l.words
}

// taskList collects tasks of one kind, each once, up to mostSuggested.
type taskList struct {
	collection
	ids string
	now time.Time
}

// put adds a task of the kind, and reports whether there is room for more.
func (l *taskList) put(e state.Entry) bool {
	if len(l.words) < mostSuggested && fitsKind(e, l.ids) {
		l.add(e.Task.ID, aboutTask(e, l.now))
	}
	return len(l.words) < mostSuggested
}

// addLatest adds the tasks of the latest lines of the ledger: all of them, or those that were
// removed and not restored.
func addLatest(ctx context.Context, c clock.Clock, st state.Store, l *taskList) {
	var lines []state.Line
	decided, n := map[string]bool{}, 0 // the latest line of a task decides
	_, _, _ = st.Log(ctx, "", func(line state.Line) bool {
		n++
		if !decided[line.TaskID] && !l.seen[line.TaskID] && (l.ids == "any" || line.Type == state.LineTask) {
			decided[line.TaskID] = true
			if l.ids == "any" || line.Event == string(state.Removed) {
				lines = append(lines, line)
			}
		}
		return n < mostLines && len(l.words)+len(lines) < mostSuggested
	})
	_ = st.Spell(ctx, lines)
	for i, line := range lines {
		if i < readAlways || c.Now().Sub(l.now) < readFor {
			if entries, err := st.Find(ctx, line.TaskID); err == nil && len(entries) == 1 {
				l.put(entries[0])
			}
			continue
		}
		about := cmp.Or(line.Description, line.Text, line.When)
		l.add(line.TaskID, cli.Fit(about, 40)+", "+cmp.Or(string(line.Outcome), line.Event))
	}
}

// fitsKind reports whether a task is of a kind of Command.Ids.
func fitsKind(e state.Entry, ids string) bool {
	switch ids {
	case "live":
		return tasks.Live(e)
	case "paused":
		return e.Held
	case "running":
		return len(e.Open) > 0
	case "removed":
		return e.Phase == state.Removed
	case "waits":
		return tasks.Live(e) && e.Task.Type() == state.TypeWait
	}
	return true
}

// aboutTask says what a task does and when.
func aboutTask(e state.Entry, now time.Time) string {
	text := cli.Fit(view.Describe(e.Task), 40)
	switch {
	case len(e.Open) > 0:
		text += ", running"
	case e.Held && e.Resume.IsZero():
		text += ", paused"
	case e.Held:
		text += ", paused until " + view.Stamp(e.Resume.In(now.Location()))
	case e.Phase == state.Removed:
		text += ", removed"
	case !tasks.Live(e):
		text += ", " + cmp.Or(e.Tally.Last, string(e.Phase))
	case state.IsUnscheduled(e.Due):
		text += ", " + e.Task.When.Text
	case e.Due.After(now):
		text += ", in " + say.Distance(now.Round(time.Second), e.Due.Round(time.Second))
	default:
		text += ", due now"
	}
	if e.Task.Recurring() && tasks.Live(e) {
		text += " (" + e.Task.When.Text + ")"
	}
	return text
}

// suggestZones returns the zone in force, UTC, and the zones of the system's table zone.tab, if
// there is one. Its lines have country, position, name and remark, separated by tabs.
func suggestZones(s *cli.Call, database string) []suggestion {
	l := except(nil)
	if zone, err := s.Zone(); err == nil {
		l.add(zone.String(), "the zone in force")
	}
	l.add("UTC", "")
	f, err := os.Open(filepath.Join(database, "zone.tab"))
	if err != nil {
		return l.words
	}
	defer f.Close()
	first := len(l.words)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if fields := strings.Split(lines.Text(), "\t"); len(fields) >= 3 && !strings.HasPrefix(fields[0], "#") {
			about := fields[0]
			if len(fields) > 3 {
				about += ", " + fields[3]
			}
			l.add(fields[2], about)
		}
	}
	slices.SortFunc(l.words[first:], func(a, b suggestion) int { return strings.Compare(a.word, b.word) })
	return l.words
}
