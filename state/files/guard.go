package files

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// mainFiles are those of ours that every writer opens.
var mainFiles = []string{lockFile, ledgerFile, leadFile, commitsFile}

// guard refuses a state folder in which somebody else could plant a command: one of its folders can be written by group or
// others, belongs to another user (as when sudo kept HOME), or is a link. What is not there is fine. The state folder
// itself may be a link; what it stands for is looked at.
func (s *Store) guard() error {
	if s.inspect {
		return nil
	}
	if err := s.guardPlaces(folders...); err != nil {
		return err
	}
	for _, f := range mainFiles {
		if err := s.guardMain(f); err != nil {
			return err
		}
	}
	return nil
}

// guardPlaces is guard of the state folder and of some of ours: a writer looks at those that it writes to.
func (s *Store) guardPlaces(places ...string) error {
	if s.inspect {
		return nil
	}
	if err := guardFolder(s.dir, os.Stat); err != nil {
		return err
	}
	for _, f := range places {
		if err := guardFolder(s.path(f), os.Lstat); err != nil {
			return err
		}
	}
	return nil
}

// guardWriter is what every writer looks at.
func (s *Store) guardWriter() error { return s.guardPlaces(queueDir, runsDir) }

// guardMain refuses one of the main files that is no plain file.
func (s *Store) guardMain(place string) error {
	info, err := os.Lstat(s.path(place))
	if missing(err) {
		return nil
	}
	if err != nil {
		return fail("the state folder", err)
	}
	if !info.Mode().IsRegular() {
		return oddMain(s.path(place))
	}
	return nil
}

func oddMain(path string) error {
	return fmt.Errorf("%w: %s is not a plain file; look at it, then type: rm %s", state.ErrUnusable, path, path)
}

// latelyMost is how long a handle that watches believes that the folders are as they were: it takes the lock many times a second when much is due.
const latelyMost = 100 * time.Millisecond

// lately is check, unless that found nothing wrong just now.
func (s *Store) lately(last *time.Time, check func() error) error {
	now := time.Now()
	s.mu.Lock()
	since := now.Sub(*last)
	s.mu.Unlock()
	if since >= 0 && since < latelyMost && (s.live.watching() || s.opened == *last) {
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

// guardFolder refuses a folder that must not be used. One that is not there is fine.
func guardFolder(path string, stat func(string) (os.FileInfo, error)) error {
	if err := guardThere(path, stat); !missing(err) {
		return err
	}
	return nil
}

// guardThere is guardFolder, but for one that is not there, which is os.ErrNotExist.
func guardThere(path string, stat func(string) (os.FileInfo, error)) error {
	info, err := stat(path)
	if missing(err) {
		return err
	}
	if err != nil {
		return fail("the state folder", err)
	}
	if !info.IsDir() {
		kind := "is not a folder"
		if info.Mode()&os.ModeSymlink != 0 {
			kind = "is a link, which may lead anywhere"
		}
		return fmt.Errorf("%w: %s %s; move it away", state.ErrUnusable, path, kind)
	}
	if uid, ok := owner(info); ok && uid != os.Geteuid() {
		return fmt.Errorf("%w: %s belongs to user %d and this is user %d; run it as that user, or set OURO_HOME to a folder of your own",
			state.ErrUnusable, path, uid, os.Geteuid())
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%w: %s can be written by others, who could have anything run in your name; type: chmod go-w %s",
			state.ErrUnusable, path, path)
	}
	return nil
}

// vanished refuses a state whose queue is gone while the ledger is not: made anew, it would say that nothing is pending. A folder
// that is gone whole is a fresh start.
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

// guardFile refuses a file that others can write to or own; root's is trusted, as everything of root's is.
func guardFile(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	uid, ok := owner(info)
	if !ok {
		return nil
	}
	return refuseOthers(path, uid, info.Mode())
}

// refuseOthers refuses a file of such an owner and mode when somebody else could have put something into it.
func refuseOthers(path string, uid int, mode os.FileMode) error {
	if self := os.Geteuid(); uid != self && uid != 0 {
		return fmt.Errorf("%w: %s belongs to user %d and this is user %d; look at it, then type: chown %d %s", state.ErrUnusable, path, uid, self, self, quoted(path))
	}
	if mode.Perm()&0o022 != 0 {
		return fmt.Errorf("%w: %s can be written by others; look at it, then type: chmod go-w %s", state.ErrUnusable, path, quoted(path))
	}
	return nil
}
