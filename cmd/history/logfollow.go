package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// logPlace is the place that log --follow has reached: the last line that was told, and how much of
// the output of runs that go on.
type logPlace struct {
	state.Place
	runs map[int][2]int64 // how many bytes of standard output and standard error, by number
}

func (p logPlace) String() string {
	text := p.Place.String()
	numbers := make([]int, 0, len(p.runs))
	for n := range p.runs {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		text += fmt.Sprintf(",%d:%d:%d", n, p.runs[n][0], p.runs[n][1])
	}
	return text
}

// parseLogPlace reads --after.
func parseLogPlace(text string) (*logPlace, error) {
	bad := problem.Of(problem.T("%s %s is not a place in the ledger", problem.Option("after"), cli.Quote(text)),
		problem.T("copy it from what an earlier call ended with, or leave it out"))
	words := strings.Split(text, ",")
	at, err := state.ParsePlace(words[0])
	if err != nil {
		return nil, bad
	}
	p := &logPlace{at, map[int][2]int64{}}
	for _, word := range words[1:] {
		part := strings.Split(word, ":")
		if len(part) != 3 {
			return nil, bad
		}
		var numbers [3]int64
		for i := range part {
			if numbers[i], err = strconv.ParseInt(part[i], 10, 64); err != nil || numbers[i] < 0 {
				return nil, bad
			}
		}
		p.runs[int(numbers[0])] = [2]int64{numbers[1], numbers[2]}
	}
	return p, nil
}

// logPause is the least time between two looks, so that many lines are read at once.
const logPause = 10 * time.Millisecond

// followLog answers log --follow. It sets the watch before the first look, so that it misses
// nothing in between.
func followLog(ctx context.Context, s *cli.Call, st state.Store, o logOptions, known bool) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if o.most > 0 {
		limited, cancel = cli.Within(ctx, s.Clock, o.most)
	}
	defer cancel()
	changed, err := st.WatchLog(limited, o.task)
	if err != nil {
		return err
	}
	f := &logFollower{Call: s, st: st, o: &o, runs: map[int]*runOutput{}}
	defer f.close()
	gone := cli.ReaderGone(s.World.Out)
	over, err := f.begin(limited, known)
	for err == nil && !over {
		if err = s.Flush(); err != nil {
			return err
		}
		select {
		case <-limited.Done():
		case <-gone:
			s.Line("") // the reader has gone; the write ends this program as it ends any writer
			return s.Flush()
		case <-changed:
			over, err = f.round(limited, false)
		}
		if err == nil && !over {
			err = s.Clock.For(limited, logPause)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && limited.Err() != nil:
		return f.bounded()
	}
	return err
}

// logFollower writes entries and output as they come.
type logFollower struct {
	*cli.Call
	st    state.Store
	o     *logOptions
	at    state.Place
	runs  map[int]*runOutput // the runs of the task that go on
	begun bool               // the entries of the past were told
	told  bool               // the occurrence that the call names has ended
	lost  error              // why nothing can be written any more
}

// begin tells the entries of the past that the call asks for, and the runs that go on.
func (f *logFollower) begin(ctx context.Context, known bool) (over bool, err error) {
	past, err := f.o.past(ctx, f.st)
	if err != nil {
		return false, err
	}
	if err := f.o.missing(ctx, f.Call, f.st, past, known); err != nil {
		return false, err
	}
	f.tellProblems(past.problems)
	f.at, f.begun = past.end, true
	if f.o.after != nil {
		f.at = f.o.after.Place
		for n, at := range f.o.after.runs {
			f.runs[n] = newRunOutput(f.st, f.o.task, n, at)
		}
		return f.round(ctx, true)
	}
	for _, l := range past.lines {
		if f.told = f.told || f.o.number > 0; f.InJSON {
			f.Emit(view.ToldLine{LineJSON: lineWithOutput(ctx, f.st, f.o, l), Now: f.o.now})
		} else {
			logEntry(ctx, &f.Out, f.st, f.o, l, past.told)
		}
	}
	switch running := runningNow(past.open, f.o.now); {
	case running != "":
		f.Talk("%s", running)
	case len(past.open) > 0:
		f.Talk("The runner of %s died; the next one accounts for it: %s run --background",
			state.OccurrenceID(f.o.task, past.open[0].Number), f.Program())
	case f.o.one() && len(past.lines) == 0 && !f.o.numbered:
		f.Talk("Task %s has not run yet.", f.o.task)
	}
	for _, r := range past.open {
		if f.o.number == 0 || f.o.number == r.Number {
			f.runs[r.Number] = newRunOutput(f.st, f.o.task, r.Number, [2]int64{-1, -1})
		}
	}
	return f.round(ctx, true)
}

