package files

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// Log reads backwards from the end as it stood when Log was called.
func (s *Store) Log(ctx context.Context, taskID string, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	last, err := s.settled(ctx)
	if err == nil {
		end, problems, err = s.ledger.Log(ctx, last, taskID, yield)
	}
	return end, problems, fail("reading the ledger", err)
}

// Occurrence is Log of the lines about one occurrence. It does not decode the others.
func (s *Store) Occurrence(ctx context.Context, taskID string, number int, yield func(state.Line) bool) (end state.Place, known bool, problems []state.Problem, err error) {
	last, err := s.settled(ctx)
	if err == nil {
		end, known, problems, err = s.ledger.Occurrence(ctx, last, taskID, number, yield)
	}
	return end, known, problems, fail("reading the ledger", err)
}

// After reads the lines after a place, in whichever file they are by now.
func (s *Store) After(ctx context.Context, taskID string, from state.Place, yield func(state.Line) bool) (end state.Place, problems []state.Problem, err error) {
	last, err := s.settled(ctx)
	if err != nil {
		return from, nil, err
	}
	end, problems, err = s.ledger.After(ctx, last, taskID, from, yield)
	return end, problems, fail("reading the ledger", err)
}

// history calls yield with the lines of the whole ledger that can be read, newest first, until it returns false; of all tasks when the ID is
// empty.
func (s *Store) history(taskID string, yield func(e ledger.Entry) bool) error {
	return fail("reading the ledger", s.ledger.History(taskID, yield))
}

// settled opens the file of the ledger that grows, as it is when nobody writes to it: what is before its size never changes,
// but for a torn last line. nil when it is not there.
func (s *Store) settled(ctx context.Context) (p *ledger.Part, err error) {
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

// tail reads the end of the ledger. It needs the state lock, shared or exclusive.
func (s *Store) tail() (ledger.Tail, error) {
	t, err := s.ledger.Tail()
	return t, fail("reading the ledger", err)
}
