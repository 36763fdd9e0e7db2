package ledger

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// Log reads backwards from the end: of the lines about a task, or of all when the ID is empty. last is what End has opened, and is closed.
func (d Dir) Log(ctx context.Context, last *Part, taskID string, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	return d.past(ctx, last, taskID, func([]byte) bool { return true }, yield)
}

// Occurrence is Log of the lines about one occurrence; known says that there are lines about its task. It does not decode the others.
func (d Dir) Occurrence(ctx context.Context, last *Part, taskID string, number int, yield func(state.Line) bool) (end state.Place, known bool, problems []state.Problem, err error) {
	end, problems, err = d.past(ctx, last, taskID, func(line []byte) bool {
		id, rest, ok := TaskOf(line)
		known = known || ok && string(id) == taskID
		return !ok || mayStand(line, rest, number)
	}, func(l state.Line) bool {
		return number < l.Number || number >= l.Number+max(l.Count, 1) || yield(l)
	})
	return end, known, problems, err
}

// mayStand reports whether a line may be about the occurrence with a number, or about the making of its task; rest is what follows the
// task's ID. It looks at how this program writes lines: of what is written in another way it may be.
func mayStand(line, rest []byte, number int) bool {
	rest, numbered := bytes.CutPrefix(rest, []byte(`,"number":`))
	first := 0
	for len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9' && first < 1<<40 {
		first, rest = 10*first+int(rest[0]-'0'), rest[1:]
	}
	switch {
	case !numbered || first == 0 || len(rest) == 0 || rest[0] != ',':
		return !bytes.HasPrefix(line, []byte(`{"type":"`+state.LineTask+`"`)) || bytes.Contains(rest, []byte(`"event":"`+state.EventCreated+`"`))
	case first < number: // it may stand for several
		return bytes.Contains(rest, []byte(`"due_last":`))
	}
	return first == number
}

// past yields the lines that want takes.
func (d Dir) past(ctx context.Context, last *Part, taskID string, want func(line []byte) bool, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	if last != nil {
		end = state.Place{Part: max(last.Number, 1), Offset: last.Size}
	}
	on := true
	for p, err := range d.Chain(last) {
		if err != nil {
			problems = append(problems, state.Problem{Path: string(d), Err: err, Hint: "the rest of the ledger is not affected"})
			continue
		}
		err := p.Lines(taskID, func(line []byte, at int64, whole bool) bool {
			if ctx.Err() != nil {
				return false
			}
			if !whole {
				problems = append(problems, Torn(p.Name(), int64(len(line))))
				if last != nil && p.File == last.File {
					end.Offset -= int64(len(line))
				}
				return true
			}
			if !want(line) {
				return true
			}
			l, err := readLine(line)
			if err != nil {
				problems = append(problems, lineProblem(p.Name(), at, err))
			}
			if err != nil && !errors.Is(err, errAltered) {
				return true
			}
			if l.Type == Head || taskID != "" && l.TaskID != taskID {
				return true
			}
			// Nothing about a task is older than its creation.
			on = yield(l) && (taskID == "" || l.Type != state.LineTask || l.Event != state.EventCreated)
			return on
		})
		p.Close()
		if err = errors.Join(err, ctx.Err()); err != nil {
			return end, problems, err
		}
		if !on {
			break
		}
	}
	return end, problems, nil
}

// ErrGap is a place that the ledger does not have any more.
var ErrGap = errors.New("what came after it in the ledger is not there any more; what is there is told from its beginning")

// After reads the lines after a place, in whichever file they are by now. last is what End has opened, and is closed.
func (d Dir) After(ctx context.Context, last *Part, taskID string, from state.Place, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	if last == nil {
		return from, nil, nil
	}
	var files []Part // the newest first, down to the one the place is in
	defer func() {
		for _, p := range files {
			p.Close()
		}
	}()
	for p, err := range d.Chain(last) {
		if err != nil {
			problems = append(problems, state.Problem{Path: string(d), Err: err, Hint: "the rest of the ledger is not affected"})
			continue
		}
		p.Number = max(p.Number, 1)
		if files = append(files, p); p.Number <= from.Part {
			break
		}
	}
	switch oldest := files[len(files)-1].Number; {
	case files[0].Number < from.Part: // an older ledger was put in its place
		return state.Place{Part: files[0].Number, Offset: files[0].Size}, problems, nil
	case oldest > from.Part && from.Part > 0:
		problems = append(problems, state.Problem{Path: d.path(Name), Err: ErrGap, Hint: "ouro-timer log shows what is there"})
	}
	for _, p := range slices.Backward(files) {
		if p.Number < from.Part {
			continue
		}
		if p.Number > from.Part {
			from = state.Place{Part: p.Number}
		}
		if from.Part == p.Number && from.Offset > 0 && from.Offset < p.Base {
			problems = append(problems, state.Problem{Path: d.path(Name), Err: ErrGap, Hint: "ouro-timer log shows what is there"})
		}
		at := max(from.Offset-p.Base, 0)
		on, err := forwards(ctx, p, &at, func(line []byte) bool {
			from.Offset = at + p.Base
			if id, _, ok := TaskOf(line); ok && taskID != "" && string(id) != taskID {
				return true
			}
			l, err := readLine(line)
			if err != nil {
				problems = append(problems, lineProblem(p.Name(), at, err))
			}
			if err != nil && !errors.Is(err, errAltered) {
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
