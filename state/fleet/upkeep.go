package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// Prune drops tasks, items and lines, each in a commit of its own. A task that has come back
// meanwhile stays.
func (s *Store) Prune(ctx context.Context, keep state.Keep, now time.Time) (p state.Pruned, err error) {
	if keep.Ended > 0 {
		if p.Tasks, err = s.pruneTasks(ctx, now.Add(-keep.Ended)); err == nil {
			p.Lines, err = s.pruneLines(ctx, now.Add(-keep.Ended))
		}
	}
	if err == nil {
		p.Items, err = s.pruneItems(ctx, keep, now)
	}
	if err == nil { // the output of runs is kept on this machine
		var here state.Pruned
		here, err = s.Local.Prune(ctx, state.Keep{Runs: keep.Runs, Output: keep.Output}, now)
		p.Runs, p.Bytes = here.Runs, here.Bytes
	}
	return p, err
}

func (s *Store) pruneTasks(ctx context.Context, before time.Time) (n int, err error) {
	cells, _, err := s.all(ctx, over)
	for _, c := range cells {
		var r record
		if decode(c, &r) != nil || !r.doc("").OverSince().Before(before) {
			continue
		}
		switch _, e := s.commit(ctx, []Op{c.with(nil)}); {
		case errors.Is(e, ErrMoved):
		case e != nil:
			return n, e
		default:
			n++
			if e := s.purge(ctx, texts+idOf(c.Key)+".", 0); e != nil {
				return n, e
			}
		}
	}
	return n, err
}

// purge is KV.Purge, repeated patiently.
func (s *Store) purge(ctx context.Context, prefix string, to uint64) error {
	return s.patiently(ctx, func(ctx context.Context) error { return s.kv.Purge(ctx, prefix, to) })
}

// pruneLines drops the beginning of the ledger, up to the first line that is kept. A line that
// cannot be decoded, as a newer version may write it, is as old as the next one that can be. It
// counts the lines first. A count that includes lines that are still there is corrected by the next
// call, because they begin where the count says.
func (s *Store) pruneLines(ctx context.Context, before time.Time) (n int, err error) {
	sum, c, err := s.past(ctx)
	if err != nil {
		return 0, err
	}
	at, read := sum.To, 0
	err = s.receive(ctx, func(ctx context.Context, yield func(Cell) bool) error {
		_, err := s.kv.Prefix(ctx, ledger, at, yield)
		return err
	}, func(c Cell) bool {
		at = c.Rev
		read++
		var l state.Line
		if decode(c, &l) != nil {
			return true
		}
		if !l.At.Before(before) || n >= linesMost {
			return false
		}
		sum.Gone.Lines++
		sum.Gone.Until = state.UTC(l.At)
		sum.Gone.Sums.Count(l)
		sum.To, n = c.Rev, read
		return true
	})
	if err != nil || n == 0 {
		return 0, err
	}
	err = s.notePast(ctx, sum, c)
	if errors.Is(err, ErrMoved) { // another runner prunes as well, and its count is not ours
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return n, s.purge(ctx, ledger, sum.To)
}

// linesMost is how many lines are dropped at once.
const linesMost = 100_000

// notePast replaces what is known about what was dropped. It is ErrMoved when somebody else has
// replaced it since.
func (s *Store) notePast(ctx context.Context, p past, was Cell) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = s.commit(ctx, []Op{was.with(data)})
	return err
}

func (s *Store) pruneItems(ctx context.Context, keep state.Keep, now time.Time) (n int, err error) {
	list, _, _, err := s.inboxItems(ctx)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	there := map[string]bool{}
	tasks, err := s.taskStates(ctx, "", true)
	for _, t := range tasks {
		there[t.id] = true
	}
	last := ""
	for k := range list { // in the order in which they arrived, which bounds of age also use
		last = state.NextCursor(last, list[k].Line.At)
		list[k].Cursor = last
	}
	old := keep.Surplus(list, func(id string) bool { return there[id] }, now)
	for _, i := range list {
		if err != nil {
			return n, err
		}
		if old[i.Cursor] {
			switch e := s.drop(ctx, itemKey(i.ID)); {
			case e == nil:
				n++
			case !errors.Is(e, state.ErrNotFound):
				err = e
			}
		}
	}
	for n > 0 && err == nil {
		sum, c, e := s.past(ctx)
		if sum.Dropped.Count(n, now); e == nil {
			e = s.notePast(ctx, sum, c)
		}
		if !errors.Is(e, ErrMoved) {
			return n, e
		}
	}
	return n, err
}
