package files

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// WatchLog returns a channel that receives after lines were added to the ledger and, of the task that is named, after claims of
// it came or went and its runs wrote: soon, and at least once after the last change, until ctx ends. It holds one signal: many
// changes in a row are one. It makes and changes nothing. The watch is in place before WatchLog returns; while there is
// nothing to watch yet, or where the system has no way to tell, it ticks.
func (s *Store) WatchLog(ctx context.Context, taskID string) (<-chan struct{}, error) {
	if err := s.guard(); err != nil {
		return nil, err
	}
	signal := make(chan struct{}, 1)
	w := &logWatch{Store: s, signal: signal, every: watchCheck, id: taskID}
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		go w.tick(ctx)
		return signal, nil
	}
	if v, err := s.Volume(); err == nil && v.Network { // nobody tells what other machines do
		w.every = watchTick
	}
	w.set()
	go w.run(ctx)
	return signal, nil
}

// logWatch is a watch of the ledger, and of a task's runs.
type logWatch struct {
	*Store
	signal  chan struct{}
	watcher *fsnotify.Watcher // nil when none could be had
	folders []os.FileInfo     // what is watched, in the order of places
	every   time.Duration     // how often it makes sure that these are still the folders at their paths
	id      string
	output  bool // the folder of its output is watched
}

// tell puts a signal into the channel unless one is waiting there.
func (w *logWatch) tell() {
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// drop gives the watch up, to be set anew.
func (w *logWatch) drop() {
	if w.watcher != nil {
		w.watcher.Close()
		w.watcher = nil
	}
}

// tick signals where nothing tells of changes.
func (w *logWatch) tick(ctx context.Context) {
	ticker := time.NewTicker(pollStep)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.tell()
		}
	}
}

// set places the watch, if the system lets it and there is a folder.
func (w *logWatch) set() {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	var folders []os.FileInfo
	for _, place := range w.places() {
		folder, err := os.Stat(w.path(place)) // before the watch: if it is exchanged in between, the check finds out
		if err != nil || watcher.Add(w.path(place)) != nil {
			watcher.Close()
			return
		}
		folders = append(folders, folder)
	}
	w.watcher, w.folders, w.output = watcher, folders, false
	w.setOutput()
}

// places are the folders that are watched, but for that of the output.
func (w *logWatch) places() []string {
	if w.id == "" {
		return []string{runsDir}
	}
	return []string{runsDir, openDir}
}

// setOutput watches what the task's runs write. Their folder is made before their claim is seen.
func (w *logWatch) setOutput() {
	if w.id != "" && !w.output {
		w.output = w.watcher.Add(w.path(outputDir+"/"+w.id)) == nil
	}
}

// moved reports whether a folder that is watched is no longer the one at its path.
func (w *logWatch) moved() bool {
	for i, place := range w.places() {
		if now, err := os.Stat(w.path(place)); err != nil || !os.SameFile(now, w.folders[i]) {
			return true
		}
	}
	return false
}

func (w *logWatch) run(ctx context.Context) {
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
			if ok {
				w.take(e)
				continue
			}
			w.drop()
		case <-errs: // events were lost, or the watch was
			w.drop()
		case <-timer.C:
			if w.watcher != nil && w.moved() {
				w.drop()
			}
		}
		if w.watcher == nil {
			w.set()
		}
		w.tell()
	}
}

// take signals if an event is worth a look.
func (w *logWatch) take(e fsnotify.Event) {
	dir, file := filepath.Split(e.Name)
	switch dir = filepath.Clean(dir); {
	case e.Name == w.path(runsDir) || e.Name == w.path(openDir): // the folder itself: gone, or about to be
		if e.Has(fsnotify.Remove | fsnotify.Rename) {
			w.drop()
			w.set()
			w.tell()
		}
	case dir == w.path(runsDir):
		if file == ledgerName && !e.Has(fsnotify.Chmod) {
			w.tell()
		}
	case dir == w.path(openDir):
		if strings.HasPrefix(file, w.id+".") && e.Has(fsnotify.Create|fsnotify.Remove) {
			w.setOutput()
			w.tell()
		}
	case e.Name == w.path(outputDir+"/"+w.id):
		w.output = false
	case e.Has(fsnotify.Create | fsnotify.Write):
		w.tell()
	}
}
