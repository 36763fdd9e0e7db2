package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// Records are applied again in one way, after a process has died and after a loss of power: what all of them together come to is found out
// first, and then each file is held against that. So it does not matter which of the unsynced changes the disk has, and in which order, and what a
// person has written into a file by hand since is seen and left alone.

// fate is what a file is to be after records.
type fate struct {
	place string
	gone  bool
	data  []byte          // its content; nil: that of a file that is older than the records, or was written by hand
	trail []string        // where the file has been, this place the last
	known map[string]bool // checksums of what the file has been before; a file that says something else was changed by hand
}

// fates are what records come to: a fate for each place that they name, in the order in which they first name it.
type fates struct {
	list  []*fate
	at    map[string]*fate
	lines []byte // what comes into the ledger
	from  int64  // and from which offset on
}

func (f *fates) of(place string) *fate {
	if n := f.at[place]; n != nil {
		return n
	}
	n := &fate{place: place, trail: []string{place}, known: map[string]bool{}}
	f.at[place] = n
	f.list = append(f.list, n)
	return n
}

func fold(records []commit) *fates {
	f := &fates{at: map[string]*fate{}}
	for _, r := range records {
		for _, o := range r.ops {
			switch o.kind {
			case opAppend:
				if f.lines == nil || o.at < f.from {
					f.from, f.lines = o.at, nil
				}
				f.lines = append(f.lines[:min(o.at-f.from, int64(len(f.lines)))], o.data...)
			case opPut:
				n := f.of(o.place)
				n.was(o)
				n.gone, n.data, n.trail = false, o.data, []string{o.place}
			case opRemove:
				n := f.of(o.place)
				n.was(o)
				n.gone, n.data, n.trail = true, nil, nil
			case opMove:
				from, to := f.of(o.place), f.of(o.to)
				if from.gone { // somebody has brought it there by hand
					from.data, from.trail, from.known = nil, []string{o.place}, map[string]bool{}
				} else if from.data != nil && o.was != "" && o.was != sumAt(o.place, from.data) { // or has changed it
					from.was(op{})
					from.data = nil
				}
				to.was(op{was: o.was})
				for sum := range from.known {
					to.known[sum] = true
				}
				to.gone, to.data, to.trail = false, from.data, append(slices.Clone(from.trail), o.to)
				from.was(op{})
				from.gone, from.data, from.trail = true, nil, nil
			}
		}
	}
	return f
}

// was notes what a file has been until an operation.
func (n *fate) was(o op) {
	if n.data != nil {
		n.known[sumAt(n.place, n.data)] = true
	}
	if o.was != "" {
		n.known[o.was] = true
	}
}

// sumAt is the checksum of a file's content. The note at the beginning of an open record is not of it: that is written over at any time.
func sumAt(place string, data []byte) string {
	if path.Dir(place) == openDir && len(data) >= codec.NoteRoom {
		data = data[codec.NoteRoom:]
	}
	return sumOf(data)
}

// redo applies records again. What a person has changed by hand since stays, and is reported.
func (t *tx) redo(records []commit) error {
	f := fold(records)
	var looked []string
	for _, n := range f.list {
		dir := path.Dir(n.place)
		if slices.Contains(looked, dir) {
			continue
		}
		looked = append(looked, dir)
		if err := t.guardDir(dir); err != nil { // it may have been removed
			return err
		}
	}
	if f.lines != nil {
		if err := t.redoLines(f.from, f.lines); err != nil {
			return err
		}
	}
	for _, n := range f.list { // moves first, as the name that a file had may have become another's
		if n.gone || n.data != nil {
			continue
		}
		if err := t.redoMove(n, f); err != nil {
			return err
		}
	}
	for _, n := range f.list {
		if n.gone || n.data == nil {
			continue
		}
		if err := t.redoPut(n, f); err != nil {
			return err
		}
	}
	for _, n := range f.list {
		if !n.gone {
			continue
		}
		if err := t.redoRemove(n); err != nil {
			return err
		}
	}
	return nil
}

// redoMove gives a file its last name, from whichever of its earlier ones it has.
func (t *tx) redoMove(n *fate, f *fates) error {
	for _, place := range slices.Backward(n.trail) {
		if o := f.at[place]; place != n.place && o != nil && !o.gone {
			continue // another's by now
		}
		data, err := readFile(t.path(place), recordLimit+mailLimit)
		if missing(err) {
			continue
		}
		if place == n.place {
			return nil
		}
		if len(n.known) > 0 && !n.known[sumAt(place, data)] && wholeAt(place, data) || t.mended(n.place, place) {
			t.stays(place, f)
			return nil
		}
		return fail("applying a change", t.disk.rename(t.path(place), t.path(n.place)))
	}
	return nil // somebody has removed or renamed it by hand
}

// stays leaves a file as a person has left it, whatever the records say of that place.
func (t *tx) stays(place string, f *fates) {
	t.report(state.Problem{Path: t.path(place), Err: errors.New("was changed by hand before the disk had the last change of it"), Hint: "it stays as it is"})
	delete(f.at, place)
	f.list = slices.DeleteFunc(slices.Clone(f.list), func(o *fate) bool { return o.place == place })
}

// mended reports whether a file that was to be set aside can be read.
func (t *tx) mended(to, place string) bool {
	if path.Dir(to) != corruptDir {
		return false
	}
	n, ok := parseName(path.Base(place))
	if !ok {
		return false
	}
	_, err := t.readTask(place, n.id)
	return err == nil
}

