package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/guard"
)

// mainFiles are those of ours that every writer opens.
var mainFiles = []string{lockFile, ledgerFile, leadFile, commitsFile}

// guard refuses a state folder in which somebody else could plant a command: one of its folders can
// be written by group or others, belongs to another user (as when sudo kept HOME), or is a link.
// What is not there is fine. The state folder itself may be a link; what it stands for is looked
// at.
func (s *Store) guard() error {
	if s.inspect {
		return nil
	}
	if err := s.guardPlaces(folders...); err != nil {
		return err
	}
	for _, f := range mainFiles {
		if err := guard.Plain(s.path(f)); err != nil {
			return err
		}
	}
	return nil
}

// guardPlaces is guard of the state folder and of some of ours: a writer looks at those that it
// writes to.
func (s *Store) guardPlaces(places ...string) error {
	if s.inspect {
		return nil
	}
	if err := guard.Home(s.dir); missing(err) { // and all that would be in it
		return nil
	} else if err != nil {
		return err
	}
	for _, f := range places {
		if err := guard.Folder(s.path(f)); err != nil && !missing(err) {
			return err
		}
	}
	return nil
}

// guardWriter is what every writer looks at.
func (s *Store) guardWriter() error { return s.guardPlaces(queueDir, runsDir) }

// latelyMost is how long a handle that follows the queue believes that the folders are as they were: it takes
// the lock many times a second when much is due.
const latelyMost = 100 * time.Millisecond

// lately is check, unless that found nothing wrong just now.
func (s *Store) lately(last *time.Time, check func() error) error {
	now := time.Now()
	s.mu.Lock()
	since, fresh := now.Sub(*last), s.opened.Equal(*last)
	s.mu.Unlock()
	if since >= 0 && since < latelyMost && (s.followed.Load() || fresh) {
		return nil
	}
	if err := check(); err != nil {
		return err
	}
	s.mu.Lock()
	*last = now
	s.mu.Unlock()
	return nil
}

// vanished refuses a state whose queue is gone while the ledger is not: made anew, it would say
// that nothing is pending. A folder that is gone whole is a fresh start.
func (s *Store) vanished() error {
	if s.inspect || !s.queueGone() {
		return nil
	}
	path := s.path(queueDir)
	return fmt.Errorf("%w: %s is gone, and the ledger knows of tasks; put it back, or go on without them: mkdir -m 700 %s",
		state.ErrUnusable, path, quoted(path))
}

// queueGone reports whether there is a ledger with lines and no queue.
func (s *Store) queueGone() bool {
	if _, err := os.Lstat(s.path(queueDir)); !missing(err) {
		return false
	}
	if info, err := os.Lstat(s.path(ledgerFile)); err != nil || info.Size() == 0 {
		return false
	}
	_, err := os.Lstat(s.path(queueDir)) // the first writer ever makes both, the queue first
	return missing(err)
}

// ready looks at all folders, and makes those that are not there yet.
func (s *Store) ready() error {
	if err := s.guard(); err != nil {
		return err
	}
	return s.furnish()
}

// furnish makes the folders that are not there yet, durably.
func (s *Store) furnish() error {
	if s.inspect {
		return fmt.Errorf("%w: it was opened for a look", state.ErrUnusable)
	}
	if err := s.vanished(); err != nil {
		return err
	}
	if _, err := os.Stat(s.dir); missing(err) {
		if err := s.mkdirs(s.dir); err != nil {
			return fail("making the state folder", err)
		}
	}
	var parents []string // in order, so that a replay of the steps is the same each time
	for _, f := range folders {
		p := s.path(f)
		if _, err := os.Lstat(p); err == nil {
			continue
		}
		if err := s.disk.mkdir(p); err != nil && !os.IsExist(err) {
			return fail("making the state folder", err)
		}
		if parent := filepath.Dir(p); !slices.Contains(parents, parent) {
			parents = append(parents, parent)
		}
	}
	for _, parent := range parents {
		if err := s.disk.syncDir(parent); err != nil {
			return fail("making the state folder", err)
		}
	}
	return nil
}

// mkdirs makes a folder and those above it.
func (s *Store) mkdirs(path string) error {
	parent := filepath.Dir(path)
	if _, err := os.Stat(parent); missing(err) && parent != path {
		if err := s.mkdirs(parent); err != nil {
			return err
		}
	}
	if err := s.disk.mkdir(path); err != nil && !os.IsExist(err) {
		return err
	}
	return s.disk.syncDir(parent)
}
