package metrics

import (
	"context"
	"slices"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
)

// Totals are the sums of the whole ledger, with those of the lines that were dropped. Read only
// reads lines that have come since the last call. Several goroutines may use it. The zero value has
// read nothing.
type Totals struct {
	mu       sync.Mutex
	sums     state.Sums
	problems []state.Problem // the lines from there to there that could not be read
	from, to state.Place
	read     bool
}

// Read returns the sums up to now, and all lines that could not be read.
func (t *Totals) Read(ctx context.Context, st state.Ledger) (state.Sums, []state.Problem, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range maxTries {
		gone, _, err := st.Gone(ctx)
		if err != nil {
			return state.Sums{}, nil, err
		}
		// lines were dropped that had not been read, or could not be
		if !t.read || gone.To.After(t.to) || len(t.problems) > 0 && gone.To.After(t.from) {
			t.sums, t.from, t.to, t.problems = gone.Sums, gone.To, gone.To, nil
		}
		sums := t.sums
		end, problems, err := st.After(ctx, "", t.to, func(l state.Line) bool {
			sums.Count(l)
			return true
		})
		if err != nil {
			return state.Sums{}, nil, err
		}
		now, _, err := st.Gone(ctx)
		if err != nil {
			return state.Sums{}, nil, err
		}
		if now.To.After(t.to) { // lines were dropped meanwhile, perhaps before they were read
			t.read = false
			continue
		}
		t.sums, t.to, t.read = sums, end, true
		t.problems = append(t.problems, problems...)
		return sums, slices.Clone(t.problems), nil
	}
	return state.Sums{}, nil, state.ErrBusy
}

// maxTries is how often Read starts again because lines were dropped meanwhile, which a runner does
// once an hour.
const maxTries = 5
