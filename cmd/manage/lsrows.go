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

// taskRows are the tasks that ls lists. The text of each row is made where the task is read, on all
// processors, and the task itself is not kept, because there may be very many and the total is
// written before the first. On a terminal, which shows a screenful, the tasks are kept.
type taskRows struct {
	*cli.Call
	now    time.Time
	leader state.Leader
	most   int    // the most rows; 0 means all
	only   filter // the tasks that are listed
	phases []state.Phase
	keep   bool // entries are kept, and no text is made

	// who is told of tasks that do not say; nil when it is not needed or cannot be read
	standing *rules.TellDefaults

	rows    []*taskRow
	total   int  // how many tasks fit
	lost    int  // how many runs have lost their runner, without an outcome yet
	awaited bool // at least one task needs a runner
	overdue int
	delayed int    // how many tasks the leader cannot start for now
	why     string // why it cannot start one of them
}

// taskRow is what is kept of a task.
type taskRow struct {
	state.Order
	text  []byte       // the row as it is written
	entry *state.Entry // the task, on a terminal
	whole *listed      // the row, with --json=full or --fields

	other   bool   // the task is not listed
	lost    bool   // the runner of its run died
	awaited bool   // the task needs a runner
	overdue bool   // the task should have started
	off     string // why the leader cannot start the task for now
}

// read reads the tasks of the phases that fit.
func (r *taskRows) read(ctx context.Context, st state.Tasks) ([]state.Problem, error) {
	l, err := st.List(ctx, r.phases...)
	if err != nil {
		return nil, err
	}
	if r.InJSON && !r.Lean() {
		if config, err := r.Settings(); err == nil {
			r.standing = &rules.TellDefaults{Channels: config.Notify.Default, On: config.Notify.On}
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(rowGarbage))
	return state.Map(ctx, l, r.look, r.take)
}

// rowGarbage is the GC percentage while rows are made. With the usual 100, collecting takes a
// seventh of the time.
const rowGarbage = 300

// look makes the row of a task. Many goroutines call it at once. One-shots whose run has lost its
// runner are no longer pending.
func (r *taskRows) look(e *state.Entry) *taskRow {
	if !r.only.fits(e) {
		return &taskRow{other: true}
	}
	t := &taskRow{lost: len(e.Open) > 0 && !tasks.IsRunning(*e)}
	if t.other = t.lost && !tasks.Live(*e) && !slices.Contains(r.phases, state.Ended); t.other {
		return t
	}
	t.Order, t.awaited, t.overdue = e.Order(), view.Awaited(*e) && !e.AtBoot(), view.IsOverdue(*e, r.now)
	if len(r.leader.Delays) > 0 {
		t.off = whyPostponed(*e, r.leader)
	}
	switch {
	case r.keep:
		kept := *e
		t.entry = &kept
	case r.InJSON && !r.Lean():
		whole := &listed{view.AsJSON(*e, r.now), cli.OrNull(t.off), t.overdue, e.Phase == state.Removed,
			view.PolicyInForce(e.Task)}
		whole.Tell, whole.TellOn = r.telling(e.Task)
		t.whole = whole
	case r.InJSON:
		var room [1 << 10]byte // most rows fit
		t.text = bytes.Clone(appendListed(room[:0], listed{view.AsJSON(*e, r.now), cli.OrNull(t.off), t.overdue,
			e.Phase == state.Removed, view.PolicyJSON{}}))
	default:
		t.text = []byte(taskFields(*e))
	}
	t.ID = strings.Clone(t.ID) // the ID is a part of the file, which would be kept with it
	return t
}

// telling returns the channels that a task tells, and when. There are none when the configuration
// cannot be read.
func (r *taskRows) telling(t state.Task) ([]string, *string) {
	if r.standing == nil {
		return nil, nil
	}
	channels, on := rules.Telling(t, *r.standing)
	if on == state.NotifyNever {
		channels = nil
	}
	return cli.ChannelWords(channels), cli.OrNull(on)
}

// take adds a row, and reports whether the rows behind it are needed.
func (r *taskRows) take(t *taskRow, behind int) bool {
	if t.lost {
		r.lost++
	}
	if t.other {
		return true
	}
	r.total++
	if r.most > 0 && len(r.rows) == r.most {
		return true
	}
	r.rows = append(r.rows, t)
	r.awaited = r.awaited || t.awaited
	switch {
	case t.off != "":
		r.delayed++
		r.why = cmp.Or(r.why, t.off)
	case t.overdue:
		r.overdue++
	}
	if len(r.rows) == r.most && !r.only.any() { // the tasks behind are counted without being read
		r.total += behind
		return false
	}
	return true
}

// encoded returns a value as Out.Emit writes it, without the end of the line.
func encoded(v any) []byte {
	return bytes.TrimSuffix(cli.Encode(v), []byte{'\n'})
}

// ordered returns the rows in the order of lists. Tasks that changed while they were read may be
// out of order.
func (r *taskRows) ordered() []*taskRow {
	slices.SortFunc(r.rows, func(a, b *taskRow) int { return a.Order.Compare(b.Order) })
	return r.rows
}

// entries returns the tasks, which are kept on a terminal.
func (r *taskRows) entries() (list []state.Entry) {
	for _, row := range r.ordered() {
		list = append(list, *row.entry)
	}
	return list
}

// listed returns the rows in JSON when their text was not made where they were read.
func (r *taskRows) listed() []listed {
	list := []listed{}
	if r.InJSON && !r.Lean() {
		for _, row := range r.ordered() {
			list = append(list, *row.whole)
		}
	}
	return list
}

// emit writes an answer as Out.Emit does, with the rows as its tasks.
func (r *taskRows) emit(o *cli.Out, answer lsJSON) {
	const at = `"tasks":[` // no text of a user comes before it
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
		o.Talk("… and %s more", view.Thousands(more))
	}
}

// whyPostponed returns why the runner postponed the start of a task. It is empty when it did not,
// or when a run of the task goes on.
func whyPostponed(e state.Entry, leader state.Leader) string {
	if !tasks.Live(e) && len(e.Open) == 0 || e.Held ||
		slices.ContainsFunc(e.Open, func(r state.Record) bool { return runner.Alive(r.Child) }) {
		return ""
	}
	return leader.DelayOf(e.Task.ID)
}
