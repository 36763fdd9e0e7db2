package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// edits are the files in the queue that have come or changed since they were last looked at: by a change of ours, which
// leaves nothing to find, or by hand. Each is read once it has been left alone for a while, so that a mistake is told
// when it is made and not when the task is due.
type edits struct {
	names map[string]bool
	due   <-chan time.Time // nil while there are none
}

// note remembers what an event is about.
func (w *watch) note(e fsnotify.Event) {
	dir, file := filepath.Split(e.Name)
	if filepath.Clean(dir) != w.path(queueDir) || !e.Has(fsnotify.Create|fsnotify.Write) || w.ours(queueDir, file) || filepath.Ext(file) != suffix {
		return
	}
	if w.edits.names == nil {
		w.edits.names = map[string]bool{}
	}
	w.edits.names[file] = true
	if w.edits.due == nil {
		w.edits.due = time.After(settled + settled/8)
	}
}

// review looks at what was noted and has settled. What is in order is forgotten, what cannot be understood is set aside and
// reported, and what only its owner can mend is reported.
func (w *watch) review(ctx context.Context) {
	w.edits.due = nil
	var bad []broken
	for file := range w.edits.names {
		if ctx.Err() != nil {
			return
		}
		n, ok := parseName(file)
		if !ok || n.extra != "" {
			delete(w.edits.names, file)
			if f, isTask := w.misnamed(queueDir, file); isTask {
				w.report(state.Problem{Path: w.path(queueDir + "/" + file), Err: errors.New(f.Text), Hint: f.Hint})
			}
			continue
		}
		f := w.see(found{n, queueDir})
		if f.info != nil && !alone(f.info, settled) {
			continue // somebody is at it
		}
		delete(w.edits.names, file)
		switch {
		case f.err == nil:
			if _, err := w.readTask(f.place(), f.id); errors.Is(err, state.ErrUnusable) {
				w.report(w.problem(f.found, err))
			} else if w.check != nil {
				if err := w.check(f.task); err != nil {
					w.report(state.Problem{Path: w.path(f.place()), Err: fmt.Errorf("%s %w; task %s does not run", w.path(f.place()), err, f.id), Hint: "mend it"})
				}
			}
		case missing(f.err): // it has moved on
		case errors.Is(f.err, codec.ErrBroken), errors.Is(f.err, errOdd):
			bad = append(bad, broken{f.found, f.err, f.info})
		default:
			w.report(w.problem(f.found, f.err))
		}
	}
	if len(bad) > 0 {
		w.asideAll(ctx, bad)
	}
	if len(w.edits.names) > 0 {
		w.edits.due = time.After(settled / 2)
	}
}

// asideAll sets aside what nobody has mended in the meantime.
func (w *watch) asideAll(ctx context.Context, bad []broken) {
	t, err := w.begin(ctx)
	if err != nil {
		return // whoever is to run it tells
	}
	defer t.done()
	for _, b := range bad {
		now, err := os.Lstat(w.path(b.place()))
		if err != nil || !now.ModTime().Equal(b.info.ModTime()) || now.Size() != b.info.Size() {
			continue
		}
		p, err := t.setAside(b)
		if err != nil {
			p = w.problem(b.found, b.err)
		}
		w.report(p)
	}
}