// round tells what is new. It reports whether nothing more can come. With look it asks the task
// although there is no new line.
func (f *logFollower) round(ctx context.Context, look bool) (over bool, err error) {
	for {
		lines, err := f.lines(ctx)
		if err != nil || f.lost != nil {
			return false, errors.Join(err, f.lost)
		}
		if !f.o.one() {
			return false, nil
		}
		open, _, err := f.st.Open(ctx)
		if err != nil {
			return false, err
		}
		for _, r := range open {
			if r.Task.ID == f.o.task && r.Number > 0 && f.runs[r.Number] == nil &&
				(f.o.number == 0 || f.o.number == r.Number) {
				f.runs[r.Number] = newRunOutput(f.st, f.o.task, r.Number, [2]int64{})
			}
		}
		for _, n := range f.numbers() {
			f.drain(ctx, f.runs[n], nil)
		}
		switch {
		case f.lost != nil:
			return false, f.lost
		case over && lines == 0: // the lines of the end of the task were read before
			return true, nil
		case f.o.number > 0:
			return f.told, nil
		case lines == 0 && !look:
			return false, nil
		}
		look = false
		list, err := f.st.Find(ctx, f.o.task)
		switch {
		case errors.Is(err, state.ErrNotFound):
			over = true
		case err != nil:
			return false, err
		default:
			e := list[0]
			over = len(e.Open) == 0 && (e.Phase == state.Ended || e.Phase == state.Removed)
		}
		if !over {
			return false, nil
		}
	}
}

// lines tells the new lines, and reports how many are about the task or occurrence that is
// followed.
func (f *logFollower) lines(ctx context.Context) (n int, err error) {
	next, problems, err := f.st.After(ctx, "", f.at, func(l state.Line) bool {
		if f.o.one() && l.TaskID != f.o.task {
			return true
		}
		n++
		if l.Lacks() {
			one := []state.Line{l}
			if f.lost = f.st.Spell(context.WithoutCancel(ctx), one); f.lost != nil {
				return false
			}
			l = one[0]
		}
		f.entry(context.WithoutCancel(ctx), l)
		return f.lost == nil
	})
	f.at = next
	f.tellProblems(problems)
	if n > 0 && err == nil {
		f.lost = errors.Join(f.lost, f.Flush())
	}
	return n, err
}

// entry tells a line, after the rest of the output of its run.
func (f *logFollower) entry(ctx context.Context, l state.Line) {
	if f.o.number > 0 && f.o.shows(l) && l.Type != state.LineDelivery {
		f.told = true
	}
	shown := f.o.shows(l)
	streamed := false
	if r := f.runs[l.Number]; l.Number > 0 && r != nil {
		f.drain(ctx, r, &l)
		r.close()
		delete(f.runs, l.Number)
		streamed = true
	}
	if !shown {
		return
	}
	if f.o.one() && !streamed && l.Started != nil { // the run began and ended between two looks
		r := newRunOutput(f.st, f.o.task, l.Number, [2]int64{})
		f.drain(ctx, r, &l)
		r.close()
	}
	if f.InJSON {
		f.Emit(view.ToldLine{LineJSON: view.AsLineJSON(l, f.o.now.Location()), Now: f.Clock.Now().In(f.o.zone)})
		return
	}
	logEntryAlone(&f.Out, f.o, l, nil)
}

// tellProblems tells what could not be read.
func (f *logFollower) tellProblems(list []state.Problem) {
	if !f.InJSON {
		problems(f.Call, list)
		return
	}
	for _, p := range list {
		now := f.Clock.Now().In(f.o.zone)
		f.Emit(view.ProblemJSON{Type: "problem", At: now, Text: p.Error(), Now: now})
	}
}

// followedJSON is the last line of log --follow when --max was reached.
type followedJSON struct {
	Now      time.Time `json:"now"`
	Status   string    `json:"status"`
	ID       *string   `json:"id,omitempty"`
	Continue []string  `json:"continue,omitempty"`

	most time.Duration
}

// Text writes the call that goes on.
func (a followedJSON) Text(o *cli.Out) {
	o.Warn("followed for %s, as --max says", a.most)
	o.Advise("go on: %s", cli.ShellLine(a.Continue))
}

// bounded ends the call at --max, and answers with the call that goes on.
func (f *logFollower) bounded() error {
	place := logPlace{f.at, map[int][2]int64{}}
	for n, r := range f.runs {
		place.runs[n] = [2]int64{r.streams[0].told(), r.streams[1].told()}
	}
	again := problem.To("log")
	var id *string
	if f.o.one() {
		name := f.o.task
		if f.o.number > 0 {
			name = state.OccurrenceID(name, f.o.number)
		}
		again, id = problem.To("log", name), &name
	}
	again = again.With("follow", true)
	switch {
	case f.begun:
		again = cli.With(again.With("after", place.String()), f.Opt, "max", "tz")
	case f.o.numbered:
		again = again.With("n", f.o.n)
		fallthrough
	default:
		again = cli.With(again, f.Opt, "max", "tz", "since", "after")
	}
	if len(f.o.outcomes) > 0 {
		again = again.With("outcome", strings.Join(f.o.outcomes, ","))
	}
	again = cli.With(again, f.Opt, "json", "fields")
	f.Answer(followedJSON{f.Clock.Now().In(f.o.zone), "following", id, cli.GoingOn(f.Call, again), f.o.most})
	return cli.ExitCode(cli.ExitMax)
}

// numbers are the numbers of the runs that are followed, in order.
func (f *logFollower) numbers() (list []int) {
	for n := range f.runs {
		list = append(list, n)
	}
	slices.Sort(list)
	return list
}

func (f *logFollower) close() {
	for _, r := range f.runs {
		r.close()
	}
}
