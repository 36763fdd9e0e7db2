package fleet

import (
	"context"
	"maps"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// decode reads a task with its text. It is ErrNotFound when the text is not there any more.
func (s *Store) decode(ctx context.Context, c Cell) (state.Doc, error) {
	var r record
	if err := decode(c, &r); err != nil {
		return state.Doc{}, err
	}
	return s.withText(ctx, r.doc(idOf(c.Key)))
}

// withText adds the texts of a task and of its open claims.
func (s *Store) withText(ctx context.Context, d state.Doc) (state.Doc, error) {
	var err error
	if d.Task, err = s.text(ctx, d.Task.ID, d.Task.Revision); err != nil {
		return d, err
	}
	for i, o := range d.Open {
		if d.Open[i].Task, err = s.text(ctx, d.Task.ID, o.Task.Revision); err != nil {
			return d, err
		}
	}
	s.markPast(ctx, d.Open)
	return d, nil
}

const (
	textsMost  = 4096 // how many texts of tasks are cached
	textsChunk = 100  // how many a list fetches at a time
)

// fetchTexts caches the texts of tasks, with one request for many. What it does not get is read
// later, one by one.
func (s *Store) fetchTexts(ctx context.Context, docs []state.Doc) {
	missing := map[string]bool{}
	for _, d := range docs {
		missing[textKey(d.Task.ID, d.Task.Revision)] = true
		for _, o := range d.Open {
			missing[textKey(d.Task.ID, o.Task.Revision)] = true
		}
	}
	s.mu.Lock()
	maps.DeleteFunc(missing, func(key string, _ bool) bool { _, ok := s.tasks[key]; return ok })
	s.mu.Unlock()
	if len(missing) < 2 { // one is read as fast later
		return
	}
	limited, cancel := context.WithTimeout(ctx, peekLimit)
	defer cancel()
	list, _ := s.kv.Peek(limited, slices.Collect(maps.Keys(missing))...)
	for _, c := range list {
		if task, _, err := codec.DecodeTask(c.Data); err == nil {
			s.keepText(c.Key, task)
		}
	}
}

// text returns the text of a task in a revision.
func (s *Store) text(ctx context.Context, id string, revision int64) (state.Task, error) {
	key := textKey(id, revision)
	s.mu.Lock()
	task, ok := s.tasks[key]
	s.mu.Unlock()
	if ok {
		return task.Clone(), nil
	}
	var c Cell
	err := s.patiently(ctx, func(ctx context.Context) error {
		list, err := s.kv.Peek(ctx, key)
		if err == nil && len(list) == 1 {
			c = list[0] // it never changes
		} else {
			c, err = s.kv.Get(ctx, key)
		}
		return err
	})
	if err == nil && len(c.Data) == 0 {
		err = state.ErrNotFound
	}
	if err == nil {
		task, _, err = codec.DecodeTask(c.Data)
	}
	if err != nil {
		return state.Task{}, err
	}
	s.keepText(key, task)
	return task.Clone(), nil
}

func (s *Store) keepText(key string, task state.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tasks) >= textsMost {
		clear(s.tasks)
	}
	s.tasks[key] = task.Clone()
}
