package metrics

import (
	"context"
	"sync"

	"github.com/ouro-timer/ouro-timer/state"
)

// Totals is what the whole ledger adds up to, with what was dropped of it. It is read once; after
// that only what has come since. It may be used by many goroutines. The zero value has read
// nothing.
type Totals struct {
	mu   sync.Mutex
	sums state.Sums
	to   state.Place
	read bool
}

// Read is what it adds up to by now, and which lines could not be read.
func (t *Totals) Read(ctx context.Context, st state.Ledger) (state.Sums, []state.Problem, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var all []state.Problem
	for range triesMost {
		gone, _, err := st.Gone(ctx)
		if err != nil {
			return state.Sums{}, nil, err
		}
		if !t.read || before(t.to, gone.To) { // more was dropped than was read
			t.sums, t.to, all = gone.Sums, gone.To, nil
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
		if before(t.to, now.To) { // some of it was dropped while it was read, and perhaps before
			t.read = false
			continue
		}
		t.sums, t.to, t.read = sums, end, true
		return sums, append(all, problems...), nil
	}
	return state.Sums{}, nil, state.ErrBusy
}

// triesMost is how often the ledger is read anew because some of it was dropped meanwhile, which a
// runner does once an hour.
const triesMost = 5

func before(a, b state.Place) bool {
	return a.Part < b.Part || a.Part == b.Part && a.Offset < b.Offset
}
