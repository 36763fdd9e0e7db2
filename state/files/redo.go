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
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// Records are applied again in the same way after the death of a process and after a loss of power.
// First the result of all of them together is computed, and then each file is compared with it. So
// it does not matter which of the unsynced changes the disk has, and in which order. What a person
// has since written into a file by hand is detected and left alone.

// fate is what records make of a file.
type fate struct {
	place string
	gone  bool
	// its content; nil: unchanged since before the records, or written by hand
	data  []byte
	trail []string // where the file has been, ending with this place
	// checksums of its earlier contents; any other content was written by hand
	known map[string]bool
	// what is at its end, from an offset on, if the content before it is older than the records
	lines []byte
	from  int64
}

// fates are the results of records: a fate for each place that they name, in the order of first
// mention.
type fates struct {
	list []*fate
	at   map[string]*fate
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
				f.of(o.place).append(o)
			case opPut:
				n := f.of(o.place)
				n.was(o)
				n.gone, n.data, n.lines, n.trail = false, o.data, nil, []string{o.place}
			case opRemove:
				n := f.of(o.place)
				n.was(o)
				n.gone, n.data, n.lines, n.trail = true, nil, nil, nil
			case opMove:
				from, to := f.of(o.place), f.of(o.to)
				if from.gone { // somebody has brought it there by hand
					from.data, from.trail, from.known = nil, []string{o.place}, map[string]bool{}
				} else if from.data != nil && o.was != "" && o.was != sumAt(o.place, from.data) {
					// or has changed it
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

// append adds lines to a file.
func (n *fate) append(o op) {
	if n.data != nil {
		n.was(o)
		n.data = slices.Concat(n.data[:min(o.at, int64(len(n.data)))], o.data)
		return
	}
	if n.lines == nil || o.at < n.from {
		n.from, n.lines = o.at, nil
	}
	n.gone, n.lines = false, append(n.lines[:min(o.at-n.from, int64(len(n.lines)))], o.data...)
}

// was notes what a file was before an operation.
func (n *fate) was(o op) {
	if n.data != nil {
		n.known[sumAt(n.place, n.data)] = true
	}
	if o.was != "" {
		n.known[o.was] = true
	}
}

// sumAt is the checksum of a file's content, without the note at the beginning of an open record,
// which is written over at any time. It is empty if there is no content.
func sumAt(place string, data []byte) string {
	if data == nil {
		return ""
	}
	if path.Dir(place) == openDir && len(data) >= codec.NoteSize {
		data = data[codec.NoteSize:]
	}
	return sumOf(data)
}

// redo applies records again. Changes made by hand since stay, and are reported.
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
	// moves before new content: the old name of a file may now be another's
	for _, redo := range []func(*fate, *fates) error{t.redoLines, t.redoMove, t.redoPut, t.redoRemove} {
		for _, n := range f.list {
			if err := redo(n, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// redoMove gives a file that was only moved its last name, whichever of its earlier names it has
// now.
func (t *tx) redoMove(n *fate, f *fates) error {
	if n.gone || n.data != nil || n.lines != nil {
		return nil
	}
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

// stays leaves a file as a person has left it, whatever the records say of its place.
func (t *tx) stays(place string, f *fates) {
	t.report(state.Problem{Path: t.path(place), Err: errors.New("was changed by hand before the disk had the last change of it"), Hint: "it stays as it is"})
	delete(f.at, place)
	f.list = slices.DeleteFunc(slices.Clone(f.list), func(o *fate) bool { return o.place == place })
}

// mended reports whether a file that was to be set aside can now be read.
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

// redoLines makes a file end with its lines. A file that was cut short or removed by hand gets them
// at its end.
func (t *tx) redoLines(n *fate, _ *fates) error {
	if n.lines == nil {
		return nil
	}
	at, path := n.from, t.path(n.place)
	have := make([]byte, len(n.lines))
	size := int64(0)
	f, err := plainfile.OpenFile(path, os.O_RDONLY, 0)
	switch {
	case missing(err):
		have = nil
	case errors.Is(err, errOdd) && n.place != ledgerFile: // whoever reads it makes it again
		return nil
	case err != nil:
		return fail("applying a change", err)
	default:
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return fail("applying a change", err)
		}
		size = info.Size()
		k, err := f.ReadAt(have, min(at, size))
		have = have[:k]
		if err != nil && !errors.Is(err, io.EOF) {
			return fail("applying a change", err)
		}
	}
	if at = min(at, size); bytes.Equal(have, n.lines) {
		return nil // an older version or a person may have added more since: it stays
	}
	return fail("applying a change", t.disk.write(path, at, n.lines))
}

// redoPut gives a file its content, unless somebody has changed or renamed it by hand.
func (t *tx) redoPut(n *fate, f *fates) error {
	if n.gone || n.data == nil {
		return nil
	}
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

// earlierNote reports whether the note of an open record is older than what the record is to say. A
// note about a further start, or about the started process, is newer (Started).
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

// movedBack reports whether a file is at one of its earlier places and was changed there by hand.
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

// wholeAt reports whether somebody may have written data on purpose, so that it is not what a loss
// of power has left.
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

// renamed reports whether the task whose file should be at a place has a file elsewhere that the
// records do not know.
func (t *tx) renamed(place string, f *fates) bool {
	n, ok := placed(place)
	if !ok {
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

// redoRemove removes a file that is gone, unless it is another one than the one that was removed.
func (t *tx) redoRemove(n *fate, _ *fates) error {
	if !n.gone {
		return nil
	}
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

// touched returns the existing files that records have changed, and their folders.
func (s *Store) touched(records []commit) (files, dirs []string) {
	f := fold(records)
	dir := func(place string) {
		if d := s.path(path.Dir(place)); !slices.Contains(dirs, d) {
			dirs = append(dirs, d)
		}
	}
	for _, n := range f.list {
		if !n.gone && (n.data != nil || n.lines != nil) {
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
