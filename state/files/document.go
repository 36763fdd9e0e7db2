package files

import (
	"errors"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// stored is a task as a transaction has read it from its files, and as the transaction leaves it.
type stored struct {
	state.Doc           // as it is to stand
	was       state.Doc // as it stood

	at      found // its file; zero for a new task, and if only claims were read
	changed bool
	part    bool              // only claims and the tally were read, and nothing else may change
	raw     []byte            // what the file has
	unknown map[string]any    // keys in the file that this version does not know
	data    []byte            // the new content; nil: as before
	tally   []byte            // the tally's file; nil: there is none
	records map[string][]byte // the files of open claims, by due instant as stamp writes it
}

// doc is how a task stands by its file: without its tally and its claims.
func (f found) doc(t state.Task) state.Doc {
	d := state.Doc{Task: t, Due: f.time(), Phase: f.phase(false)}
	switch d.Phase {
	case state.Paused:
		d.Resume = f.moment()
	case state.Removed:
		d.RemovedAt = f.moment()
	}
	return d
}

// foundOf is the place of the file of a task that stands this way.
func foundOf(d state.Doc) (f found, err error) {
	n, err := nameOf(d.Task.ID, d.Due)
	if err != nil {
		return f, err
	}
	switch d.Phase {
	case state.Paused:
		n, err = n.with(d.Resume)
	case state.Removed:
		n, err = n.with(d.RemovedAt)
	}
	return found{n, taskDirs[slices.Index(taskPhases[:], d.Phase)]}, err
}

// doc reads a task. The change says where to look for it first. state.ErrNotFound: there is no such
// task.
func (t *tx) doc(c state.Change) (*stored, error) {
	if !state.WholeID(c.ID) {
		return nil, state.ErrNotFound
	}
	d := t.docs[c.ID]
	switch {
	case c.Claim != nil && (d == nil || d.part):
		return t.claimed(d, *c.Claim)
	case d != nil && d.part && d.changed:
		return nil, errPart
	case d != nil && d.part:
	case d != nil:
		return d, nil
	}
	if !c.Due.IsZero() { // most often it is there
		n, err := nameOf(c.ID, c.Due)
		if err != nil {
			return nil, err
		}
		if d, err := t.readDoc(found{n, queueDir}); !errors.Is(err, state.ErrNotFound) {
			return d, err
		}
	}
	f, err := t.find(c.ID)
	if err != nil {
		return nil, err
	}
	return t.readDoc(f)
}

// errPart is a change of a task in a transaction that has changed one of its claims. It needs
// another transaction.
var errPart = errors.New("only a claim of the task was read")

// find finds the file of a task.
func (t *tx) find(id string) (found, error) {
	byTask := t.byTask
	if byTask == nil {
		prefix := id
		if len(t.docs) > 0 { // for many tasks it is quicker to list all names
			prefix = ""
		}
		all, err := t.list(everything, prefix)
		if err != nil {
			return found{}, err
		}
		if byTask = all.byTask(); prefix == "" {
			t.byTask = byTask
		}
	}
	files := byTask[id]
	if len(files) == 0 {
		return found{}, state.ErrNotFound
	}
	win, _ := t.winner(files)
	return win, nil
}

// readDoc reads the task of a file, with its tally and its claims.
func (t *tx) readDoc(f found) (*stored, error) {
	d := &stored{at: f}
	var err error
	if d.raw, err = readOwn(nil, t.path(f.place()), nil, state.TaskLimit); err != nil {
		if missing(err) {
			return nil, state.ErrNotFound
		}
		return nil, fail("reading a task", err)
	}
	var task state.Task
	unknown, err := taskIn(d.raw, f.id, &task)
	if err != nil {
		return nil, fail("reading a task", &fileError{t.path(f.place()), err})
	}
	d.unknown, d.was = unknown, f.doc(task)
	if d.was.Tally, d.tally, err = t.tallyOf(f.id); err != nil {
		return nil, err
	}
	if err := t.openNames(); err != nil {
		return nil, err
	}
	for _, n := range t.open[f.id] {
		if err := t.readClaim(d, n); err != nil && !missing(err) {
			return nil, err
		}
	}
	if d.tally == nil && len(d.was.Open) == 0 {
		// A task with output has run. Its tally was removed, and numbers must not be used twice.
		files, err := t.outputNames(f.id)
		if err != nil {
			return nil, err
		}
		if len(files) > 0 {
			if d.was.Tally, err = t.recount(f.id); err != nil {
				return nil, err
			}
		}
	}
	d.Doc = d.was
	t.docs[f.id] = d
	return d, nil
}

// claimed reads a claim and the tally of its task, and adds them to what was read of the task
// before.
func (t *tx) claimed(d *stored, r state.Record) (*stored, error) {
	n, err := nameOf(r.Task.ID, r.Due)
	if err != nil {
		return nil, err
	}
	if d != nil && d.records[n.due] != nil {
		return d, nil
	}
	fresh := d == nil
	if fresh {
		d = &stored{part: true}
		d.was.Task = state.Task{ID: n.id}
		if d.was.Tally, d.tally, err = t.tallyOf(n.id); err != nil {
			return nil, err
		}
		d.Doc = d.was
	}
	before := len(d.was.Open)
	if err := t.readClaim(d, n); missing(err) {
		return nil, state.ErrNotFound
	} else if err != nil {
		return nil, err
	}
	d.Open = append(slices.Clone(d.Open), d.was.Open[before:]...)
	if fresh {
		t.docs[n.id] = d
	}
	return d, nil
}

// readClaim reads an open claim into was.
func (t *tx) readClaim(d *stored, n name) error {
	r, data, err := t.readRecord(n)
	switch {
	case missing(err):
		return err
	case err != nil && !garbled(err):
		return fail("reading an open claim", err)
	}
	if d.records == nil {
		d.records = map[string][]byte{}
	}
	d.records[n.due] = data
	d.was.Open = append(slices.Clone(d.was.Open), r)
	return nil
}

// openNames lists the open claims, once a transaction.
func (t *tx) openNames() error {
	if t.open != nil {
		return nil
	}
	all, err := t.list(openOnly, "")
	if err == nil {
		t.open = all.open
	}
	return err
}

// collect collects the operations that make the files of the tasks what they are to be.
func (t *tx) collect() error {
	for _, id := range slices.Sorted(maps.Keys(t.docs)) {
		if err := t.collectOne(t.docs[id]); err != nil {
			return err
		}
	}
	t.collectQuotas()
	return nil
}

func (t *tx) collectOne(d *stored) error {
	id := d.Task.ID
	if !d.part {
		if err := t.collectTask(d); err != nil {
			return err
		}
	}
	for _, r := range d.Open {
		n, err := nameOf(id, r.Due)
		if err != nil {
			return err
		}
		if err := t.collectClaim(d, n, r); err != nil {
			return err
		}
	}
	for _, r := range d.was.Open {
		if d.Claim(r.Due) >= 0 {
			continue
		}
		n, err := nameOf(id, r.Due)
		if err != nil {
			return err
		}
		place := openDir + "/" + n.record()
		t.remove(place, d.records[n.due])
		if r.Halt != "" {
			t.remove(haltOf(place), []byte(r.Halt))
		}
	}
	if !reflect.DeepEqual(d.Tally, d.was.Tally) {
		data, err := codec.Encode(d.Tally)
		if err != nil {
			return err
		}
		if d.tally == nil {
			t.make(tallyPlace(id), data) // whoever reads it half written counts the ledger instead
		} else {
			t.put(tallyPlace(id), data, d.tally)
		}
	}
	return nil
}

// collectTask handles the task's own file and its key.
func (t *tx) collectTask(d *stored) error {
	to, err := foundOf(d.Doc)
	if err != nil {
		return err
	}
	stays := to.place() == d.at.place()
	switch {
	case d.raw == nil:
		t.make(to.place(), d.data)
	case d.data != nil && stays:
		t.put(to.place(), d.data, d.raw)
	case d.data != nil:
		t.put(to.place(), d.data, nil)
		t.remove(d.at.place(), d.raw)
	default:
		t.move(d.at.place(), to.place(), d.raw)
	}
	if d.Task.Key != "" && (d.raw == nil || !stays && (d.was.Lives() || d.Lives())) {
		return t.putKey(d.Task.Key, d.Task.ID, to.place())
	}
	return nil
}

// collectClaim handles the record of an open claim, and the request to end it.
func (t *tx) collectClaim(d *stored, n name, r state.Record) error {
	place := openDir + "/" + n.record()
	i := d.was.Claim(r.Due)
	if i >= 0 && reflect.DeepEqual(d.was.Open[i], r) {
		return nil
	}
	if i >= 0 && d.was.Open[i].Halt != r.Halt {
		var old []byte
		if d.was.Open[i].Halt != "" {
			old = []byte(d.was.Open[i].Halt)
		}
		t.put(haltOf(place), []byte(r.Halt), old)
		return nil
	}
	data, err := codec.EncodeRecord(r)
	if err != nil {
		return err
	}
	if i < 0 {
		t.make(place, data)
		return t.makeRoom(r.Task)
	}
	t.put(place, data, d.records[n.due])
	return nil
}

// makeRoom makes the folder for the output of a command or an agent.
func (t *tx) makeRoom(task state.Task) error {
	if task.Told() || t.dry {
		return nil
	}
	if !t.roomy {
		if err := t.guardDir(outputDir); err != nil {
			return err
		}
		t.roomy = true
	}
	folder := t.path(outputDir + "/" + task.ID)
	err := t.disk.mkdir(folder)
	if os.IsExist(err) { // it exists, but may not be a folder
		err = plainfile.CheckFolder(folder)
	}
	return fail("making room for its output", err)
}

// haltOf is the place of the request to end a run. It lies beside the record.
func haltOf(record string) string { return strings.TrimSuffix(record, suffix) + ".halt" }

// haltMost bounds a request.
const haltMost = 1 << 10
