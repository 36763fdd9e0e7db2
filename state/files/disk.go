package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// disk has every step that changes the folder, and nothing else changes it. Tests replace it to
// stop, fail or replay an operation at any step. Paths are absolute. A step that returns an error
// has changed nothing that counts. Only log, sync, cut and syncDir wait for the disk. What other
// steps do is visible to every process at once, but a loss of power can lose it.
type disk interface {
	// mkdir makes a folder that only its owner can use.
	mkdir(path string) error
	// create makes and writes a file that must not exist. On an error it removes the file.
	create(path string, data []byte) error
	// write puts data into a file from an offset on. The caller has looked at the file. It creates
	// the file if necessary.
	write(path string, at int64, data []byte) error
	// patch writes at the beginning of an existing file.
	patch(path string, data []byte) error
	// log writes data at the end of an open file, which is at this offset, and waits until the disk
	// has it. On an error it cuts the file back. plainfile.ErrSync: the wait failed, and the file
	// must not be synced again.
	log(f *plainfile.Handle, at int64, data []byte) error
	// mark writes data into an open file from an offset on.
	mark(f *plainfile.Handle, at int64, data []byte) error
	// cut makes a file size bytes long, and waits until the disk has that.
	cut(path string, size int64) error
	rename(from, to string) error
	// link gives a file a second name, which must not exist.
	link(from, to string) error
	remove(path string) error
	// sync waits until the disk has the content of files. It leaves out files that do not exist.
	sync(paths []string) error
	// syncDir waits until the disk has the names in a folder.
	syncDir(path string) error
}

// osDisk is the real one.
type osDisk struct{}

func (osDisk) mkdir(path string) error               { return plainfile.Mkdir(path) }
func (osDisk) create(path string, data []byte) error { return plainfile.Create(path, data) }
func (osDisk) write(path string, at int64, data []byte) error {
	return plainfile.Write(path, at, data)
}
func (osDisk) patch(path string, data []byte) error { return plainfile.Patch(path, data) }

func (osDisk) log(f *plainfile.Handle, at int64, data []byte) error {
	_, err := f.WriteAt(data, at)
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		f.Truncate(at) // if this fails, too, the next writer cuts what is torn
	}
	return err
}

func (osDisk) mark(f *plainfile.Handle, at int64, data []byte) error {
	_, err := f.WriteAt(data, at)
	return err
}

func (osDisk) cut(path string, size int64) error {
	f, err := plainfile.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err := f.Truncate(size); err != nil {
		f.Close()
		return err
	}
	return plainfile.Finish(f)
}

func (osDisk) rename(from, to string) error { return plainfile.Rename(from, to) }
func (osDisk) link(from, to string) error   { return os.Link(from, to) }
func (osDisk) remove(path string) error     { return os.Remove(path) }
func (osDisk) syncDir(path string) error    { return plainfile.SyncFolder(path) }

// sync makes the disk take the files concurrently, which costs little more than one. For many files
// it asks for all that was written to their file system, which is one call instead of thousands.
func (osDisk) sync(paths []string) error {
	if len(paths) > eachMost {
		left, err := syncAround(paths)
		if err != nil {
			return err
		}
		paths = left
	}
	errs := make([]error, min(len(paths), abreast))
	var next atomic.Int64
	var all sync.WaitGroup
	for k := range errs {
		all.Go(func() {
			for i := next.Add(1); i <= int64(len(paths)) && errs[k] == nil; i = next.Add(1) {
				errs[k] = syncFile(paths[i-1])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// syncAround makes the disk take what was written to the file systems of files. It returns the
// files for which this is not certain.
func syncAround(paths []string) (left []string, err error) {
	var dirs []string
	for _, p := range paths {
		if dir := filepath.Dir(p); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	sure, err := plainfile.SyncAround(dirs)
	for _, p := range paths {
		if !sure[filepath.Dir(p)] {
			left = append(left, p)
		}
	}
	return left, err
}

func syncFile(path string) error {
	f, err := plainfile.OpenHandle(path, true)
	switch {
	case missing(err):
		return nil
	case errors.Is(err, os.ErrPermission): // somebody has taken away the permission to open it
		plainfile.SyncAll()
		return nil
	case err != nil:
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

const (
	// abreast is how many files are synced at a time.
	abreast = 16
	// eachMost is the most files that are synced one by one.
	eachMost = 100
)

// replace puts data in the place of the file at path as a whole, and waits until the disk has it. A
// failed sync cannot be repeated, so if the disk does not take the first file, it tries a second
// one.
func replace(d disk, path string, data []byte) error {
	dir := filepath.Dir(path)
	var temp string
	var err error
	for range 2 {
		temp = fresh(dir)
		if err = d.create(temp, data); err != nil {
			return err
		}
		if err = d.sync([]string{temp}); err == nil {
			break
		}
		d.remove(temp)
		if !errors.Is(err, plainfile.ErrSync) {
			return err
		}
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

// exchange is replace without the wait for the disk.
func exchange(d disk, path string, data []byte) error {
	temp := fresh(filepath.Dir(path))
	if err := d.create(temp, data); err != nil {
		return err
	}
	if err := d.rename(temp, path); err != nil {
		d.remove(temp)
		return err
	}
	return nil
}
