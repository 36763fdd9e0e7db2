package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// Spell adds the text of their tasks to lines of the ledger that lack it. It looks at a task's file
// first, which is right if the task still has the line's revision. For other revisions the ledger
// has the text, if it still has that part.
func (s *Store) Spell(ctx context.Context, lines []state.Line) error {
	lack := state.Lacking(lines...)
	if len(lack) == 0 {
		return nil
	}
	one := ""
	for id := range lack {
		if one = id; len(lack) > 1 {
			one = ""
			break
		}
	}
	all, err := s.snapshot(ctx, everything, one)
	if err != nil {
		return err
	}
	if err := s.lookUp(ctx, lack, all); err != nil {
		return err
	}
	for i, l := range lines {
		lines[i] = lack.Spell(l)
	}
	return nil
}

// lookUp finds the texts in the files of the tasks, or else in the ledger.
func (s *Store) lookUp(ctx context.Context, lack state.Texts, all *names) error {
	for f := range all.found() {
		if lack[f.id] == nil {
			continue
		}
		// otherwise it has moved or is damaged, and the ledger has its text
		if task, err := s.readTask(f.place(), f.id); err == nil {
			lack.Found(task)
		}
	}
	left := map[string]bool{}
	for id := range lack {
		if lack.Open(id) {
			left[id] = true
		}
	}
	if len(left) == 0 {
		return nil
	}
	last, err := s.ledger.End()
	if err != nil {
		return fail("reading the ledger", err)
	}
	for p, err := range s.ledger.Chain(last) {
		if err != nil {
			continue // other readers report the part's problem
		}
		err := p.Lines("", func(line []byte, _ int64, whole bool) bool {
			id, _, ok := ledger.TaskOf(line)
			if !whole || !ok || !bytes.HasPrefix(line, []byte(`{"type":"`+state.LineTask+`"`)) || !left[string(id)] {
				return ctx.Err() == nil
			}
			var l state.Line
			if json.Unmarshal(line, &l) == nil {
				lack.Read(l)
				if l.Event == state.EventCreated || !lack.Open(l.TaskID) {
					delete(left, l.TaskID)
				}
			}
			return len(left) > 0
		})
		p.Close()
		if err := errors.Join(err, ctx.Err()); err != nil {
			return fail("reading the ledger", err)
		}
		if len(left) == 0 {
			break
		}
	}
	return nil
}

// spelled is the line with the text of its task, for what is made from it.
func (s *Store) spelled(l state.Line) (state.Line, error) {
	if !l.Lacks() {
		return l, nil
	}
	lack := state.Lacking(l)
	all, err := s.list(everything, l.TaskID)
	if err != nil {
		return l, err
	}
	if err := s.lookUp(context.Background(), lack, all); err != nil {
		return l, err
	}
	return lack.Spell(l), nil
}
