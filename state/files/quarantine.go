package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// broken is a file to set aside.
type broken struct {
	found
	err  error
	info os.FileInfo
}

// Quarantine reads every task, without the lock, and moves files that no waiting will make readable
// into timers/corrupt. Files of a newer version, and those that this user may not read, stay where
// they are.
func (s *Store) Quarantine(ctx context.Context, unchanged time.Duration) ([]state.Problem, error) {
	all, err := s.snapshot(ctx, everything, "")
	if err != nil {
		return nil, err
	}
	var bad []broken
	doubles := all.doubles()
	for f := range all.found() {
		_, err := s.readTask(f.place(), f.id)
		if files, more := doubles[f.id]; more && err == nil {
			if win, _ := s.winner(files); f != win {
				err = state.ErrCopy
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if !garbled(err) && !errors.Is(err, state.ErrCopy) {
			continue
		}
		if info, statErr := os.Lstat(s.path(f.place())); statErr == nil && alone(info, unchanged) {
			bad = append(bad, broken{f, err, info})
		}
	}
	if len(bad) == 0 {
		return nil, nil
	}
	slices.SortFunc(bad, func(a, b broken) int { return strings.Compare(a.place(), b.place()) })
	var moved []state.Problem
	for _, b := range bad {
		switch p, err := s.quarantine(ctx, b); {
		case errors.Is(err, errTouched):
		case err != nil:
			return moved, err
		default:
			moved = append(moved, p)
		}
	}
	return moved, nil
}

// quarantine is one transaction of Quarantine. It returns errTouched if somebody has changed the
// file since it was looked at.
func (s *Store) quarantine(ctx context.Context, b broken) (p state.Problem, err error) {
	err = s.transact(ctx, func(t *tx) (err error) { p, err = t.quarantine(b); return err })
	return p, err
}

// alone reports whether a file has not been changed for this long. A file from the future was
// written before the clock was put back, so nobody is writing it now.
func alone(info os.FileInfo, d time.Duration) bool { return time.Since(info.ModTime()).Abs() >= d }

// errTouched is a file that was changed after the look, because somebody is mending it.
var errTouched = errors.New("was changed in the meantime")

// quarantine collects the move of one file and the line about it.
func (t *tx) quarantine(b broken) (state.Problem, error) {
	now, err := os.Lstat(t.path(b.place()))
	if err != nil || !now.ModTime().Equal(b.info.ModTime()) || now.Size() != b.info.Size() {
		return state.Problem{}, errTouched
	}
	to := t.asidePlace(b.queue())
	due := b.time()
	line := state.Line{Type: state.LineTask, At: time.Now(), TaskID: b.id, Event: state.EventQuarantined, Due: &due, Reason: b.err.Error()}
	old, _ := readFile(t.path(b.place()), recordLimit)
	t.move(b.place(), to, old)
	if err := t.write(line); err != nil {
		return state.Problem{}, err
	}
	p := state.Problem{Path: t.path(to), Err: b.err, Hint: "it was set aside; mend it and move it back to " + t.path(b.place())}
	if errors.Is(b.err, state.ErrCopy) {
		p.Hint = "it was set aside; when nothing in it is wanted: rm " + quoted(p.Path)
	}
	return p, nil
}

// asidePlace is a place in timers/corrupt where no file is yet.
func (t *tx) asidePlace(file string) string {
	to := corruptDir + "/" + file
	for i := 2; ; i++ {
		if _, err := os.Lstat(t.path(to)); missing(err) {
			return to
		}
		to = fmt.Sprintf("%s/%s.%d", corruptDir, file, i)
	}
}

// Quarantined returns the paths of the task files that were set aside. It reads one small folder.
func (s *Store) Quarantined(ctx context.Context) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	all, err := s.allQuarantined()
	return slices.DeleteFunc(all, s.olderCopy), err
}

// olderCopy reports whether a file that was set aside is a copy of an existing task with the same
// or a newer revision. It takes no lock. It can miss a task that moves meanwhile, whose copy is
// then reported.
func (s *Store) olderCopy(path string) bool {
	n, ok := quarantineName(filepath.Base(path))
	if !ok {
		return false
	}
	old, err := s.readTask(corruptDir+"/"+filepath.Base(path), n.id)
	if err != nil {
		return false
	}
	all, err := s.list(everything, n.id)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(all.tasks, func(l listed) bool {
		f := l.found()
		now, err := s.readTask(f.place(), f.id)
		return err == nil && now.ID == old.ID && now.Revision >= old.Revision
	})
}

// folderBefore is the folder in which, by the ledger, the file of a task was before it was set
// aside.
func (s *Store) folderBefore(id string) string {
	dir := queueDir // also if the ledger cannot be read
	_ = s.history(id, func(e ledger.Entry) bool {
		switch e.Event {
		case state.EventPaused:
			dir = pausedDir
		case state.EventRemoved:
			dir = removedDir
		case state.EventFinished:
			dir = endedDir
		case state.EventCreated, state.EventResumed, state.EventRestored:
		default:
			return true
		}
		return false
	})
	return dir
}

// allQuarantined returns every file that was set aside.
func (s *Store) allQuarantined() ([]string, error) {
	names, err := readNames(s.path(corruptDir))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = s.path(corruptDir + "/" + name)
	}
	return names, nil
}

// quarantinedOf returns the files of a task that were set aside.
func (s *Store) quarantinedOf(id string) (files []string, err error) {
	all, err := readNames(s.path(corruptDir))
	for _, file := range all {
		if n, ok := quarantineName(file); ok && n.id == id {
			files = append(files, file)
		}
	}
	return files, err
}

// quarantineName reads the name of a file in timers/corrupt: a task's, perhaps with a number after
// it.
func quarantineName(file string) (name, bool) {
	base, _, _ := strings.Cut(file, suffix)
	return parseName(base + suffix)
}
