package files

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/watch"
)

// edits are the files in the queue that appeared or changed since the last look, by a change of
// ours, which leaves nothing to find, or by hand. Each is read after nobody has touched it for a
// while. So a mistake is reported when it is made, not when the task is due.
type edits struct {
	*Store
	ctx context.Context

	mu    sync.Mutex
	names map[string]bool
	due   bool // a look is about to begin or goes on
}

// note remembers the file of an event in the queue.
func (w *edits) note(e watch.Event) {
	if !e.Made && !e.Written || w.ours(queueDir, e.File) || filepath.Ext(e.File) != suffix {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.names[e.File] = true
	if !w.due {
		w.due = true
		time.AfterFunc(untouched+untouched/8, w.review)
	}
}

// review looks at the noted files, and looks later at those that somebody is still editing.
func (w *edits) review() {
	w.mu.Lock()
	names := w.names
	w.names = map[string]bool{}
	w.mu.Unlock()
	w.lookAt(names)
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.Copy(w.names, names)
	if w.due = len(w.names) > 0 && w.ctx.Err() == nil; w.due {
		time.AfterFunc(untouched/2, w.review)
	}
}

// lookAt looks at the files that nobody edits any more, and takes them off the list. It sets aside
// and reports what cannot be understood, and reports what only its owner can mend.
func (w *edits) lookAt(names map[string]bool) {
	var bad []broken
	for file := range names {
		if w.ctx.Err() != nil {
			return
		}
		n, ok := parseName(file)
		if !ok || n.extra != "" {
			delete(names, file)
			if f, isTask := w.misnamed(queueDir, file); isTask {
				w.report(state.Problem{Path: w.path(queueDir + "/" + file), Err: errors.New(f.Text), Hint: f.Hint})
			}
			continue
		}
		f := found{n, queueDir}
		path := w.path(f.place())
		info, err := os.Lstat(path)
		if err == nil && !alone(info, untouched) {
			continue // somebody is at it
		}
		delete(names, file)
		switch task, err := w.readTask(f.place(), f.id); {
		case missing(err): // it has moved on
		case garbled(err) && info != nil:
			bad = append(bad, broken{f, err, info})
		case err != nil:
			w.report(w.problem(f, err))
		case w.check != nil:
			if err := w.check(task); err != nil {
				w.report(state.Problem{Path: path, Err: fmt.Errorf("%s %w; task %s does not run", path, err, f.id), Hint: "mend it"})
			}
		}
	}
	for _, b := range bad {
		switch p, err := w.quarantine(w.ctx, b); {
		case w.ctx.Err() != nil:
			return
		case errors.Is(err, errTouched): // somebody has mended it in the meantime
		case err != nil:
			w.report(w.problem(b.found, b.err))
		default:
			w.report(p)
		}
	}
}
