package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ouro-timer/ouro-timer/state"
)

const (
	// watchCheck is how often a watch makes sure that the folder it sees is still the one at its path: nothing tells when
	// a folder above it is moved away.
	watchCheck = 15 * time.Minute
	// watchTick is how often a signal is given where changes cannot be seen, and how soon a lost watch is set again.
	watchTick = 2 * time.Second
	// pollStep is how often the queue's folder is looked at where the system's way of telling needs a descriptor for
	// every file in it (kqueue).
	pollStep = 200 * time.Millisecond
)

// Watch sees names come and go in the queue, and claims and requests to end them come among the open records; that a claim has
// ended makes no signal. Its channel holds one signal: many changes in a row are one. It makes the folders, as there is nothing
// to watch without them. When events were lost, or a folder was, it signals and watches anew. It is for the process that serves the queue: where the system names what has changed (Linux, Windows), files edited by
// hand are read, once left alone, and what cannot be understood is set aside and reported. Where no watch can be had (the
// system's limit on them is reached) it signals every 2 s and keeps trying.
//
// While it watches, on Linux, the handle does not list the queue anew for Next and DueBy.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	if err := s.guard(); err != nil {
		return nil, err
	}
	if err := s.furnish(); err != nil {
		return nil, err
	}
	signal := make(chan struct{}, 1)
	w := &watch{Store: s, signal: signal, places: watched, every: watchCheck}
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		go w.poll(ctx, w.stat())
		return signal, nil
	}
	w.set()
	stop := s.live.keep(s)
	go func() {
		defer stop()
		w.run(ctx)
	}()
	return signal, nil
}

// WatchMail sees names come in the inbox and the outbox.
func (s *Store) WatchMail(ctx context.Context) (<-chan struct{}, error) {
	if err := s.guard(); err != nil {
		return nil, err
	}
	if err := s.furnish(); err != nil {
		return nil, err
	}
	signal := make(chan struct{}, 1)
	w := &watch{Store: s, signal: signal, places: mailWatched, every: watchCheck}
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
	places  []string          // whose names it sees
	watcher *fsnotify.Watcher // nil when none could be had
	folders []os.FileInfo     // what is watched, in the order of places
	every   time.Duration     // watchCheck, but for tests
	edits   edits
}

// watched are the places whose names a watch of the tasks sees, and mailWatched those of one of the inbox and the outbox.
var (
	watched     = []string{queueDir, openDir}
	mailWatched = []string{inboxDir, outboxDir}
)

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
	var folders []os.FileInfo
	for _, place := range w.places {
		folder, err := os.Stat(w.path(place)) // before the watch: if it is exchanged in between, the check finds out
		if err != nil || watcher.Add(w.path(place)) != nil {
			watcher.Close()
			return
		}
		folders = append(folders, folder)
	}
	w.watcher, w.folders = watcher, folders
}

// moved reports whether a folder that is watched is no longer the one at its path.
func (w *watch) moved() bool {
	for i, place := range w.places {
		if now, err := os.Stat(w.path(place)); err != nil || !os.SameFile(now, w.folders[i]) {
			return true
		}
	}
	return false
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
			timer.Reset(w.every)
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
			case slices.ContainsFunc(w.places, func(place string) bool { return e.Name == w.path(place) }): // the folder itself: gone, or about to be
				if e.Has(fsnotify.Remove | fsnotify.Rename) {
					w.drop()
					w.again(ctx)
				}
			case w.tells(e):
				w.tell()
			}
			w.note(e)
		case <-w.edits.due:
			w.review(ctx)
		case <-errs: // events were lost, or the watch was
			w.drop()
			w.again(ctx)
		case <-timer.C:
			if w.watcher == nil {
				w.again(ctx)
			} else if w.moved() {
				w.drop()
				w.again(ctx)
			}
		}
	}
}

// tells reports whether an event is of a task, a new claim, or a request to end one. Notes and ends of claims are not worth a look.
func (w *watch) tells(e fsnotify.Event) bool {
	dir, file := filepath.Split(e.Name)
	switch filepath.Clean(dir) {
	case w.path(inboxDir):
		_, ours := parseItem(file)
		return ours && e.Has(fsnotify.Create)
	case w.path(outboxDir):
		_, ours := parseNotice(file)
		return ours && e.Has(fsnotify.Create)
	case w.path(openDir):
	default:
		_, ours := parseName(file)
		return ours
	}
	record, halt := strings.CutSuffix(file, ".halt")
	if halt { // made empty, and then written to
		file = record + suffix
	}
	_, ours := parseRecordName(file)
	return ours && (e.Has(fsnotify.Create) || halt && e.Has(fsnotify.Write))
}

// again makes the folder if it is gone whole and says so; a queue that is gone by itself is not made. It sets
// the watch, and then signals: what changed in between is seen by whoever looks after the signal. Once ctx has ended it does nothing: the folder may be gone for good reason.
func (w *watch) again(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	if w.guard() == nil && w.vanished() == nil {
		if _, err := os.Stat(w.dir); missing(err) {
			w.report(state.Problem{Path: w.dir, Err: errors.New("is gone, with all tasks that were in it"), Hint: "it is made anew; put it back, and call: ouro-timer run --stop, then ouro-timer run --background"})
		}
		if w.furnish() == nil {
			w.set()
		}
	}
	w.tell()
}

// stat is when one of the folders last changed.
func (w *watch) stat() (last time.Time) {
	for _, place := range w.places {
		if info, err := os.Stat(w.path(place)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
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
