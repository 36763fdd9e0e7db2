package files

import (
	"context"
	"os"
	"strings"

	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/state/watch"
)

// WatchMail watches names come in the inbox and the outbox.
func (s *Store) WatchMail(ctx context.Context) (<-chan struct{}, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	return s.watch(ctx, &watch.Watch{Paths: []string{s.path(inboxDir), s.path(outboxDir)}, Lost: s.remake, Tells: func(e watch.Event) bool {
		_, item := parseItem(e.File)
		_, notice := parseNotice(e.File)
		return e.Made && (item && e.Folder == s.path(inboxDir) || notice && e.Folder == s.path(outboxDir))
	}}), nil
}

// watch starts a watch. The system does not report what other machines do, so where they may have
// the folder, too, it signals every 2 s.
func (s *Store) watch(ctx context.Context, w *watch.Watch) <-chan struct{} {
	if v, err := s.Volume(); err == nil && v.Network {
		w.Check = watch.Tick
	}
	signal := w.Set()
	go w.Run(ctx)
	return signal
}

// tellsOfClaim reports whether an event is about a new claim or a request to end one. Notes and
// ends of claims need no look.
func tellsOfClaim(e watch.Event) bool {
	record, halt := strings.CutSuffix(e.File, ".halt")
	if halt { // made empty, and then written to
		record += suffix
	}
	_, ours := parseRecordName(record)
	return ours && (e.Made || halt && e.Written)
}

// remake makes folders again that are gone. It does not make a queue that is gone alone, and no
// state folder: its runner has lost its lock with it.
func (s *Store) remake() {
	if _, err := os.Stat(s.dir); err == nil && s.guard() == nil {
		s.furnish() // if this fails it is tried again
	}
}

// WatchLog returns a channel that receives after lines were added to the ledger. If a task is
// named, it also receives after a claim of the task came or went and after its runs wrote
// something. It receives soon, and at least once after the last change, until ctx ends. It holds
// one signal: many changes in a row are one. The watch is in place before WatchLog returns, and
// changes nothing. As long as there is nothing to watch, or on systems that cannot tell of changes,
// the channel ticks.
func (s *Store) WatchLog(ctx context.Context, taskID string) (<-chan struct{}, error) {
	if err := s.guard(); err != nil {
		return nil, err
	}
	w := &watch.Watch{Paths: []string{s.path(runsDir)}, Content: true}
	if taskID != "" {
		w.Paths = append(w.Paths, s.path(openDir))
		w.Also = []string{s.path(outputDir + "/" + taskID)} // made before the claim is seen
	}
	w.Tells = func(e watch.Event) bool {
		switch e.Folder {
		case s.path(runsDir):
			return e.File == ledger.Name && (e.Made || e.Written || e.Gone)
		case s.path(openDir):
			return strings.HasPrefix(e.File, taskID+".") && (e.Made || e.Gone)
		}
		return e.Made || e.Written
	}
	return s.watch(ctx, w), nil
}
