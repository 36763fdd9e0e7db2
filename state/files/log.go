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
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// Place is where a line of the ledger ends. It stays where it is when the ledger goes on in a new file. The zero value is
// before everything.
type Place struct {
	Part   int // the number of the file
	Offset int64
}

func (p Place) String() string { return fmt.Sprintf("%d.%d", p.Part, p.Offset) }

// ParsePlace reads what String has written.
func ParsePlace(text string) (Place, error) {
	part, offset, _ := strings.Cut(text, ".")
	n, err := strconv.Atoi(part)
	at, also := strconv.ParseInt(offset, 10, 64)
	p := Place{n, at}
	if err != nil || also != nil || n < 0 || at < 0 || p.String() != text {
		return Place{}, fmt.Errorf("%q is no place in the ledger", text)
	}
	return p, nil
}

// Log calls yield with the lines of the ledger, newest first, until it returns false. It reads backwards from the end
// as it stood when Log was called, and no further than yield wants. Lines that cannot be read are left out and reported.
func (s *Store) Log(ctx context.Context, taskID string, yield func(state.Line) bool) ([]state.Problem, error) {
	_, problems, err := s.Past(ctx, taskID, yield)
	return problems, err
}

// Past is Log, and says where the ledger ended: After goes on from there.
func (s *Store) Past(ctx context.Context, taskID string, yield func(state.Line) bool) (end Place, problems []state.Problem, err error) {
	return s.past(ctx, taskID, func([]byte) bool { return true }, yield)
}

// Occurrence is Past of the lines about one occurrence, or run by hand, of a task. It does not decode the others, which may be a million:
// known says that there is one.
func (s *Store) Occurrence(ctx context.Context, taskID string, number int, yield func(state.Line) bool) (end Place, known bool, problems []state.Problem, err error) {
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
func (s *Store) past(ctx context.Context, taskID string, want func(line []byte) bool, yield func(state.Line) bool) (end Place, problems []state.Problem, err error) {
	last, err := s.settled(ctx)
	if err != nil {
		return Place{}, nil, err
	}
	if last != nil {
		end = Place{max(last.number, 1), last.size}
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
	return state.Problem{Path: path, Err: fmt.Errorf("the line that ends at byte %d %w: %w", end, errDecode, err),
		Hint: "the other lines are not affected"}
}

func (s *Store) tornProblem(path string, bytes int64) state.Problem {
	return state.Problem{Path: path, Err: fmt.Errorf("%w after %d bytes", errTorn, bytes),
		Hint: "the next change cuts it off; nothing that was confirmed is in it"}
}

var errTorn = errors.New("its last line was cut short")

// IsTorn reports whether a problem is a last line of the ledger of which only a part was written: nothing that was confirmed is missing.
func IsTorn(p state.Problem) bool { return errors.Is(p.Err, errTorn) }

// errGap is a place that the ledger does not have any more.
var errGap = errors.New("what came after it in the ledger is not there any more; what is there is told from its beginning")

// After calls yield with the lines that come after a place, oldest first, until it returns false, and returns the place after
// the last one it has looked at. It reads nothing else, in whichever file the lines are by now. A place that is not in the
// ledger any more is reported, and lines are told from the oldest there is; one beyond its end, as after lines were cut
// by hand, is the end.
func (s *Store) After(ctx context.Context, from Place, yield func(state.Line) bool) (Place, []state.Problem, error) {
	return s.after(ctx, "", from, yield)
}

// Story is After of the lines about a task, of all when the ID is empty. A last line that was cut short is reported, too.
func (s *Store) Story(ctx context.Context, taskID string, from Place, yield func(state.Line) bool) (end Place, problems []state.Problem, err error) {
	end, problems, err = s.after(ctx, taskID, from, yield)
	if err != nil {
		return end, problems, err
	}
	last, err := s.settled(ctx)
	if err != nil || last == nil {
		return end, problems, err
	}
	defer last.Close()
	err = backwards(last, last.size, func(line []byte, _ int64, whole bool) bool {
		if !whole {
			problems = append(problems, s.tornProblem(last.Name(), int64(len(line))))
		}
		return false
	})
	return end, problems, fail("reading the ledger", err)
}

func (s *Store) after(ctx context.Context, taskID string, from Place, yield func(state.Line) bool) (Place, []state.Problem, error) {
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
	var problems []state.Problem
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
		return Place{files[0].number, files[0].size}, problems, nil
	case oldest > from.Part && from.Part > 0:
		problems = append(problems, state.Problem{Path: s.path(ledgerFile), Err: errGap, Hint: "ouro-timer log shows what is there"})
	}
	for _, p := range slices.Backward(files) {
		if p.number < from.Part {
			continue
		}
		if p.number > from.Part {
			from = Place{p.number, 0}
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
