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

// mainFiles are the files that every writer opens.
var mainFiles = []string{lockFile, ledgerFile, leadFile, commitsFile}

// guard refuses a state folder in which somebody else could plant a command: group or others can
// write to one of its folders, it belongs to another user (as with a sudo that keeps HOME), or it
// is a link. A missing folder is fine. The state folder itself may be a link; guard then checks its
// target.
func (s *Store) guard() error {
	if s.inspect {
		return nil
	}
	now := time.Now()
	whole, err := s.guardFolders(folders...)
	for _, f := range mainFiles {
		if err == nil {
			err = guard.Plain(s.path(f))
		}
	}
	if err == nil {
		s.mu.Lock()
		s.guarded, s.whole = now, whole
		s.mu.Unlock()
	}
	return err
}

// guardFolders is guard for the state folder and some of its folders. whole says that all of them
// are there.
func (s *Store) guardFolders(places ...string) (whole bool, err error) {
	if err := guard.Home(s.dir); missing(err) { // and all that would be in it
		return false, nil
	} else if err != nil {
		return false, err
	}
	whole = true
	for _, f := range places {
		err := guard.Folder(s.path(f))
		if err != nil && !missing(err) {
			return false, err
		}
		whole = whole && err == nil
	}
	return whole, nil
}

// guardWriter checks what every writer writes to, unless guard found no fault just now.
func (s *Store) guardWriter() error {
	if lately, _ := s.lately(); lately || s.inspect {
		return nil
	}
	_, err := s.guardFolders(queueDir, runsDir)
	return err
}

// latelyMost is how long a handle that follows the queue, or was just opened, relies on its last
// check of the folders. When much is due, it takes the lock many times a second. A test changes it.
var latelyMost = 100 * time.Millisecond

// lately reports whether guard found no fault so recently that it is not repeated, and whether
// every folder was there. It is false for a handle that does not follow the queue and has checked
// the folders since it was opened.
func (s *Store) lately() (lately, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := time.Since(s.guarded)
	lately = since >= 0 && since < latelyMost && (s.followed.Load() || s.opened.Equal(s.guarded))
	return lately, lately && s.whole
}

// vanished refuses a state without a queue but with a ledger. An empty new queue would say that
// nothing is pending. A folder that is gone as a whole is a fresh start.
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
	_, err := os.Lstat(s.path(queueDir)) // the first writer makes both, the queue first
	return missing(err)
}

// stillLed refuses a runner a folder from which its lock was removed, or in which another one has
// its place. Somebody is removing the state, or has moved it away, and perhaps begun another one.
func (s *Store) stillLed() error {
	s.mu.Lock()
	led := s.led
	s.mu.Unlock()
	if led == nil {
		return nil
	}
	path := s.path(leadFile)
	now, err := os.Stat(path)
	if missing(err) {
		return fmt.Errorf("%w: %s is gone", state.ErrUnusable, path)
	}
	if err == nil && !os.SameFile(now, led) {
		return fmt.Errorf("%w: %s is not the lock that this runner took", state.ErrUnusable, path)
	}
	return nil
}

// ready checks all folders, and makes the missing ones.
func (s *Store) ready() error {
	if err := s.guard(); err != nil {
		return err
	}
	return s.furnish()
}

// furnish makes the missing folders, durably. It makes no state folder for the process that has
// followed the queue, because that had one before.
func (s *Store) furnish() error {
	if s.inspect {
		return fmt.Errorf("%w: it was opened for a look", state.ErrUnusable)
	}
	if err := s.stillLed(); err != nil {
		return err
	}
	if err := s.vanished(); err != nil {
		return err
	}
	if _, err := os.Stat(s.dir); missing(err) {
		if s.followed.Load() {
			return fmt.Errorf("%w: %s is gone", state.ErrUnusable, s.dir)
		}
		if err := s.mkdirs(s.dir); err != nil {
			return fail("making the state folder", err)
		}
	}
	var parents []string // in order, so that a replay has the same steps each time
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

// mkdirs makes a folder and its parents.
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
