package files

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// pruneInbox drops the oldest items beyond the newest of each task and beyond the newest of all,
// and those of tasks that are over and older than what is kept of the ledger. It reads the names
// without the lock.
func (s *Store) pruneInbox(ctx context.Context, keep state.Keep, now time.Time, p *state.Pruned) error {
	names, err := s.itemNames(state.Query{})
	if err != nil || len(names) == 0 {
		return err
	}
	items := make([]state.Item, len(names))
	for i, n := range names {
		items[i] = n.item()
	}
	var there map[string]bool // the tasks that exist, once they are needed
	surplus := keep.Surplus(items, func(id string) bool {
		if there == nil && err == nil {
			there, err = s.existing(ctx)
		}
		return err != nil || there[id]
	}, now)
	if err != nil {
		return err
	}
	old := slices.DeleteFunc(names, func(n itemName) bool { return !surplus[n.at] })
	for some := range slices.Chunk(old, pruneMost) {
		n := 0
		if err := s.transact(ctx, func(t *tx) error {
			// one that was taken meanwhile has another name, and stays until the next time
			for _, old := range some {
				if _, err := os.Lstat(t.path(old.place())); err == nil {
					t.drop(old.place())
					n++
				}
			}
			return t.noteDropped(n, now)
		}); err != nil {
			return fail("pruning the inbox", err)
		}
		p.Items += n
	}
	return nil
}
