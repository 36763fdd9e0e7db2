package files

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/ouro-timer/ouro-timer/state"
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
	// other readers report what of it cannot be read
	err := s.ledger.Changes(func(id string, line []byte) bool {
		var l state.Line
		if left[id] && json.Unmarshal(line, &l) == nil {
			lack.Read(l)
			if l.Event == state.EventCreated || !lack.Open(id) {
				delete(left, id)
			}
		}
		return len(left) > 0 && ctx.Err() == nil
	})
	return fail("reading the ledger", errors.Join(err, ctx.Err()))
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
