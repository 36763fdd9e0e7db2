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

// taskRows are the tasks that ls lists. What is written of each is made where it is read, on all
// processors, and nothing else of it is kept: there may be very many, and how many there are is
// said before the first. On a terminal, which shows a screenful, they are kept as they are.
type taskRows struct {
	*cli.Call
	now    time.Time
	leader state.Leader
	most   int    // rows; 0 for all
	only   filter // what is listed
	phases []state.Phase
	keep   bool // entries are kept, and nothing is written

	// who is told of tasks that do not say; nil: it is not needed, or cannot be read
	standing *rules.TellDefaults

	rows    []*taskRow
	total   int  // of the tasks there are
	lost    int  // runs whose runner died, and whose end nobody has written yet
	awaited bool // there is one that needs a runner
	overdue int
	delayed int    // tasks that the leader cannot start for now
	why     string // it cannot start one of them
}

// taskRow is what is kept of a task.
type taskRow struct {
	state.Order
	text  []byte       // as it is written
	entry *state.Entry // on a terminal
	whole *listed      // with every field, or some

	other   bool   // it is not listed
	lost    bool   // its runner died
	awaited bool   // it needs a runner
	overdue bool   // it should have started
	off     string // why the leader cannot start it for now
}

// read reads the tasks of the phases.
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

// rowGarbage is how much may lie while rows are made, in percent of what is in use: with the usual
// 100 a seventh of the time goes into collecting it.
const rowGarbage = 300

// look looks at a task. It is called by many at once. One-shots whose run was lost are not among
// what is pending.
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
		var room [1 << 10]byte // most rows are shorter
		t.text = bytes.Clone(appendListed(room[:0], listed{view.AsJSON(*e, r.now), cli.OrNull(t.off), t.overdue,
			e.Phase == state.Removed, view.PolicyJSON{}}))
	default:
		t.text = []byte(taskFields(*e))
	}
	t.ID = strings.Clone(t.ID) // and not the file, of which it is a part
	return t
}

// telling is by which channels a task tells, and when; none when the configuration cannot be read.
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

// take takes a task in, and says whether more are needed of those behind it.
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
	if len(r.rows) == r.most && !r.only.any() { // those behind count as tasks that can be read
		r.total += behind
		return false
	}
	return true
}

// encoded is a value as session.emit writes it, without the line's end.
func encoded(v any) []byte {
	return bytes.TrimSuffix(cli.Encode(v), []byte{'\n'})
}

// ordered are the rows in the order of lists, which those that changed while they were read have
// left.
func (r *taskRows) ordered() []*taskRow {
	slices.SortFunc(r.rows, func(a, b *taskRow) int { return a.Order.Compare(b.Order) })
	return r.rows
}

// entries are the tasks, on a terminal.
func (r *taskRows) entries() (list []state.Entry) {
	for _, row := range r.ordered() {
		list = append(list, *row.entry)
	}
	return list
}

// listed are the tasks in JSON, when they were not written where they were read.
func (r *taskRows) listed() []listed {
	list := []listed{}
	if r.InJSON && !r.Lean() {
		for _, row := range r.ordered() {
			list = append(list, *row.whole)
		}
	}
	return list
}

// emit is Out.Emit of an answer whose tasks are the rows.
func (r *taskRows) emit(o *cli.Out, answer lsJSON) {
	const at = `"tasks":[` // nothing that a user wrote stands before it
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

// whyPostponed is why the start of a task is put off, as its runner says; empty: it is not, or
// something of it runs.
func whyPostponed(e state.Entry, leader state.Leader) string {
	if !tasks.Live(e) && len(e.Open) == 0 || e.Held ||
		slices.ContainsFunc(e.Open, func(r state.Record) bool { return runner.Alive(r.Child) }) {
		return ""
	}
	return leader.DelayOf(e.Task.ID)
}
