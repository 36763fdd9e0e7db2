package files

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// Log reads backwards from the end as it stood when Log was called.
func (s *Store) Log(ctx context.Context, taskID string, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	last, err := s.ledgerEnd(ctx)
	if err == nil {
		end, problems, err = s.ledger.Log(ctx, last, taskID, yield)
	}
	return end, problems, fail("reading the ledger", err)
}

// Occurrence is Log for the lines about one occurrence. It does not decode the others.
func (s *Store) Occurrence(ctx context.Context, taskID string, number int, yield func(state.Line) bool) (end state.Place, known bool, problems []state.Problem, err error) {
	last, err := s.ledgerEnd(ctx)
	if err == nil {
		end, known, problems, err = s.ledger.Occurrence(ctx, last, taskID, number, yield)
	}
	return end, known, problems, fail("reading the ledger", err)
}

// After reads the lines after a place, in whichever file they now are.
func (s *Store) After(ctx context.Context, taskID string, from state.Place, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	last, err := s.ledgerEnd(ctx)
	if err != nil {
		return from, nil, err
	}
	end, problems, err = s.ledger.After(ctx, last, taskID, from, yield)
	return end, problems, fail("reading the ledger", err)
}

// history calls yield with all readable lines of the ledger, newest first, until yield returns
// false. An empty ID means all tasks.
func (s *Store) history(taskID string, yield func(e ledger.Entry) bool) error {
	return fail("reading the ledger", s.ledger.History(taskID, yield))
}

// ledgerEnd opens the growing file of the ledger at a moment when nobody writes to it. What is
// before its size then never changes, except for a torn last line. It is nil if there is no such
// file.
func (s *Store) ledgerEnd(ctx context.Context) (p *ledger.Part, err error) {
	err = s.share(ctx, func() (err error) {
		if p != nil {
			p.Close()
		}
		p, err = s.ledger.End()
		return err
	})
	if err != nil && p != nil {
		p.Close()
	}
	return p, fail("reading the ledger", err)
}
