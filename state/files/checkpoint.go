package files

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// renew replaces a log that could not be synced: it must not be synced again.
func (t *tx) renew() error {
	records, _, err := t.log.commits(headSize)
	if err != nil {
		return err
	}
	data := t.at.head()
	for _, r := range records {
		if r.end <= t.at.Size {
			data = append(data, r.text()...)
		}
	}
	t.at.Size = int64(len(data))
	copy(data, t.at.head())
	if err := replace(t.disk, t.path(commitsFile), data); err != nil {
		return err
	}
	return t.reopen()
}

// reopen opens the log that has replaced the old one.
func (t *tx) reopen() error {
	if t.log != nil {
		t.log.Close()
	}
	l, err := t.openLog(true)
	t.log = l
	return err
}

// checkpoint makes the disk take everything that the log stands for, and drops its records. Others
// have to wait for it, so Sync does most of it before it takes the lock.
func (t *tx) checkpoint() error {
	records, _, err := t.log.commits(headSize)
	if err != nil {
		return err
	}
	if len(records) == 0 && t.log.size <= headSize {
		return nil
	}
	return t.dropRecords(records, t.syncAll(records))
}

// dropRecords drops records after the disk was asked to take their files. err is its answer.
func (t *tx) dropRecords(records []commit, err error) error {
	if errors.Is(err, plainfile.ErrSync) {
		err = t.rewrite(records)
	}
	if err != nil {
		return fail("making the disk take changes", err)
	}
	return t.empty()
}

// syncAll makes the disk take what records have changed.
func (s *Store) syncAll(records []commit) error {
	files, dirs := s.touched(records)
	err := s.disk.sync(files)
	for _, dir := range dirs {
		if err == nil {
			err = s.syncFolder(dir)
		}
	}
	return err
}

// syncFolder makes the disk take the names in a folder of the state. One that somebody has removed
// is made again, for the log would grow until it is there. The state folder itself is not: it may
// have been moved away with all that is in it. Nor is the queue, if there were tasks (vanished).
func (s *Store) syncFolder(path string) error {
	err := s.disk.syncDir(path)
	if missing(err) && path != s.dir && s.stillLed() == nil && s.vanished() == nil && s.disk.mkdir(path) == nil {
		err = s.disk.syncDir(filepath.Dir(path))
	}
	return err
}

// rewrite writes the files that records have changed again as new files. A file that the disk has
// once failed to take must not be synced again.
func (t *tx) rewrite(records []commit) error {
	files, dirs := t.touched(records)
	for _, f := range files {
		data, err := readFile(f, 1<<40)
		if err == nil {
			err = replace(t.disk, f, data)
		}
		if err != nil && !missing(err) {
			return fail("making the disk take changes", err)
		}
	}
	for _, dir := range dirs {
		if err := t.syncFolder(dir); err != nil {
			return fail("making the disk take changes", err)
		}
	}
	return nil
}

// empty drops the records. The disk has their changes.
func (t *tx) empty() error {
	t.at.Size, t.at.Boot = headSize, t.boot()
	if err := t.disk.mark(t.log.Handle, 0, t.at.head()); err != nil {
		return fail("writing the log of commits", err)
	}
	if err := t.disk.cut(t.log.Name(), headSize); err != nil {
		return fail("writing the log of commits", err)
	}
	t.log.size, t.next = headSize, t.at
	return nil
}

// Sync makes the disk take what the log stands for, while others use the state, and then drops its
// records. If more was committed meanwhile, the records stay for the next time.
func (s *Store) Sync(ctx context.Context) error {
	l, err := s.openLog(false)
	if missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer l.Close()
	if l.size <= headSize || !l.applied(s.boot()) {
		return ctx.Err()
	}
	records, _, err := l.commits(headSize)
	if err != nil {
		return err
	}
	bad := s.syncAll(records)
	return s.transact(ctx, func(t *tx) (err error) {
		switch {
		case bad != nil: // later records are not synced yet, and not among the refused files
			if records, _, err = t.log.commits(headSize); err != nil {
				return err
			}
		case !t.log.Same(l.Handle) || t.log.size != l.size || t.at.Seq != l.head.Seq:
			return nil
		}
		return t.dropRecords(records, bad)
	})
}

// pending reports whether something is committed but not applied, so that readers would not see it.
func (s *Store) pending() bool {
	l, err := s.openLog(false)
	if err != nil {
		return false
	}
	defer l.Close()
	return !l.applied(s.boot()) && l.size > headSize
}
