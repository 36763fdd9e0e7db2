package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// logPlace is the place that log --follow has reached: the last line that was shown, and how much
// of the output of the runs that go on.
type logPlace struct {
	state.Place
	runs map[int][2]int64 // how many bytes of standard output and standard error, by number
}

func (p logPlace) String() string {
	text := p.Place.String()
	for _, n := range slices.Sorted(maps.Keys(p.runs)) {
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

// logPause is the least time between two reads of the ledger, so that many lines are read at once.
const logPause = 10 * time.Millisecond

// followLog answers log --follow. It begins to watch before it reads, so that it misses nothing in
// between.
func followLog(ctx context.Context, s *cli.Call, st state.Store, o logOptions, known bool) error {
	limited, cancel := cli.WithBound(ctx, s.Clock, o.bound)
	defer cancel()
	changed, err := st.WatchLog(limited, o.task)
	if err != nil {
		return err
	}
	f := &logFollower{Call: s, st: st, o: &o, runs: map[int]*runOutput{}}
	defer func() {
		for _, r := range f.runs {
			r.close()
		}
	}()
	gone := cli.ReaderGone(s.World.Out)
	over, err := f.showPast(limited, known)
	for err == nil && !over {
		if err = s.Flush(); err != nil {
			return err
		}
		select {
		case <-limited.Done():
		case <-gone:
			s.Line("") // nobody reads: writing ends this program by SIGPIPE, as it does any writer
			return s.Flush()
		case <-changed:
			over, err = f.showNew(limited, false)
		}
		if err == nil && !over {
			err = s.Clock.For(limited, logPause)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && limited.Err() != nil:
		return f.endAtMax()
	}
	return err
}

// logFollower writes entries and output as they come.
type logFollower struct {
	*cli.Call
	st              state.Store
	o               *logOptions
	place           state.Place        // what has been read of the ledger
	runs            map[int]*runOutput // the runs of the task that go on
	pastShown       bool               // the entries of the past were shown
	occurrenceEnded bool               // the occurrence that the call names has ended
	fatal           error              // why it cannot go on
}

// showPast shows the entries of the past that the call asks for, and the runs that go on.
func (f *logFollower) showPast(ctx context.Context, known bool) (over bool, err error) {
	past, err := f.o.past(ctx, f.st)
	if err != nil {
		return false, err
	}
	if err := f.o.notFound(ctx, f.Call, f.st, past, known); err != nil {
		return false, err
	}
	f.showProblems(past.problems)
	f.place, f.pastShown = past.end, true
	if f.o.after != nil {
		if f.place = f.o.after.Place; f.place.After(past.end) {
			if err := beyond(ctx, f.st, f.place, past.end); err != nil {
				return false, err
			}
		}
		for n, at := range f.o.after.runs {
			f.runs[n] = newRunOutput(f.st, f.o.task, n, at)
		}
		return f.showNew(ctx, true)
	}
	f.occurrenceEnded = f.o.occurrence > 0 && len(past.lines) > 0
	for _, l := range past.lines {
		if f.InJSON {
			f.Emit(view.StreamLine{LineJSON: lineOf(ctx, f.st, f.o, l), Now: f.o.now})
		} else {
			logEntry(ctx, &f.Out, f.st, f.o, l, past.deliveries)
		}
	}
	switch running := runningNow(past.open, f.o.now); {
	case running != "":
		f.Note("%s", running)
	case len(past.open) > 0:
		f.Note("The runner of %s died; the next one accounts for it: %s run --background",
			state.OccurrenceID(f.o.task, past.open[0].Number), f.Program())
	case f.o.namesTask() && len(past.lines) == 0 && !f.o.hasLimit:
		f.Note("Task %s has not run yet.", f.o.task)
	}
	for _, r := range past.open {
		if f.o.occurrence == 0 || f.o.occurrence == r.Number {
			f.runs[r.Number] = newRunOutput(f.st, f.o.task, r.Number, [2]int64{-1, -1})
		}
	}
	return f.showNew(ctx, true)
}

// beyond is the problem of a place after the end of the ledger, whose next lines would be passed
// over. When all lines were dropped, the end is where the first would begin.
func beyond(ctx context.Context, st state.Ledger, at, end state.Place) error {
	gone, _, err := st.Gone(ctx)
	if err != nil || !at.After(gone.To) {
		return err
	}
	if gone.To.After(end) {
		end = gone.To
	}
	return problem.Of(problem.T("%s %s is after the end of the ledger, which is %s", problem.Option("after"),
		cli.Quote(at.String()), end.String()),
		problem.T("%s goes on from its end", problem.To("log").With("follow", true).With("after", end.String())))
}

// showNew shows what is new, and reports whether nothing more can come. With askTask it looks
// whether the task is over even when there is no new line.
func (f *logFollower) showNew(ctx context.Context, askTask bool) (over bool, err error) {
	for {
		lines, err := f.showLines(ctx)
		if err != nil || f.fatal != nil {
			return false, errors.Join(err, f.fatal)
		}
		if !f.o.namesTask() {
			return false, nil
		}
		open, _, err := f.st.Open(ctx)
		if err != nil {
			return false, err
		}
		for _, r := range open {
			if r.Task.ID == f.o.task && r.Number > 0 && f.runs[r.Number] == nil &&
				(f.o.occurrence == 0 || f.o.occurrence == r.Number) {
				f.runs[r.Number] = newRunOutput(f.st, f.o.task, r.Number, [2]int64{})
			}
		}
		for _, n := range slices.Sorted(maps.Keys(f.runs)) {
			f.showOutput(ctx, f.runs[n], nil)
		}
		switch {
		case f.fatal != nil:
			return false, f.fatal
		case over && lines == 0: // the task is over, and no line has come since
			return true, nil
		case f.o.occurrence > 0:
			return f.occurrenceEnded, nil
		case lines == 0 && !askTask:
			return false, nil
		}
		askTask = false
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

// showLines shows the new lines of the ledger, and reports how many of them are about the followed
// task.
func (f *logFollower) showLines(ctx context.Context) (n int, err error) {
	next, problems, err := f.st.After(ctx, "", f.place, func(l state.Line) bool {
		if f.o.namesTask() && l.TaskID != f.o.task {
			return true
		}
		n++
		if l.Lacks() {
			one := []state.Line{l}
			if f.fatal = f.st.Spell(context.WithoutCancel(ctx), one); f.fatal != nil {
				return false
			}
			l = one[0]
		}
		f.showLine(context.WithoutCancel(ctx), l)
		return f.fatal == nil
	})
	f.place = next
	f.showProblems(problems)
	if n > 0 && err == nil {
		f.fatal = errors.Join(f.fatal, f.Flush())
	}
	return n, err
}

// showLine shows a line of the ledger, after the rest of the output of its run.
func (f *logFollower) showLine(ctx context.Context, l state.Line) {
	shown := f.o.shows(l)
	if f.o.occurrence > 0 && shown && l.Type != state.LineDelivery {
		f.occurrenceEnded = true
	}
	streamed := false
	if r := f.runs[l.Number]; l.Number > 0 && r != nil {
		f.showOutput(ctx, r, &l)
		r.close()
		delete(f.runs, l.Number)
		streamed = true
	}
	if !shown {
		return
	}
	if f.o.namesTask() && !streamed && l.Started != nil { // the run was too short to be followed
		r := newRunOutput(f.st, f.o.task, l.Number, [2]int64{})
		f.showOutput(ctx, r, &l)
		r.close()
	}
	if f.InJSON {
		f.Emit(view.StreamLine{LineJSON: view.AsLineJSON(l, f.o.now.Location()), Now: f.Clock.Now().In(f.o.zone)})
		return
	}
	logEntryAlone(&f.Out, f.o, l, nil)
}

// showProblems says what could not be read.
func (f *logFollower) showProblems(list []state.Problem) {
	if !f.InJSON {
		warnOfProblems(f.Call, list)
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
}

// Text writes the command that goes on.
func (a followedJSON) Text(o *cli.Out) { o.ShowContinue(a.Continue) }

// endAtMax answers at --max with the call that goes on.
func (f *logFollower) endAtMax() error {
	place := logPlace{f.place, map[int][2]int64{}}
	for n, r := range f.runs {
		place.runs[n] = [2]int64{r.streams[0].shown(), r.streams[1].shown()}
	}
	again := problem.To("log")
	var id *string
	if f.o.namesTask() {
		name := f.o.task
		if f.o.occurrence > 0 {
			name = state.OccurrenceID(name, f.o.occurrence)
		}
		again, id = problem.To("log", name), &name
	}
	again = again.With("follow", true)
	if f.pastShown {
		again = again.With("after", place.String())
	} else if again = cli.With(again, f.Opt, "since", "after"); f.o.hasLimit {
		again = again.With("n", f.o.limit)
	}
	again = cli.With(again.With("max", cli.BoundText(f.Call)), f.Opt, "tz")
	if len(f.o.outcomes) > 0 {
		again = again.With("outcome", strings.Join(f.o.outcomes, ","))
	}
	again = cli.With(again, f.Opt, "json", "fields")
	f.Answer(followedJSON{f.Clock.Now().In(f.o.zone), "following", id, cli.ContinueWith(f.Call, again)})
	return cli.ExitCode(cli.ExitMax)
}
