package schedule

import (
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
)

// batchJSON is the answer of at --stdin --quiet --json: one object for all lines.
type batchJSON struct {
	Now      time.Time       `json:"now"`
	Count    int             `json:"count" jsonschema:"how many tasks the lines name: scheduled, kept and replaced"`
	Created  int             `json:"created"`
	Kept     int             `json:"kept,omitempty" jsonschema:"tasks that had the key of a line and stayed as they were"`
	Replaced int             `json:"replaced,omitempty"`
	Refused  int             `json:"refused,omitempty" jsonschema:"refused lines; errors says why"`
	First    *time.Time      `json:"first,omitempty" jsonschema:"when the first of the tasks is due"`
	Last     *time.Time      `json:"last,omitempty" jsonschema:"when the last of them is next due"`
	IDs      []string        `json:"ids" jsonschema:"the IDs of the tasks, in the order of the lines; in a dry run only of tasks that exist"`
	Errors   []lineErrorJSON `json:"errors,omitempty" jsonschema:"one for each refused line"`
	Runner   *string         `json:"runner,omitempty" jsonschema:"who runs them: alive, started, stopped or none"`
	Warnings []string        `json:"warnings,omitempty" jsonschema:"each kind once"`
	Error    *cli.ErrorJSON  `json:"error,omitempty" jsonschema:"why the call ended before the last line"`
	DryRun   bool            `json:"dry_run,omitempty" jsonschema:"nothing was scheduled: this is what would have been done"`
}

// lineErrorJSON says which line was refused, and why.
type lineErrorJSON struct {
	Line int `json:"line"`
	cli.ErrorJSON
}

// Text writes nothing, because people are answered line by line.
func (batchJSON) Text(*cli.Out) {}

// add counts the task of one line.
func (b *batchJSON) add(s *cli.Call, d *scheduled) {
	if id := d.Entry.Task.ID; id != "" {
		b.IDs = append(b.IDs, id)
	}
	due := view.DueOf(d.Entry)
	if due.IsZero() {
		return
	}
	own := s.Stamp().Location()
	if b.First == nil || due.Before(*b.First) {
		b.First = cli.Instant(due, own)
	}
	if b.Last == nil || due.After(*b.Last) {
		b.Last = cli.Instant(due, own)
	}
}

// answerBatch answers all lines at once. When an error ended the call, the answer has the error and
// what was scheduled before it.
func (in *stdin) answerBatch(ended error) error {
	b := in.batch
	b.Now, b.DryRun = in.Stamp(), in.DryRun
	b.Created, b.Kept, b.Replaced, b.Refused = in.counts.created, in.counts.kept, in.counts.replaced, in.counts.failed
	b.Count = b.Created + b.Kept + b.Replaced
	b.Runner = cli.OrNull(in.runner.h.Runner)
	b.Warnings = append(b.Warnings, in.grouped.texts(&in.Out)...)
	if ended == nil {
		in.Answer(*b)
		return nil
	}
	p := cli.Explain(ended)
	b.Error = new(in.AsErrorJSON(p))
	in.Answer(*b)
	return cli.ExitCode(p.ExitCode())
}
