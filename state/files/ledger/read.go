package ledger

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// Log reads the lines about a task, or all lines if the ID is empty, the newest first. newest is
// the file that End has opened, and Log closes it. end is where the ledger ends.
func (d Dir) Log(ctx context.Context, newest *Part, taskID string, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	return d.older(ctx, newest, taskID, func([]byte) bool { return true }, yield)
}

// Occurrence is Log of the lines about one occurrence. It does not decode other lines. known says
// that there are lines about the task.
func (d Dir) Occurrence(ctx context.Context, newest *Part, taskID string, number int, yield func(state.Line) bool) (end state.Place, known bool, problems []state.Problem, err error) {
	end, problems, err = d.older(ctx, newest, taskID, func(line []byte) bool {
		id, rest, ok := TaskOf(line)
		known = known || ok && string(id) == taskID
		return !ok || mayConcern(line, rest, number)
	}, func(l state.Line) bool {
		return !l.Has(number) || yield(l)
	})
	return end, known, problems, err
}

// mayConcern reports whether a line may be about the occurrence with a number, or about the
// creation of its task. rest is what follows the task's ID. A line that does not look as this
// program writes lines may.
func mayConcern(line, rest []byte, number int) bool {
	rest, numbered := bytes.CutPrefix(rest, []byte(`,"number":`))
	first := 0
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' && first < 1<<40 {
		first, rest = 10*first+int(rest[0]-'0'), rest[1:]
	}
	switch {
	case !numbered || first == 0 || len(rest) == 0 || rest[0] != ',':
		return !bytes.HasPrefix(line, []byte(`{"type":"`+state.LineTask+`"`)) || bytes.Contains(rest, []byte(`"event":"`+state.EventCreated+`"`))
	case first < number: // the line may be about several occurrences
		return bytes.Contains(rest, []byte(`"due_last":`))
	}
	return first == number
}

// older yields the lines about a task that want accepts, the newest first. It closes newest.
func (d Dir) older(ctx context.Context, newest *Part, taskID string, want func(line []byte) bool, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	if newest != nil {
		end = state.Place{Part: max(newest.Number, 1), Offset: newest.Size}
	}
	skip := func(err error) error {
		problems = append(problems, d.unreadable(err))
		return nil
	}
	err = d.lines(newest, taskID, skip, func(p Part, line []byte, at int64, whole bool) bool {
		if ctx.Err() != nil {
			return false
		}
		if !whole {
			problems = append(problems, Torn(p.Name(), int64(len(line))))
			if newest != nil && p.File == newest.File {
				end.Offset -= int64(len(line))
			}
			return true
		}
		if !want(line) {
			return true
		}
		l, ok := readOrReport(line, p.Name(), at, &problems)
		if !ok || l.Type == Head || taskID != "" && l.TaskID != taskID {
			return true
		}
		// The creation of a task is the oldest line about it.
		return yield(l) && (taskID == "" || l.Type != state.LineTask || l.Event != state.EventCreated)
	})
	return end, problems, errors.Join(err, ctx.Err())
}

// readOrReport is readLine, and adds what is wrong with the line to problems. It returns false if
// the line could not be read.
func readOrReport(line []byte, path string, end int64, problems *[]state.Problem) (l state.Line, ok bool) {
	l, err := readLine(line)
	if err != nil {
		*problems = append(*problems, lineProblem(path, end, err))
	}
	return l, err == nil || errors.Is(err, errAltered)
}

// unreadable is the problem of a file of the ledger that cannot be opened.
func (d Dir) unreadable(err error) state.Problem {
	return state.Problem{Path: string(d), Err: err, Hint: "the rest of the ledger is not affected"}
}

// ErrGap says that lines after a place are no longer in the ledger.
var ErrGap = errors.New("what came after it in the ledger is not there any more; what is there is told from its beginning")

// gap is the problem of a place that is older than the ledger.
func (d Dir) gap() state.Problem {
	return state.Problem{Path: d.path(Name), Err: ErrGap, Hint: "ouro-timer log shows what is there"}
}

// After reads the lines after a place, the oldest first, in whichever file they are now. newest is
// the file that End has opened, and After closes it. end is the place after the last line read.
func (d Dir) After(ctx context.Context, newest *Part, taskID string, from state.Place, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	if newest == nil {
		return from, nil, nil
	}
	var files []Part // the newest first, down to the one that contains the place
	defer func() {
		for _, p := range files {
			p.Close()
		}
	}()
	for p, err := range d.Chain(newest) {
		if err != nil {
			problems = append(problems, d.unreadable(err))
			continue
		}
		p.Number = max(p.Number, 1)
		if files = append(files, p); p.Number <= from.Part {
			break
		}
	}
	switch oldest := files[len(files)-1].Number; {
	case files[0].Number < from.Part: // the ledger was replaced by an older one
		return state.Place{Part: files[0].Number, Offset: files[0].Size}, problems, nil
	case oldest > from.Part && from.Part > 0:
		problems = append(problems, d.gap())
	}
	for _, p := range slices.Backward(files) {
		if p.Number < from.Part {
			continue
		}
		if p.Number > from.Part {
			from = state.Place{Part: p.Number}
		}
		if from.Part == p.Number && from.Offset > 0 && from.Offset < p.Base {
			problems = append(problems, d.gap())
		}
		at := max(from.Offset-p.Base, 0)
		on, err := forwards(ctx, p, &at, func(line []byte) bool {
			from.Offset = at + p.Base
			if id, _, ok := TaskOf(line); ok && taskID != "" && string(id) != taskID {
				return true
			}
			l, ok := readOrReport(line, p.Name(), at, &problems)
			if !ok {
				return true
			}
			return l.Type == Head || taskID != "" && l.TaskID != taskID || yield(l)
		})
		if from.Offset = at + p.Base; err != nil {
			return from, problems, err
		}
		if !on {
			break
		}
	}
	return from, problems, nil
}
