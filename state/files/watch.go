package files

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// watchCheck is how often a watch makes sure that the folder it sees is still the one at its path: nothing tells when
	// a folder above it is moved away.
	watchCheck = time.Minute
	// watchTick is how often a signal is given where changes cannot be seen, and how soon a lost watch is set again.
	watchTick = 2 * time.Second
	// pollStep is how often the queue's folder is looked at where the system's way of telling needs a descriptor for
	// every file in it (kqueue).
	pollStep = 200 * time.Millisecond
)

// Watch sees names come and go in the queue. Its channel holds one signal: many changes in a row are one. It makes the
// queue's folder, as there is nothing to watch without it. When events were lost, or the folder was, it signals and
// watches anew. Where no watch can be had (the system's limit on them is reached) it signals every 2 s and keeps trying.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	if err := s.guard(); err != nil {
		return nil, err
	}
	if err := s.furnish(); err != nil {
		return nil, err
	}
	signal := make(chan struct{}, 1)
	w := &watch{Store: s, signal: signal, check: watchCheck}
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		go w.poll(ctx, w.stat())
		return signal, nil
	}
	w.set()
	go w.run(ctx)
	return signal, nil
}

type watch struct {
	*Store
	signal  chan struct{}
	watcher *fsnotify.Watcher // nil when none could be had
	folder  os.FileInfo       // what is watched
	check   time.Duration
}

// tell puts a signal into the channel unless one is waiting there.
func (w *watch) tell() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// set places the watch, if the system lets it.
func (w *watch) set() {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	folder, err := os.Stat(w.path(queueDir)) // before the watch: if it is exchanged in between, the check finds out
	if err != nil || watcher.Add(w.path(queueDir)) != nil {
		watcher.Close()
		return
	}
	w.watcher, w.folder = watcher, folder
}

// drop gives the watch up, to be set anew.
func (w *watch) drop() {
	if w.watcher != nil {
		w.watcher.Close()
		w.watcher = nil
	}
}

func (w *watch) run(ctx context.Context) {
	defer w.drop()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var events chan fsnotify.Event
		var errs chan error
		if w.watcher != nil {
			events, errs = w.watcher.Events, w.watcher.Errors
			timer.Reset(w.check)
		} else {
			timer.Reset(watchTick)
		}
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			switch {
			case !ok:
				w.drop()
				w.tell()
			case e.Name == w.path(queueDir): // the folder itself: gone, or about to be
				if e.Has(fsnotify.Remove | fsnotify.Rename) {
					w.drop()
					w.again(ctx)
				}
			default:
				if _, ours := parseName(filepath.Base(e.Name)); ours {
					w.tell()
				}
			}
		case <-errs: // events were lost, or the watch was
			w.drop()
			w.again(ctx)
		case <-timer.C:
			if w.watcher == nil {
				w.again(ctx)
			} else if now, err := os.Stat(w.path(queueDir)); err != nil || !os.SameFile(now, w.folder) {
				w.drop()
				w.again(ctx)
			}
		}
	}
}

// again makes the folder if it is gone, sets the watch, and then signals: what changed in between is seen by whoever looks
// after the signal. Once ctx has ended it does nothing: the folder may be gone for good reason.
func (w *watch) again(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	if w.guard() == nil && w.furnish() == nil {
		w.set()
	}
	w.tell()
}

// stat is when the queue's folder last changed.
func (w *watch) stat() time.Time {
	info, err := os.Stat(w.path(queueDir))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// poll looks at the folder's time of change. That is as fine as the system's clock ticks, so there is a signal now and
// then anyway.
func (w *watch) poll(ctx context.Context, last time.Time) {
	ticker := time.NewTicker(pollStep)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if now := w.stat(); !now.Equal(last) || n%int(watchTick/pollStep) == 0 {
			last = now
			w.tell()
		}
	}
}