// redoLines makes the ledger end with lines. One that was cut short or removed by hand gets them at its end.
func (t *tx) redoLines(at int64, lines []byte) error {
	size := int64(0)
	if info, err := os.Lstat(t.path(ledgerFile)); err == nil {
		size = info.Size()
	} else if !missing(err) {
		return fail("writing the ledger", err)
	}
	if size < at { // it was cut by hand
		at = size
	}
	have := make([]byte, len(lines))
	f, err := openFile(t.path(ledgerFile), os.O_RDONLY, 0)
	switch {
	case missing(err):
		have = nil
	case err != nil:
		return fail("reading the ledger", err)
	default:
		n, err := f.ReadAt(have, at)
		have = have[:n]
		f.Close()
		if err != nil && !errors.Is(err, io.EOF) {
			return fail("reading the ledger", err)
		}
	}
	if size > at+int64(len(lines)) && bytes.Equal(have, lines) {
		return nil // more has come since, by an older version or by hand
	}
	if !bytes.Equal(have, lines) {
		if err := t.disk.write(t.path(ledgerFile), at, lines); err != nil {
			return fail("writing the ledger", err)
		}
	}
	return nil
}

// redoPut gives a file its content, unless somebody has changed it, or has given it another name, by hand.
func (t *tx) redoPut(n *fate, f *fates) error {
	data, err := readFile(t.path(n.place), recordLimit+mailLimit)
	switch sum := sumAt(n.place, data); {
	case err == nil && sum == sumAt(n.place, n.data) && !t.earlierNote(n, data):
		return nil
	case err == nil && sum != sumAt(n.place, n.data) && !n.known[sum] && wholeAt(n.place, data):
		t.report(state.Problem{Path: t.path(n.place), Err: errors.New("was changed by hand before the disk had the last change of it"), Hint: "it stays as it is"})
		return nil
	case errors.Is(err, errOdd) && isFolder(t.path(n.place)):
		t.report(state.Problem{Path: t.path(n.place), Err: errors.New("is a folder, where a file was to be"), Hint: "move it away"})
		return nil
	case missing(err) && t.movedBack(n, f):
		return nil
	case missing(err) && t.renamed(n.place, f):
		t.report(state.Problem{Path: t.path(n.place), Err: errors.New("was renamed by hand before the disk had the last change of it"), Hint: "it stays as it is"})
		return nil
	case err != nil && !missing(err) && !garbled(err):
		return fail("applying a change", err)
	}
	return fail("applying a change", exchange(t.disk, t.path(n.place), n.data))
}

// earlierNote reports whether the note of an open record is from before what the record is to say. One of a further start, or of the process
// that was started, came after it (Started).
func (t *tx) earlierNote(n *fate, data []byte) bool {
	if path.Dir(n.place) != openDir || bytes.Equal(data, n.data) {
		return false
	}
	name, ok := parseRecordName(path.Base(n.place))
	if !ok {
		return false
	}
	has, err := t.recordIn(name, data)
	if err != nil {
		return true
	}
	says, err := t.recordIn(name, n.data)
	return err == nil && (has.Attempt < says.Attempt || has.Attempt == says.Attempt && has.Starting.IsZero() && has.Started.IsZero())
}

// movedBack reports whether a file is at a place that it had before, and was changed there by hand.
func (t *tx) movedBack(n *fate, f *fates) bool {
	for _, place := range n.trail[:max(len(n.trail)-1, 0)] {
		data, err := readFile(t.path(place), recordLimit+mailLimit)
		if err == nil && !n.known[sumAt(place, data)] && sumAt(place, data) != sumAt(n.place, n.data) && wholeAt(place, data) {
			t.stays(place, f)
			return true
		}
	}
	return false
}

// wholeAt reports whether data can be what somebody meant to write, and not what a loss of power has left.
func wholeAt(place string, data []byte) bool {
	switch {
	case len(data) == 0 || bytes.IndexByte(data, 0) >= 0:
		return false
	case strings.HasSuffix(place, suffix):
		return codec.Whole(data)
	case strings.HasSuffix(place, mailSuffix):
		return bytes.HasSuffix(data, []byte("}\n"))
	}
	return false
}

// renamed reports whether a task whose file should be at a place has one elsewhere of which the records know nothing.
func (t *tx) renamed(place string, f *fates) bool {
	dir, file, _ := cutLast(place)
	n, ok := parseName(file)
	if !ok || !slices.Contains(taskDirs[:], dir) {
		return false
	}
	all, err := t.list(everything, n.id)
	if err != nil {
		return false
	}
	for o := range all.found() {
		if o.id == n.id && f.at[o.place()] == nil {
			return true
		}
	}
	return false
}

// redoRemove removes a file, unless it is not the one that was removed.
func (t *tx) redoRemove(n *fate) error {
	data, err := readFile(t.path(n.place), recordLimit+mailLimit)
	switch {
	case missing(err):
		return nil
	case err == nil && len(n.known) > 0 && !n.known[sumAt(n.place, data)] && wholeAt(n.place, data):
		t.report(state.Problem{Path: t.path(n.place), Err: fmt.Errorf("was written by hand after it had been removed"), Hint: "it stays as it is"})
		return nil
	}
	if err := t.disk.remove(t.path(n.place)); err != nil && !missing(err) {
		return fail("applying a change", err)
	}
	return nil
}

// touched are the files that records have changed, as far as they are there, and the folders that they are in.
func (s *Store) touched(records []commit) (files, dirs []string) {
	f := fold(records)
	dir := func(place string) {
		if d := s.path(path.Dir(place)); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	if f.lines != nil {
		files = append(files, s.path(ledgerFile))
		dir(ledgerFile)
	}
	for _, n := range f.list {
		if !n.gone && n.data != nil {
			files = append(files, s.path(n.place))
		}
		dir(n.place)
	}
	return files, dirs
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}
