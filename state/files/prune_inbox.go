package files

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// pruneInbox forgets the oldest items of each task beyond its newest, the oldest of all beyond the newest of all, and those of tasks that
// are no more and came before what is kept of the ledger. The names are looked at without the lock.
func (s *Store) pruneInbox(ctx context.Context, keep state.Keep, now time.Time, p *state.Pruned) error {
	names, err := s.itemNames(state.Query{})
	if err != nil || len(names) == 0 {
		return err
	}
	before := ""
	gone := map[string]bool{}
	if keep.Ended > 0 {
		before = stampOf(now.Add(-keep.Ended))
		for _, n := range names {
			if n.at < before {
				gone[n.id] = true
			}
		}
	}
	if len(gone) > 0 {
		all, err := s.snapshot(ctx, everything, "")
		if err != nil {
			return err
		}
		aside, err := s.asideIDs()
		if err != nil {
			return err
		}
		for id := range all.ids(aside) {
			delete(gone, id)
		}
	}
	of := map[string]int{}
	for _, n := range names {
		of[n.id]++
	}
	var old []itemName
	for i, n := range names {
		if keep.Items > 0 && of[n.id] > keep.Items || keep.Inbox > 0 && len(names)-len(old) > keep.Inbox || gone[n.id] && n.at < before {
			of[n.id]--
			old = append(old, names[i])
		}
	}
	for some := range slices.Chunk(old, pruneMost) {
		t, err := s.begin(ctx)
		if err != nil {
			return err
		}
		n := 0
		for _, old := range some { // one that was taken meanwhile has another name, and stays until the next time
			if _, err := os.Lstat(t.path(old.place())); err == nil {
				t.drop(old.place())
				n++
			}
		}
		if err = t.noteDropped(n, now); err == nil {
			err = t.commit()
		}
		t.done()
		if err == nil {
			p.Items += n
		}
		if err != nil {
			return fail("pruning the inbox", err)
		}
	}
	return nil
}
