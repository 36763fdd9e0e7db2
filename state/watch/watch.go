// Package watch tells that something has changed in folders, soon and at least once after the last
// change.
//
// It is the one door to fsnotify, and adds what that does not promise: a watch that is lost, or
// whose folder is, is set anew, and where none can be had there are signals all the same.
package watch

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// check is how often a watch makes sure that the folder it sees is still the one at its path:
	// nothing tells when a folder above it is moved away.
	check = 15 * time.Minute
	// Tick is how often a signal is given where changes cannot be seen, and how soon a lost watch
	// is set again.
	Tick = 2 * time.Second
	// pollStep is how often the folders are looked at where the system's way of telling needs a
	// descriptor for every file in them (kqueue).
	pollStep = 200 * time.Millisecond
)

// named reports whether the system names what has changed in a folder.
const named = runtime.GOOS == "linux" || runtime.GOOS == "windows"

// polled reports whether the watch looks at its folders instead of being told.
func (w *Watch) polled() bool { return !named && !w.file }

// Event is what has happened to a file. If none of the three is set, its permissions have changed.
type Event struct {
	Folder, File        string
	Made, Written, Gone bool
}

// Watch is a watch of folders. It is set once, and then run.
type Watch struct {
	Paths []string         // the folders; without all of them there is nothing to watch
	Also  []string         // more of them, watched when they are there
	Tells func(Event) bool // whether a change is worth a signal
	// Lost is called when a watch that was lost could not be set anew for Tick, before that is
	// tried again: it may make a folder that is not there. Not sooner, for whoever removes a folder
	// may be about to remove the one above it, too. Or nil.
	Lost func()
	// Missed is called before a signal for changes of which Tells was not told, at each check among
	// others; or nil.
	Missed func()

	// Content says that what is in the files counts, beside their names: where folders are polled,
	// there is a signal each time.
	Content bool
	// Check is how often it makes sure that it sees what is at the paths, and signals; 0 means
	// every 15 minutes.
	Check time.Duration

	file bool // what is at the path is a file, and only its end counts

	signal  chan struct{}
	watcher *fsnotify.Watcher // nil when none could be had
	folders []os.FileInfo     // what is watched, in the order of paths
	next    time.Time         // when the next check, or the next attempt to set it, is due
	last    time.Time         // when they last changed, where they are polled
}

// Set places the watch, if the system lets it, and returns the channel of its signals, which holds
// one: many changes in a row are one.
func (w *Watch) Set() <-chan struct{} {
	w.signal = make(chan struct{}, 1)
	if w.Check == 0 {
		w.Check = check
	}
	if w.polled() {
		w.last = w.changed()
	} else {
		w.set()
	}
	return w.signal
}

// Run signals until ctx ends.
func (w *Watch) Run(ctx context.Context) {
	if w.polled() {
		w.poll(ctx)
	} else {
		w.run(ctx)
	}
}

// tell puts a signal into a channel unless one is waiting there.
func tell(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

// missed signals that something may have changed.
func (w *Watch) missed() {
	if w.Missed != nil {
		w.Missed()
	}
	tell(w.signal)
}

func (w *Watch) set() {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	var folders []os.FileInfo
	for _, path := range w.Paths {
		// Before the watch: if it is exchanged in between, the check finds out.
		folder, err := os.Stat(path)
		if err != nil || watcher.Add(path) != nil {
			watcher.Close()
			return
		}
		folders = append(folders, folder)
	}
	w.watcher, w.folders = watcher, folders
	w.setAlso()
}

// setAlso watches what may have come since. What is watched already stays so.
func (w *Watch) setAlso() {
	for _, path := range w.Also {
		w.watcher.Add(path)
	}
}

// moved reports whether a folder that is watched is no longer the one at its path.
func (w *Watch) moved() bool {
	for i, path := range w.Paths {
		if now, err := os.Stat(path); err != nil || !os.SameFile(now, w.folders[i]) {
			return true
		}
	}
	return false
}

// drop gives the watch up, to be set anew.
func (w *Watch) drop() {
	if w.watcher != nil {
		w.watcher.Close()
		w.watcher = nil
	}
}

// again sets a watch in the place of the one there was, and then signals: what changed in between
// is seen by whoever looks after the signal. Once ctx has ended it does nothing: the folder may be
// gone for good reason.
func (w *Watch) again(ctx context.Context) {
	w.drop()
	if ctx.Err() != nil {
		return
	}
	w.set()
	w.later()
	w.missed()
}

// later puts off the next check, or the next attempt to set the watch. Events do not: where many
// come, other machines may make changes that none of them tells of.
func (w *Watch) later() {
	pause := w.Check
	if w.watcher == nil {
		pause = Tick
	}
	w.next = time.Now().Add(pause)
}

func (w *Watch) run(ctx context.Context) {
	defer w.drop()
	w.later()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var events chan fsnotify.Event
		var errs chan error
		if w.watcher != nil {
			events, errs = w.watcher.Events, w.watcher.Errors
		}
		timer.Reset(time.Until(w.next))
		select {
		case <-ctx.Done():
			return
		case e, ok := <-events:
			if !ok { // set anew at the next tick
				w.drop()
				w.later()
				w.missed()
				continue
			}
			w.take(ctx, e)
		case <-errs: // events were lost, or the watch was
			w.again(ctx)
		case <-timer.C:
			switch {
			case w.watcher == nil:
				if w.Lost != nil && ctx.Err() == nil {
					w.Lost()
				}
				w.again(ctx)
			case w.moved():
				w.again(ctx)
			default:
				w.later()
				w.missed()
			}
		}
	}
}

// take signals if an event is worth it.
func (w *Watch) take(ctx context.Context, e fsnotify.Event) {
	gone := e.Has(fsnotify.Remove | fsnotify.Rename)
	switch {
	case slices.Contains(w.Paths, e.Name): // the folder itself
		if gone || w.moved() { // nothing tells of a file's end while somebody has it open
			w.again(ctx)
		}
	case slices.Contains(w.Also, e.Name):
	case w.Tells(Event{Folder: filepath.Dir(e.Name), File: filepath.Base(e.Name),
		Made: e.Has(fsnotify.Create), Written: e.Has(fsnotify.Write), Gone: gone}):
		w.setAlso()
		tell(w.signal)
	}
}

// changed is when one of the folders last changed.
func (w *Watch) changed() (last time.Time) {
	for _, path := range w.Paths {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// poll looks at the folders' times of change. Those are as fine as the system's clock ticks, so
// there is a signal now and then anyway.
func (w *Watch) poll(ctx context.Context) {
	ticker := time.NewTicker(pollStep)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if now := w.changed(); w.Content || !now.Equal(w.last) || n%int(Tick/pollStep) == 0 {
			w.last = now
			w.missed()
		}
	}
}

// Gone signals, until ctx ends, when there is no file at a path, or no longer the same, and now and
// then in any case. Where nothing can be watched it signals every 2 s.
func Gone(ctx context.Context, path string) <-chan struct{} {
	w := &Watch{Paths: []string{path}, Tells: func(Event) bool { return false }, file: true}
	signal := w.Set()
	if w.watcher == nil {
		tell(w.signal)
	}
	go w.Run(ctx)
	return signal
}
