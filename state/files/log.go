package files

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// Log reads backwards from the end as it stood when Log was called.
func (s *Store) Log(ctx context.Context, taskID string, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	return s.past(ctx, taskID, func([]byte) bool { return true }, yield)
}

// Occurrence is Log of the lines about one occurrence. It does not decode the others.
func (s *Store) Occurrence(ctx context.Context, taskID string, number int, yield func(state.Line) bool) (end state.Place, known bool, problems []state.Problem, err error) {
	end, problems, err = s.past(ctx, taskID, func(line []byte) bool {
		id, rest, ok := taskOf(line)
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
func (s *Store) past(ctx context.Context, taskID string, want func(line []byte) bool, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	last, err := s.settled(ctx)
	if err != nil {
		return state.Place{}, nil, err
	}
	if last != nil {
		end = state.Place{Part: max(last.number, 1), Offset: last.size}
	}
	on := true
	for p, err := range s.chain(last) {
		if err != nil {
			problems = append(problems, state.Problem{Path: s.path(runsDir), Err: err, Hint: "the rest of the ledger is not affected"})
			continue
		}
		err := p.linesOf(taskID, func(line []byte, at int64, whole bool) bool {
			if ctx.Err() != nil {
				return false
			}
			if !whole {
				problems = append(problems, s.tornProblem(p.Name(), int64(len(line))))
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
			if l.Type == lineLedger || taskID != "" && l.TaskID != taskID {
				return true
			}
			// Nothing about a task is older than its creation.
			on = yield(l) && (taskID == "" || l.Type != state.LineTask || l.Event != state.EventCreated)
			return on
		})
		p.Close()
		if err = errors.Join(err, ctx.Err()); err != nil {
			return end, problems, fail("reading the ledger", err)
		}
		if !on {
			break
		}
	}
	return end, problems, nil
}

// settled opens the file of the ledger that grows, as it is when nobody writes to it: what is before its size never changes,
// but for a torn last line. nil when it is not there.
func (s *Store) settled(ctx context.Context) (p *part, err error) {
	err = s.share(ctx, func() (err error) {
		if p != nil {
			p.Close()
		}
		p, err = s.openEnd()
		return err
	})
	if err != nil && p != nil {
		p.Close()
	}
	return p, fail("reading the ledger", err)
}

// readLine reads a line of the ledger. Each is about a task, but for the one that a file begins with.
func readLine(line []byte) (l state.Line, err error) {
	if err = json.Unmarshal(line, &l); err == nil && l.Type != lineLedger && !state.WholeID(l.TaskID) {
		err = fmt.Errorf("it names task %q", l.TaskID)
	}
	if err == nil && !sealed(line) {
		err = errAltered
	}
	return l, err
}

// errAltered is a line that can be read and is not as it was written.
var errAltered = errors.New("is not as it was written: its checksum says so")

func lineProblem(path string, end int64, err error) state.Problem {
	if errors.Is(err, errAltered) {
		return state.Problem{Path: path, Err: fmt.Errorf("the line that ends at byte %d %w", end, err), Hint: "what it says may be wrong; the other lines are not affected"}
	}
	return state.Problem{Path: path, Err: fmt.Errorf("the line that ends at byte %d %w: %w", end, codec.ErrBroken, err),
		Hint: "the other lines are not affected"}
}

func (s *Store) tornProblem(path string, bytes int64) state.Problem {
	return state.Problem{Path: path, Err: fmt.Errorf("%w after %d bytes", state.ErrTorn, bytes),
		Hint: "the next change cuts it off; nothing that was confirmed is in it"}
}

// errGap is a place that the ledger does not have any more.
var errGap = errors.New("what came after it in the ledger is not there any more; what is there is told from its beginning")

// After reads the lines after a place, in whichever file they are by now.
func (s *Store) After(ctx context.Context, taskID string, from state.Place, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	last, err := s.settled(ctx)
	if err != nil || last == nil {
		return from, nil, err
	}
	var files []part // the newest first, down to the one the place is in
	defer func() {
		for _, p := range files {
			p.Close()
		}
	}()
	for p, err := range s.chain(last) {
		if err != nil {
			problems = append(problems, state.Problem{Path: s.path(runsDir), Err: err, Hint: "the rest of the ledger is not affected"})
			continue
		}
		p.number = max(p.number, 1)
		if files = append(files, p); p.number <= from.Part {
			break
		}
	}
	switch oldest := files[len(files)-1].number; {
	case files[0].number < from.Part: // an older ledger was put in its place
		return state.Place{Part: files[0].number, Offset: files[0].size}, problems, nil
	case oldest > from.Part && from.Part > 0:
		problems = append(problems, state.Problem{Path: s.path(ledgerFile), Err: errGap, Hint: "ouro-timer log shows what is there"})
	}
	for _, p := range slices.Backward(files) {
		if p.number < from.Part {
			continue
		}
		if p.number > from.Part {
			from = state.Place{Part: p.number}
		}
		if from.Part == p.number && from.Offset > 0 && from.Offset < p.base {
			problems = append(problems, state.Problem{Path: s.path(ledgerFile), Err: errGap, Hint: "ouro-timer log shows what is there"})
		}
		at := max(from.Offset-p.base, 0)
		on, err := forwards(ctx, p, &at, func(line []byte) bool {
			from.Offset = at + p.base
			if id, _, ok := taskOf(line); ok && taskID != "" && string(id) != taskID {
				return true
			}
			l, err := readLine(line)
			if err != nil {
				problems = append(problems, lineProblem(p.Name(), at, err))
			}
			if err != nil && !errors.Is(err, errAltered) {
				return true
			}
			return l.Type == lineLedger || taskID != "" && l.TaskID != taskID || yield(l)
		})
		if from.Offset = at + p.base; err != nil {
			return from, problems, fail("reading the ledger", err)
		}
		if !on {
			break
		}
	}
	return from, problems, nil
}

// forwards calls yield with the whole lines from the offset on, which it moves behind each before it is yielded, until it
// returns false.
func forwards(ctx context.Context, p part, at *int64, yield func(line []byte) bool) (on bool, err error) {
	if *at > p.size {
		*at = p.size
		return true, nil
	}
	r := bufio.NewReaderSize(io.NewSectionReader(p, *at, p.size-*at), block)
	for ctx.Err() == nil {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return true, nil // nothing, or a line that was cut short
		}
		if err != nil {
			return false, err
		}
		*at += int64(len(line))
		if !yield(line[:len(line)-1]) {
			return false, nil
		}
	}
	return false, ctx.Err()
}
