package state

import (
	"context"
	"slices"
	"time"
)

// Preview is st for a dry run. Questions go to st. Each change of a task, a run or an item gets the
// answer that st would give at the moment of the call, and is not made. A draft takes its key, so
// that a later draft with the same key is refused. A task that would be added has no ID. Changes of
// the folder itself (leases, outputs, upkeep) go to st: a dry run never makes them.
func Preview(st Store) Store {
	changes := st.Dry()
	return &preview{asked: asked{st}, Verbs: Verbs{changes}, changes: changes}
}

// asked embeds the store one level deeper, so that the changes of preview replace the store's own.
type asked struct{ Store }

type preview struct {
	asked
	Verbs
	changes TaskWriter
	halted  []Record // that would have been told to end
}

func (p *preview) Apply(ctx context.Context, changes ...Change) []Applied {
	return p.changes.Apply(ctx, changes...)
}

func (p *preview) AddAll(ctx context.Context, drafts []Draft) []Added {
	return p.changes.AddAll(ctx, drafts)
}

func (p *preview) Holder(ctx context.Context, key string) (Entry, error) {
	return p.changes.Holder(ctx, key)
}

func (p *preview) Charge(ctx context.Context, origin string, now time.Time) error {
	return p.changes.Charge(ctx, origin, now)
}

// Unwrap is the store that it is a preview of.
func (p *preview) Unwrap() Store { return p.Store }

func (p *preview) Dry() TaskWriter { return p.changes }

// Announce does not announce anybody.
func (p *preview) Announce(context.Context, string, time.Time) (<-chan struct{}, func(), error) {
	return nil, func() {}, nil
}

// Started notes nothing.
func (p *preview) Started(context.Context, Record) error { return nil }

func (p *preview) Halt(ctx context.Context, r Record, why string) error {
	err := p.Verbs.Halt(ctx, r, why)
	if err == nil {
		p.halted = append(p.halted, r)
	}
	return err
}

// Open leaves out claims that the dry run would end.
func (p *preview) Open(ctx context.Context) ([]Record, []Problem, error) {
	open, problems, err := p.asked.Open(ctx)
	return slices.DeleteFunc(open, func(r Record) bool {
		return slices.ContainsFunc(p.halted, func(h Record) bool { return h.Task.ID == r.Task.ID && h.Number == r.Number })
	}), problems, err
}

// Take is Inbox of the items that Take would lease.
func (p *preview) Take(ctx context.Context, q Query, now, _ time.Time) (items []Item, more int, problems []Problem, err error) {
	q.Free, q.Now = true, now
	return p.Inbox(ctx, q)
}

func (p *preview) Ack(ctx context.Context, ids []string) []error {
	errs := make([]error, len(ids))
	items, _, _, err := p.Inbox(ctx, Query{Tasks: ids})
	for i, id := range ids {
		errs[i] = err
		if err == nil && !slices.ContainsFunc(items, func(item Item) bool { return item.ID == id }) {
			errs[i] = ErrNotFound
		}
	}
	return errs
}

// Postpone changes nothing.
func (p *preview) Postpone(context.Context, Notice) error { return nil }

// Told changes nothing.
func (p *preview) Told(context.Context, Notice, Line) error { return nil }
