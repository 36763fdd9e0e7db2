package schedule

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// requireFleet refuses an option that says where in a fleet a task runs, when there is no fleet.
func requireFleet(s *cli.Call, name string) error {
	address, err := s.StoreAddress()
	if err == nil && address == "" {
		err = problem.Of(problem.T("%s is for a fleet, and this machine is not in one", problem.Option(name)),
			problem.T("leave it out, or set store in config.toml, or OURO_STORE, to the fleet's servers"))
	}
	return err
}

// runAtEach schedules a task for each living machine that has a label. All are added at once.
func runAtEach(ctx context.Context, s *cli.Call) error {
	label := s.Opt.Text("each")
	switch {
	case s.Opt.Has("on"):
		return cli.Excluding("each", "on")
	case s.Opt.Bool("wait"):
		return problem.Of(problem.T("%s waits for one run, and %s makes a task for each machine",
			problem.Option("wait"), problem.Option("each")),
			problem.T("leave %s out; %s shows how the tasks end", problem.Option("wait"), problem.To("log")))
	case label != state.AnyNode && !state.NodeWord(label):
		return problem.Of(problem.T("%s %s is not a label", problem.Option("each"), cli.Quote(label)),
			problem.T("give a label of machines, or %s for all living machines; %s lists them",
				problem.Set("each", state.AnyNode), problem.To("fleet", "nodes")))
	}
	if err := requireFleet(s, "each"); err != nil {
		return err
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	nodes, err := labelled(ctx, st, label)
	if err != nil {
		return err
	}
	drafts, err := draftEach(ctx, s, nodes)
	if err != nil {
		return err
	}
	list := make([]*tasks.Change, len(drafts))
	for i, d := range drafts {
		list[i] = d.Change
	}
	answer := eachJSON{Now: s.Stamp(), Each: label, Tasks: []eachTaskJSON{}, DryRun: s.DryRun}
	var done []*scheduled
	var entries []state.Entry
	for i, r := range tasks.AddAll(ctx, st, runnerStarter(s, st), list) {
		row := eachRow(s, nodes[i], drafts[i], r)
		if row.refused != nil {
			answer.worst = max(answer.worst, row.refused.ExitCode())
		} else {
			done, entries = append(done, row.of), append(entries, r.Entry)
		}
		answer.Tasks = append(answer.Tasks, row)
	}
	warnings := answer.ensureRunner(ctx, s, st, done, entries)
	s.Answer(answer)
	if err := s.Flush(); err != nil && !s.DryRun && len(entries) > 0 {
		p := cli.Explain(err)
		return p.Saying(problem.T("%s scheduled, but %s", cli.Plural(len(entries), "task"), p.Message))
	}
	s.WarnAll(warnings)
	if answer.worst != cli.ExitOK {
		return cli.ExitCode(answer.worst)
	}
	return nil
}

// eachRow returns what became of the task of one machine.
func eachRow(s *cli.Call, node string, draft Draft, r tasks.Result) eachTaskJSON {
	if r.Err != nil {
		refused := cli.Explain(r.Err)
		return eachTaskJSON{Node: node, Error: new(s.AsErrorJSON(refused)), refused: refused}
	}
	of := &scheduled{Done: r.Done, warnings: draft.warnings, dry: s.DryRun}
	return eachTaskJSON{Node: node, ID: cli.OrNull(r.Entry.Task.ID), Key: r.Entry.Task.Key,
		Due:     cli.Instant(view.DueOf(r.Entry), of.zone()),
		Created: r.Created, Replaced: r.Replaced, Differs: r.Differs, of: of}
}

// labelled returns the names of the living machines that accept tasks and have a label, in order.
func labelled(ctx context.Context, st state.Store, label string) (names []string, err error) {
	shared, ok := state.SharedBy(st)
	if !ok {
		return nil, nil // requireFleet has refused that
	}
	living, err := shared.Living(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range living {
		if !n.Fits([]string{label}) {
			continue
		}
		for _, other := range living {
			if other.Name != n.Name && slices.Contains(other.Labels, n.Name) {
				return nil, problem.New(problem.Failed,
					problem.T("%s is the name of a machine and a label of %s: a task for one could run on the other",
						n.Name, other.Name),
					problem.T("rename one of them: set name or labels under [node] of its config.toml"))
			}
		}
		names = append(names, n.Name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return nil, problem.New(problem.NotFound, problem.T("no living runner has the label %s", cli.Quote(label)),
			problem.T("%s lists the living machines and their labels; drained machines get no task",
				problem.To("fleet", "nodes")))
	}
	return names, nil
}

// draftEach makes, of the words of the call, a draft for each node. All are read at the same
// instant. @ and the node's name are appended to a key.
func draftEach(ctx context.Context, s *cli.Call, nodes []string) ([]Draft, error) {
	one := *s
	one.Present = s.Clock.Now()
	spec, err := specOf(&one)
	if err != nil {
		return nil, err
	}
	drafts := make([]Draft, len(nodes))
	for i, node := range nodes {
		each := spec
		each.On = []string{node}
		// drafted refuses an empty key, which has to stay empty for that.
		if spec.Key != nil && strings.TrimSpace(*spec.Key) != "" {
			each.Key = new(*spec.Key + "@" + node)
		}
		if drafts[i], err = drafted(ctx, &one, each); err != nil {
			return nil, hintForUnmarked(&one, each, hintForAt1(&one, each, err))
		}
	}
	return drafts, nil
}

// eachJSON is the answer of at --each.
type eachJSON struct {
	Now      time.Time      `json:"now"`
	Each     string         `json:"each" jsonschema:"the label"`
	Tasks    []eachTaskJSON `json:"tasks" jsonschema:"one for each living machine that has the label, in the order of their names"`
	Runner   string         `json:"runner,omitempty" enum:"alive started stopped none"`
	Warnings []string       `json:"warnings,omitempty"`
	DryRun   bool           `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`

	worst int
}

// eachTaskJSON is the answer about the task of one machine.
type eachTaskJSON struct {
	Node     string         `json:"node"`
	ID       *string        `json:"id,omitempty" jsonschema:"absent: it would get one, but for --dry-run; or it was refused"`
	Key      string         `json:"key,omitempty" jsonschema:"the key of the call, @ and the node"`
	Due      *time.Time     `json:"due,omitempty"`
	Created  bool           `json:"created"`
	Replaced bool           `json:"replaced,omitempty"`
	Differs  []string       `json:"differs,omitempty"`
	Error    *cli.ErrorJSON `json:"error,omitempty" jsonschema:"why there is none on this machine"`

	of      *scheduled
	refused *problem.Problem
}

// ensureRunner makes sure that a runner runs the tasks, and returns the warnings of all, each once.
func (a *eachJSON) ensureRunner(ctx context.Context, s *cli.Call, st state.Store, done []*scheduled,
	entries []state.Entry) (warnings []cli.Warning) {
	if len(done) == 0 {
		return nil
	}
	h := handover.HandOver(ctx, s, st, entries...)
	a.Runner = h.Runner
	seen, checked := map[string]bool{}, map[string]bool{}
	for _, d := range done {
		d.addWarnings(s, h, checked)
		for _, w := range d.warnings {
			if text := s.Render(w.Text); !seen[text] {
				seen[text] = true
				warnings = append(warnings, w)
			}
		}
	}
	a.Warnings = s.WarningTexts(warnings)
	return warnings
}

// Text writes a sentence for each node; with --quiet it writes the IDs.
func (a eachJSON) Text(o *cli.Out) {
	noted := map[string]bool{}
	for _, row := range a.Tasks {
		switch {
		case row.of == nil:
			o.ShowProblem(cli.Visible(row.Node)+": ", row.refused)
		case o.Quiet && row.ID != nil:
			o.Line("%s", *row.ID)
		case o.Quiet:
		default:
			o.Line("%s: %s", cli.Visible(row.Node), row.of.sentence())
			if text := row.of.differences(); text != "" {
				o.Line("%s", text)
			}
			for _, note := range row.of.notes() {
				if !noted[note] {
					noted[note] = true
					o.Note("note: %s", cli.Visible(note))
				}
			}
		}
	}
}
