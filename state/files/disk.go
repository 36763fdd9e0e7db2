package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// disk is every step by which the folder changes, and the only way it does: what a test has to intercept to stop, fail or
// replay an operation at any step. Paths are absolute. A step that returns an error has changed nothing that counts.
type disk interface {
	// mkdir makes a folder for its owner alone.
	mkdir(path string) error
	// create makes a file that must not exist, writes and syncs it; on error it is gone again. The name itself is durable
	// after syncDir.
	create(path string, data []byte) error
	// createAll is create of many files, in any order or side by side. On error some of them may be there.
	createAll(files []newFile) error
	// drafts is createAll without waiting for the disk: should the power go, each file may be there, damaged, or not, whatever else is
	// synced, until syncAll.
	drafts(files []newFile) error
	// syncAll has the disk take the content of files; those that are not there any more are left out.
	syncAll(paths []string) error
	// scribble puts data at the beginning of a file, made if need be, without waiting for the disk.
	scribble(path string, data []byte) error
	// patch writes data over the beginning of a file that is there, without waiting for the disk.
	patch(path string, data []byte) error
	// extend writes data at the end of a file that is size bytes long, and syncs it; on error it is cut back.
	// errSync when it was the sync that failed: the file must then not be synced again.
	extend(path string, size int64, data []byte) error
	// cut makes the file size bytes long, and syncs it.
	cut(path string, size int64) error
	rename(from, to string) error
	// link gives a file a second name, which must not be there.
	link(from, to string) error
	remove(path string) error
	// syncDir makes the names in a folder durable.
	syncDir(path string) error
}

// newFile is a file to be made.
type newFile struct {
	path string
	data []byte
}

// errSync is a sync that failed. What the system then believes to be on the disk may not be: the same file is never synced
// again, a new one is written instead.
var errSync = errors.New("the disk did not take it")

// osDisk is the real one.
type osDisk struct{}

func (osDisk) mkdir(path string) error { return plainfile.Mkdir(path) }

func (osDisk) create(path string, data []byte) error {
	f, err := begin(path, data)
	if err == nil {
		if err = finish(f); err != nil {
			os.Remove(path)
		}
	}
	return err
}

// createAll writes files side by side: the disk takes many at little more than the price of one. All are handed to it before the
// first is waited for.
func (d osDisk) createAll(files []newFile) (err error) {
	open := make([]*os.File, 0, min(len(files), abreast))
	for len(files) > 0 && err == nil {
		some := files[:min(len(files), abreast)]
		files = files[len(some):]
		open = open[:0]
		for _, n := range some {
			f, e := begin(n.path, n.data)
			if err = e; err != nil {
				break
			}
			if len(some) > 1 {
				writeBehind(f)
			}
			open = append(open, f)
		}
		for i, f := range open {
			if e := finish(f); e != nil {
				os.Remove(some[i].path)
				err = errors.Join(err, e)
			}
		}
	}
	return err
}

// drafts writes the files one after the other, which nobody waits for.
func (osDisk) drafts(files []newFile) error {
	for _, n := range files {
		f, err := begin(n.path, n.data)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (osDisk) syncAll(paths []string) (err error) {
	open := make([]*os.File, 0, min(len(paths), abreast))
	for len(paths) > 0 && err == nil {
		some := paths[:min(len(paths), abreast)]
		paths = paths[len(some):]
		open = open[:0]
		for _, path := range some {
			f, e := openFile(path, os.O_WRONLY, 0)
			if missing(e) {
				continue
			}
			if err = e; err != nil {
				break
			}
			writeBehind(f)
			open = append(open, f)
		}
		for _, f := range open {
			err = errors.Join(err, finish(f))
		}
	}
	return err
}

// abreast is how many files are open at a time.
const abreast = 64

// begin makes a file that must not exist, and writes it; on error it is gone again.
func begin(path string, data []byte) (*os.File, error) {
	f, err := openFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		os.Remove(path)
		return nil, err
	}
	return f, nil
}

// finish syncs and closes a file.
func finish(f *os.File) error {
	if err := f.Sync(); err != nil {
		f.Close()
		return fmt.Errorf("%w: %w", errSync, err)
	}
	return f.Close()
}

func (osDisk) scribble(path string, data []byte) error {
	f, err := openFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

func (osDisk) patch(path string, data []byte) error {
	f, err := openFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	return errors.Join(err, f.Close())
}

func (osDisk) extend(path string, size int64, data []byte) error {
	f, err := openFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteAt(data, size); err != nil {
		f.Truncate(size) // if this fails, too, the next writer cuts the torn line
		return err
	}
	if err := f.Sync(); err != nil {
		f.Truncate(size)
		return fmt.Errorf("%w: %w", errSync, err)
	}
	return nil
}

func (osDisk) cut(path string, size int64) error {
	f, err := openFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }
func (osDisk) link(from, to string) error   { return os.Link(from, to) }
func (osDisk) remove(path string) error     { return os.Remove(path) }
func (osDisk) syncDir(path string) error    { return syncDir(path) }

// fresh is a name for a new file beside path, ignored by every reader. Only writers that hold the state lock make them, so
// whoever holds it may remove those it finds.
func fresh(dir string) string {
	return filepath.Join(dir, tempPrefix+randomName())
}

// replace puts data in the place of the file at path, whole and durable. When the disk does not take the first file, a
// second is tried, as a failed sync cannot be repeated.
func replace(d disk, path string, data []byte) error {
	dir := filepath.Dir(path)
	temp := fresh(dir)
	err := d.create(temp, data)
	if errors.Is(err, errSync) {
		temp = fresh(dir)
		err = d.create(temp, data)
	}
	if err != nil {
		return err
	}
	if err := d.rename(temp, path); err != nil {
		d.remove(temp)
		return err
	}
	return d.syncDir(dir)
}
