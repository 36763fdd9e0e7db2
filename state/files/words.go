package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// Spell puts the text of their tasks into lines of the ledger that lack it. A task's file is looked at first: it says what is right for as long
// as the task has the revision that a line names. Of other revisions the ledger has the text, if that part of it is still there.
func (s *Store) Spell(ctx context.Context, lines []state.Line) error {
	lack := lacking{}
	for _, l := range lines {
		lack.add(l)
	}
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
		lines[i] = lack.spell(l)
	}
	return nil
}

// lacking are the texts that lines lack, by task and revision.
type lacking map[string]map[int64]*string

func (m lacking) add(l state.Line) {
	if !l.Lacks() {
		return
	}
	if m[l.TaskID] == nil {
		m[l.TaskID] = map[int64]*string{}
	}
	m[l.TaskID][l.Revision] = nil
}

func (m lacking) spell(l state.Line) state.Line {
	if l.Lacks() {
		if said := m[l.TaskID][l.Revision]; said != nil {
			return l.Spell(*said)
		}
	}
	return l
}

// open reports whether one of a task's texts is not known.
func (m lacking) open(id string) bool {
	for _, said := range m[id] {
		if said == nil {
			return true
		}
	}
	return false
}

// lookUp finds the texts, of tasks whose files are among the names or else in the ledger.
func (s *Store) lookUp(ctx context.Context, lack lacking, all *names) error {
	for f := range all.found() {
		texts, ok := lack[f.id]
		if !ok {
			continue
		}
		task, err := s.readTask(f.place(), f.id)
		if err != nil {
			continue // it has moved, or is damaged; the ledger has it
		}
		if _, wanted := texts[task.Revision]; wanted {
			texts[task.Revision] = new(task.Said())
		}
	}
	left := map[string]bool{}
	for id := range lack {
		if lack.open(id) {
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
			continue // a part that cannot be read has its problem where it is looked for
		}
		err := p.Lines("", func(line []byte, _ int64, whole bool) bool {
			id, _, ok := ledger.TaskOf(line)
			if !whole || !ok || !bytes.HasPrefix(line, []byte(`{"type":"`+state.LineTask+`"`)) || !left[string(id)] {
				return ctx.Err() == nil
			}
			var l state.Line
			bad := json.Unmarshal(line, &l)
			if text, ok := l.Says(); bad == nil && ok {
				for revision, said := range lack[l.TaskID] {
					if said == nil && revision >= l.Revision {
						lack[l.TaskID][revision] = &text
					}
				}
				if l.Event == state.EventCreated || !lack.open(l.TaskID) {
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

// spelled is a line with the text of its task, for what is made of it.
func (s *Store) spelled(l state.Line) (state.Line, error) {
	if !l.Lacks() {
		return l, nil
	}
	lack := lacking{}
	lack.add(l)
	all, err := s.list(everything, l.TaskID)
	if err != nil {
		return l, err
	}
	if err := s.lookUp(context.Background(), lack, all); err != nil {
		return l, err
	}
	return lack.spell(l), nil
}
