package transfer

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// kindJSONL is the form that export writes. The tasks are made as they were, and not read anew.
const kindJSONL = formJSONL

// importJSONL makes the tasks of an export. It keeps a task that exists already, with the same key
// or with the same content.
func importJSONL(ctx context.Context, s *cli.Call) error {
	if len(s.Args) != 2 {
		return problem.Of(problem.T("import jsonl takes one file, or - for standard input"),
			problem.T("%s", problem.To("import", kindJSONL, "tasks.jsonl")))
	}
	for _, odd := range []problem.Option{"prune", "group", "user", "system", "as-me"} {
		if s.Opt.Has(string(odd)) {
			return problem.Of(problem.T("%s has no meaning for tasks that have keys of their own",
				problem.Option(odd)), problem.T("leave it out"))
		}
	}
	text, err := readSource(ctx, s, s.Args[1])
	if err != nil {
		return err
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	a := planJSON{Now: s.Stamp(), Source: s.Args[1], Tasks: []plannedJSON{}, Written: s.Opt.Bool("write") && !s.DryRun}
	existing := map[string]state.Entry{}
	if _, err := state.Each(ctx, st, func(e state.Entry) bool {
		if tasks.Live(e) {
			existing[content(e.Task)] = e
		}
		return true
	}, state.Pending, state.Running, state.Paused); err != nil {
		return err
	}
	if !a.Written {
		st = state.Preview(st)
	}
	list := savedLines(text)
	if err := addSaved(ctx, s, st, list, existing); err != nil {
		return err
	}
	for _, l := range list {
		about := fmt.Sprintf("line %d", l.line)
		if l.err != nil {
			p := cli.Explain(l.err)
			a.Refused = append(a.Refused, refusedJSON{l.line, l.text, s.AsErrorJSON(p), p, about})
			continue
		}
		l.row.Line, l.row.prefix = l.line, about
		a.add(l.row)
	}
	return a.conclude(ctx, s, st)
}

// content is a task without its ID and its revision, as a text that can be compared.
func content(t state.Task) string {
	t.ID, t.Revision = "", 0
	data, _ := codec.Encode(t)
	return string(data)
}

// savedLine is a line of jsonl, and what became of it.
type savedLine struct {
	line  int
	text  string
	saved saved
	task  state.Task
	done  bool
	row   plannedJSON
	err   error
}

// savedLines reads an export.
func savedLines(text string) (list []*savedLine) {
	for i, line := range strings.Split(strings.TrimPrefix(text, "\xef\xbb\xbf"), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		l := &savedLine{line: i + 1, text: line}
		l.saved, l.task, l.err = readSavedTask(line)
		l.done = l.err != nil
		list = append(list, l)
	}
	return list
}

// addSaved makes the tasks of all lines. A task that waits for others is made after those, and
// waits for the IDs that they have here. Its error means that ctx has ended.
func addSaved(ctx context.Context, s *cli.Call, st state.Store, list []*savedLine, existing map[string]state.Entry) error {
	ids := map[string]string{} // from the old IDs to the new ones
	for more := true; more; {
		more = false
		for _, l := range list {
			if l.done || !useNewIDs(&l.task.When, ids) {
				continue
			}
			id := l.task.ID
			l.row, l.err = addSavedTask(ctx, s, st, l.saved, l.task, existing)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			l.done, more = true, true
			switch {
			case l.err != nil:
			case l.row.ID == nil: // without --write it has no ID
				ids[id] = id
			default:
				ids[id] = *l.row.ID
			}
		}
	}
	for _, l := range list {
		if !l.done {
			l.err = whyNotAdded(l.task, list, ids)
		}
	}
	return nil
}

// useNewIDs lets a task wait for the IDs that others have here. It returns false when one of them
// has none yet.
func useNewIDs(t *state.Timing, ids map[string]string) bool {
	if len(t.After) == 0 {
		return true
	}
	after := map[string]string{}
	for id, on := range t.After {
		if ids[id] == "" {
			return false
		}
		after[ids[id]] = on
	}
	t.After = after
	t.Text = t.AfterText()
	return true
}

// whyNotAdded says why a task that waits for others cannot be made.
func whyNotAdded(t state.Task, list []*savedLine, ids map[string]string) error {
	for _, a := range t.When.Awaits() {
		switch {
		case ids[a.ID] != "":
		case slices.ContainsFunc(list, func(l *savedLine) bool { return l.task.ID == a.ID }):
			return problem.Of(problem.T("task %s waits for task %s, which was refused or waits for this one",
				t.ID, a.ID), problem.T("correct that line first"))
		default:
			return problem.Of(problem.T("task %s waits for task %s, which the file does not have", t.ID, a.ID),
				problem.T("schedule it anew: %s", problem.To("at", "WHEN").Running(t.Run.Argv...)))
		}
	}
	return nil
}

// addSavedTask makes a task as it was saved: with its due instant, and paused if it was.
func addSavedTask(ctx context.Context, s *cli.Call, st state.Store, was saved, t state.Task,
	existing map[string]state.Entry) (_ plannedJSON, err error) {
	if t.Run.Env["OURO_HOME"] != "" { // its runs find this state
		if t.Run.Env["OURO_HOME"], err = s.Home(); err != nil {
			return plannedJSON{}, err
		}
	}
	if e, is := existing[content(t)]; is {
		return plannedTask(e, "keep"), nil
	}
	if t.When.OfBoots() { // it comes from the next boot of this machine on
		t.When.Boot = proc.Boot()
	}
	if _, err := rules.Schedule(t); err != nil {
		return plannedJSON{}, err
	}
	if err := cli.CheckAllowed(ctx, s, t); err != nil {
		return plannedJSON{}, err
	}
	id := t.ID
	t.ID, t.Revision, t.Origin = "", 0, ""
	if t.Origin, err = cli.Origin(s); err != nil {
		return plannedJSON{}, err
	}
	done, err := (&tasks.Change{World: tasks.World{Clock: s.Clock}, Task: t, Due: was.Due}).Add(ctx, st,
		func(context.Context) bool { return false })
	if err != nil {
		return plannedJSON{}, err
	}
	if !done.Created {
		return plannedTask(done.Entry, "keep"), nil
	}
	if was.Paused && done.Entry.Task.ID != "" {
		var resume time.Time
		if was.Resume != nil {
			resume = *was.Resume
		}
		if done.Entry, err = st.Pause(ctx, done.Entry.Task.ID, resume, s.Clock.Now()); err != nil {
			return plannedJSON{}, err
		}
	}
	row := plannedTask(done.Entry, "create")
	row.Key = cmp.Or(row.Key, id)
	return row, nil
}

// readSavedTask reads a line of jsonl.
func readSavedTask(line string) (was saved, t state.Task, err error) {
	refused := func(why string) (saved, state.Task, error) {
		return was, t, problem.Of(problem.T("%s", why),
			problem.T("give what %s has written", problem.To("export", formJSONL)))
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(line)))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	var odd *json.UnmarshalTypeError
	if err := dec.Decode(&was); errors.As(err, &odd) && odd.Field == "" {
		return refused("it is not a task: a " + odd.Value + " and not an object")
	} else if errors.As(err, &odd) {
		return refused("it is not a task: " + odd.Field + " is a " + odd.Value)
	} else if err != nil {
		return refused("it is not a task: " + err.Error())
	}
	if dec.More() || was.Task == nil || was.Due.IsZero() {
		return refused("it is not a task: task and due are missing, or something follows them")
	}
	data, err := codec.Encode(withNumbers(was.Task))
	if err != nil {
		return refused("it is not a task: " + err.Error())
	}
	t, unknown, err := codec.DecodeTask(data)
	if err != nil {
		return refused("it is not a task: " + err.Error())
	}
	if names := codec.Names(unknown); len(names) > 0 {
		return refused("it has what this version does not know: " + strings.Join(names, ", "))
	}
	return was, t, nil
}

// withNumbers returns a value of JSON with numbers in the types of TOML.
func withNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = withNumbers(value)
		}
	case []any:
		for i, value := range v {
			v[i] = withNumbers(value)
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	}
	return v
}
