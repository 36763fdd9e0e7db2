package manage

import (
	"bytes"
	"cmp"
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// taskRows are the tasks that ls lists. The goroutines that read the tasks make the text of each
// row, and do not keep the task: there may be very many, and their number is written before the
// first of them. For a calendar or a table the tasks are kept.
type taskRows struct {
	*cli.Call
	now     time.Time
	leader  state.Leader
	maxRows int    // the most rows; 0 means all
	only    filter // the tasks that are listed
	phases  []state.Phase
	keep    bool // tasks are kept, and no text is made

	// whom a task tells that names nobody; nil when that is not needed or cannot be read
	defaults *rules.TellDefaults

	rows    []*taskRow
	total   int  // how many tasks fit the filter
	lost    int  // how many tasks have a run whose runner died, without an outcome yet
	awaited bool // at least one task needs a runner
	overdue int
	delayed int    // how many tasks the leader cannot start for now
	why     string // why the leader cannot start one of them
}

// taskRow is what is kept of a task that was read.
type taskRow struct {
	state.Order
	text  []byte       // the row as it is written
	entry *state.Entry // the task, for a calendar or a table
	whole *listed      // the row, with --json=full or --fields

	unlisted  bool   // the task is not listed
	lost      bool   // the runner of its run died
	awaited   bool   // the task needs a runner
	overdue   bool   // the task should have started
	postponed string // why the leader cannot start the task for now
}

// read reads the tasks of r.phases, and keeps those that fit the filter.
func (r *taskRows) read(ctx context.Context, st state.Tasks) ([]state.Problem, error) {
	l, err := st.List(ctx, r.phases...)
	if err != nil {
		return nil, err
	}
	if r.InJSON && !r.Compact() {
		if config, err := r.Settings(); err == nil {
			r.defaults = &rules.TellDefaults{Channels: config.Notify.Default, On: config.Notify.On}
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(rowGCPercent))
	return state.Map(ctx, l, r.makeRow, r.addRow)
}

// rowGCPercent is the target of the garbage collector while rows are made. With the usual 100 the
// collector takes a seventh of the time.
const rowGCPercent = 300

// makeRow makes the row of a task. Many goroutines call it at once. A one-shot whose runner died
// during the run is not live any more, and listed only with tasks that have ended.
func (r *taskRows) makeRow(e *state.Entry) *taskRow {
	if !r.only.fits(e) {
		return &taskRow{unlisted: true}
	}
	t := &taskRow{lost: len(e.Open) > 0 && !tasks.IsRunning(*e)}
	if t.unlisted = t.lost && view.StateName(*e) == string(state.Ended) && !slices.Contains(r.phases, state.Ended); t.unlisted {
		return t
	}
	t.Order, t.awaited, t.overdue = e.Order(), view.NeedsRunner(*e) && !e.AtBoot(), view.IsOverdue(*e, r.now)
	if !e.Held {
		t.Due = cmp.Or(view.DueOf(*e), e.Due) // of one that waits for its next attempt they differ
	}
	if len(r.leader.Delays) > 0 {
		t.postponed = whyPostponed(*e, r.leader)
	}
	switch {
	case r.keep:
		kept := *e
		t.entry = &kept
	case r.InJSON && !r.Compact():
		whole := &listed{view.AsJSON(*e, r.now), cli.OrNull(t.postponed), t.overdue, e.Phase == state.Removed,
			view.PolicyInForce(e.Task)}
		whole.Tell, whole.TellOn = r.telling(e.Task)
		t.whole = whole
	case r.InJSON:
		var buffer [1 << 10]byte // large enough for most rows
		t.text = bytes.Clone(appendListed(buffer[:0], listed{view.AsJSON(*e, r.now), cli.OrNull(t.postponed), t.overdue,
			e.Phase == state.Removed, view.PolicyJSON{}}))
	default:
		t.text = []byte(taskFields(*e))
	}
	t.ID = strings.Clone(t.ID) // a part of the text of the file would keep all of it
	return t
}

// telling returns the channels by which a task tells, and when. There are none when the
// configuration cannot be read.
func (r *taskRows) telling(t state.Task) ([]string, *string) {
	if r.defaults == nil {
		return nil, nil
	}
	channels, on := rules.Telling(t, *r.defaults)
	if on == state.NotifyNever {
		channels = nil
	}
	return cli.ChannelWords(channels), cli.OrNull(on)
}

// addRow adds a row, and reports whether more rows are needed. following is how many tasks come
// after it.
func (r *taskRows) addRow(t *taskRow, following int) bool {
	if t.lost {
		r.lost++
	}
	if t.unlisted {
		return true
	}
	r.total++
	if r.maxRows > 0 && len(r.rows) == r.maxRows {
		return true
	}
	r.rows = append(r.rows, t)
	r.awaited = r.awaited || t.awaited
	switch {
	case t.postponed != "":
		r.delayed++
		r.why = cmp.Or(r.why, t.postponed)
	case t.overdue:
		r.overdue++
	}
	if len(r.rows) == r.maxRows && !r.only.active() { // the others are counted without being read
		r.total += following
		return false
	}
	return true
}

// encoded returns a value as Out.Emit writes it, without the line break.
func encoded(v any) []byte {
	return bytes.TrimSuffix(cli.Encode(v), []byte{'\n'})
}

// ordered returns the rows in the order of lists. They come in that order, unless tasks change
// while they are read.
func (r *taskRows) ordered() []*taskRow {
	slices.SortFunc(r.rows, func(a, b *taskRow) int { return a.Order.Compare(b.Order) })
	return r.rows
}

// entries returns the tasks that were kept.
func (r *taskRows) entries() (list []state.Entry) {
	for _, row := range r.ordered() {
		list = append(list, *row.entry)
	}
	return list
}

// wholeRows returns the rows with --json=full or --fields, and otherwise none.
func (r *taskRows) wholeRows() []listed {
	list := []listed{}
	if r.InJSON && !r.Compact() {
		for _, row := range r.ordered() {
			list = append(list, *row.whole)
		}
	}
	return list
}

// emit writes an answer as Out.Emit does, with the rows as its tasks.
func (r *taskRows) emit(o *cli.Out, answer lsJSON) {
	const at = `"tasks":[` // its first place is the field, because no text of a user comes before
	before, after, _ := bytes.Cut(encoded(answer), []byte(at))
	o.Stdout.Write(before)
	o.Stdout.WriteString(at)
	for i, row := range r.ordered() {
		if i > 0 {
			o.Stdout.WriteByte(',')
		}
		o.Stdout.Write(row.text)
	}
	o.Stdout.Write(after)
	o.Stdout.WriteByte('\n')
}

// print writes the rows as lines.
func (r *taskRows) print(o *cli.Out) {
	for _, row := range r.ordered() {
		o.Line("%s", row.text)
	}
	if more := r.total - len(r.rows); more > 0 {
		o.Note("… and %s more", view.Thousands(more))
	}
}

// whyPostponed returns why the runner postponed the start of a task; empty when it did not, or when
// a run of the task goes on.
func whyPostponed(e state.Entry, leader state.Leader) string {
	if !tasks.Live(e) && len(e.Open) == 0 || e.Held ||
		slices.ContainsFunc(e.Open, func(r state.Record) bool { return runner.Alive(r.Child) }) {
		return ""
	}
	return leader.DelayOf(e.Task.ID)
}
