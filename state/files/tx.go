package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// tx is a transaction: one writer's time at the state. It holds the state lock, and everything that
// was committed before is applied. It collects changes; commit makes all of them or none. It sees
// the changes of tasks, keys and origins that it has collected.
type tx struct {
	*Store
	unlock func()
	log    *commitLog
	at     position
	dry    bool // what is collected is thrown away

	ops   []op
	lines []byte
	next  position // once the changes are made

	byTask   map[string][]found // all files of tasks, after several had to be found
	open     map[string][]name  // the open claims by task, after they were listed
	docs     map[string]*stored
	keys     map[string]string   // which task has taken a key in this transaction
	keyFiles map[string]fileRead // what the files of keys had
	limits   state.Limits
	quotas   map[string]*quota
	waiting  *int // how many tasks wait, after they were counted
	roomy    bool // outputDir was looked at
}

// begin takes the lock, and applies what another writer has committed.
func (s *Store) begin(ctx context.Context) (*tx, error) {
	unlock, err := s.exclusive(ctx)
	if err != nil {
		return nil, err
	}
	t := &tx{Store: s, unlock: unlock}
	if err = t.recover(); err == nil {
		err = t.rotate()
	}
	if err != nil {
		t.done()
		return nil, err
	}
	t.forget()
	return t, nil
}

// done gives the lock back.
func (t *tx) done() {
	if t.log != nil {
		t.log.Close()
	}
	t.unlock()
}

// forget throws away what was collected.
func (t *tx) forget() {
	t.ops, t.lines, t.next = nil, nil, t.at
	t.byTask, t.open, t.docs, t.quotas, t.waiting = nil, nil, map[string]*stored{}, nil, nil
	t.keys, t.keyFiles = map[string]string{}, map[string]fileRead{}
}

// recover applies what is in the log and not yet in the files, and finds out how things stand.
func (t *tx) recover() (err error) {
	t.log, err = t.openLog(true)
	if missing(err) {
		return t.found()
	}
	if err != nil {
		return err
	}
	boot := t.boot()
	if t.log.applied(boot) {
		t.at = t.log.head
		return t.checkLedger()
	}
	under := t.log.ok && boot != "" && t.log.head.Boot == boot
	from := int64(headSize)
	if under && t.log.head.Size <= t.log.size {
		from = t.log.head.Size
	}
	records, torn, err := t.log.commits(from)
	if err != nil {
		return err
	}
	if torn > 0 {
		if under || len(records) > 0 {
			t.report(state.Problem{Path: t.log.Name(), Err: state.ErrTorn, Hint: "nothing that was confirmed is in it"})
		}
		t.log.size -= torn
		if err := t.disk.cut(t.log.Name(), max(t.log.size, headSize)); err != nil {
			return fail("cutting the log of commits", err)
		}
	}
	if err := t.redo(records); err != nil {
		return err
	}
	t.at = t.log.head
	if len(records) > 0 {
		t.at = records[len(records)-1].position
	} else if !t.log.ok {
		if t.at, err = t.survey(); err != nil {
			return err
		}
	}
	t.at.Size, t.at.Boot = max(t.log.size, headSize), boot
	if !under {
		if err := t.checkpoint(); err != nil {
			return err
		}
	}
	if err := t.checkLedger(); err != nil {
		return err
	}
	return t.disk.mark(t.log.Handle, 0, t.at.head())
}

// checkLedger compares the ledger with the log. Somebody may have edited or removed it, or an older
// version may have written it.
func (t *tx) checkLedger() error {
	info, err := os.Lstat(t.path(ledgerFile))
	size := int64(0)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return guard.NotPlain(t.path(ledgerFile))
	case err == nil:
		size = info.Size()
	case !missing(err):
		return fail("reading the ledger", err)
	}
	if size == t.at.Ledger {
		return nil
	}
	return t.adopt()
}

// commit makes the collected changes. After an error other than errLater nothing has happened.
func (t *tx) commit() error {
	if len(t.lines) > 0 {
		t.ops = slices.Insert(t.ops, 0, op{kind: opAppend, place: ledgerFile, at: t.at.Ledger, data: t.lines})
		t.next.Ledger = t.at.Ledger + int64(len(t.lines))
	}
	if len(t.ops) == 0 || t.dry {
		return nil
	}
	temps, err := t.stage()
	if err != nil {
		t.unstage(temps)
		return err
	}
	t.next.Seq, t.next.Boot, t.next.Size = t.at.Seq+1, "", 0
	text := commit{position: t.next, ops: t.ops}.text()
	if err := t.disk.log(t.log.Handle, t.at.Size, text); err != nil {
		t.unstage(temps)
		if errors.Is(err, plainfile.ErrSync) {
			err = errors.Join(err, t.renew())
		}
		return fail("writing the log of commits", err)
	}
	if err := t.apply(temps); err != nil {
		if !errors.Is(err, errLater) && t.disk.cut(t.log.Name(), t.at.Size) != nil {
			err = fmt.Errorf("%w; %w", err, errLater)
		}
		return err
	}
	t.next.Boot, t.next.Size = t.boot(), t.at.Size+int64(len(text))
	t.at, t.log.size = t.next, t.next.Size
	// If this fails, the next writer applies it once more.
	t.disk.mark(t.log.Handle, 0, t.at.head())
	t.ops, t.lines = nil, nil
	if t.at.Boot == "" || t.at.Size > t.commitsMost {
		if err := t.checkpoint(); err != nil { // the change is made; the next writer tries again
			t.report(state.Problem{Path: t.log.Name(), Err: err, Hint: "the disk is made to take it with the next change"})
		}
	}
	return nil
}

// errLater is a committed change that could neither be applied nor taken back. The next writer
// applies it.
var errLater = errors.New("the change may be made later")

// stage writes the new content of files beside them, where no reader looks. So a lack of room is
// noticed before anything has happened. A new file that is only found by its name is made when the
// change is applied.
func (t *tx) stage() (temps []string, err error) {
	if err := t.guardOps(); err != nil {
		return nil, err
	}
	for _, o := range t.ops {
		temp := ""
		if o.kind == opPut && !o.new {
			temp = fresh(t.path(path.Dir(o.place)))
			if err := t.create(temp, o.data); err != nil {
				return temps, fail("writing "+o.place, err)
			}
		}
		temps = append(temps, temp)
	}
	return temps, nil
}

// create makes a file, and its folder if that is gone.
func (t *tx) create(path string, data []byte) error {
	err := t.disk.create(path, data)
	if missing(err) {
		if err = t.furnish(); err == nil {
			err = t.disk.create(path, data)
		}
	}
	return err
}

// guardOps checks the folders that this change writes to, besides those of every writer, and makes
// the missing ones. If all were there just now, it checks only those that a file is moved to:
// create notices a missing one itself.
func (t *tx) guardOps() error {
	looked := []string{queueDir, runsDir}
	whole := t.justNow(&t.whole)
	for _, o := range t.ops {
		for _, place := range []string{o.place, o.to} {
			dir := path.Dir(place)
			if place == "" || slices.Contains(looked, dir) || whole && o.kind != opMove {
				continue
			}
			looked = append(looked, dir)
			if err := t.guardDir(dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// guardDir checks a folder, and makes it if it is missing.
func (t *tx) guardDir(dir string) error {
	err := guard.Folder(t.path(dir))
	if missing(err) {
		return t.furnish()
	}
	return err
}

func (t *tx) unstage(temps []string) {
	for _, temp := range temps {
		if temp != "" {
			t.disk.remove(temp)
		}
	}
}

// apply does what was committed. If it fails, it undoes all of it; errLater: that was not possible.
func (t *tx) apply(temps []string) error {
	for i, o := range t.ops {
		var err error
		switch o.kind {
		case opAppend:
			if err = t.disk.write(t.path(o.place), o.at, o.data); err != nil {
				i++ // a part of it may be there
			}
		case opPut:
			err = t.applyPut(o, temps[i])
		case opMove:
			err = t.disk.rename(t.path(o.place), t.path(o.to))
		case opRemove:
			if err = t.disk.remove(t.path(o.place)); missing(err) {
				err = nil
			}
		}
		if err != nil {
			return t.undo(i, temps, fail("changing "+o.place, err))
		}
	}
	return nil
}

// applyPut gives a file its content. The content is in temp, unless the file is new.
func (t *tx) applyPut(o op, temp string) error {
	if !o.new {
		return t.disk.rename(temp, t.path(o.place))
	}
	err := t.create(t.path(o.place), o.data)
	if os.IsExist(err) { // somebody has put something there by hand
		err = exchange(t.disk, t.path(o.place), o.data)
	}
	return err
}

// undo takes back the lines and the first n operations, the last one first.
func (t *tx) undo(n int, temps []string, why error) error {
	later := fmt.Errorf("%w; %w", why, errLater)
	for i, o := range slices.Backward(t.ops[:n]) {
		var err error
		switch {
		case o.kind == opAppend:
			if err = t.disk.cut(t.path(o.place), o.at); missing(err) {
				err = nil
			}
		case o.kind == opMove:
			err = t.disk.rename(t.path(o.to), t.path(o.place))
		case o.kind == opPut && o.old == nil:
			err = t.disk.remove(t.path(o.place))
		case o.kind == opPut, o.kind == opRemove && o.old != nil:
			err = exchange(t.disk, t.path(o.place), o.old)
		case o.kind == opRemove: // what it had nobody knows
			return later
		}
		temps[i] = ""
		if err != nil {
			return later
		}
	}
	t.unstage(temps)
	return why
}

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
	return t.settled(records, t.syncAll(records))
}

// settled drops records after the disk was asked to take their files, with this result.
func (t *tx) settled(records []commit, err error) error {
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
			err = s.disk.syncDir(dir)
		}
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
		if err := t.disk.syncDir(dir); err != nil {
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
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	switch {
	case bad != nil: // later records are not synced yet, and not among the refused files
		if records, _, err = t.log.commits(headSize); err != nil {
			return err
		}
	case !t.log.Same(l.Handle) || t.log.size != l.size || t.at.Seq != l.head.Seq:
		return nil
	}
	return t.settled(records, bad)
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

// put collects a file's new content. old is its present content; nil: there is no file.
func (t *tx) put(place string, data, old []byte) {
	o := op{kind: opPut, place: place, data: data, old: old}
	if old != nil {
		o.was = sumAt(place, old)
	}
	t.ops = append(t.ops, o)
}

// make collects the content of a new file that nobody relies on while it is half written. Tasks and
// open records are found by names that are listed under the state lock, keys and quotas are read
// under it, and the ledger has all that a tally says.
func (t *tx) make(place string, data []byte) {
	t.ops = append(t.ops, op{kind: opPut, place: place, data: data, new: true})
}

// move collects a new name of a file. old is its content; nil: not known.
func (t *tx) move(place, to string, old []byte) {
	if place == to {
		return
	}
	o := op{kind: opMove, place: place, to: to}
	if old != nil {
		o.was = sumAt(place, old)
	}
	t.ops = append(t.ops, o)
}

// remove collects the removal of a file. old is its content; nil: not known.
func (t *tx) remove(place string, old []byte) {
	o := op{kind: opRemove, place: place, old: old}
	if old != nil {
		o.was = sumAt(place, old)
	}
	t.ops = append(t.ops, o)
}

// drop collects the removal of a file that nobody edits by hand.
func (t *tx) drop(place string) {
	if old, err := readFile(t.path(place), mailLimit); !missing(err) {
		t.remove(place, old)
	}
}

// write collects a line of the ledger and the mail that it makes.
func (t *tx) write(l state.Line) error {
	if l.At.IsZero() {
		l.At = time.Now()
	}
	e := ledger.Entry{Line: l.Kept()}
	if l.Inbox != "" && l.HasMail() {
		if t.next.Mail == "" { // the first item ever, or a new log
			newest, err := t.newestItem()
			if err != nil {
				return err
			}
			t.next.Mail = newest
		}
		t.next.Mail = state.NextCursor(t.next.Mail, l.At)
	}
	e.Store.IDs, e.Store.Mail = t.next.IDs, t.next.Mail
	line, err := e.Text()
	if err != nil {
		return err
	}
	t.lines = append(t.lines, line...)
	if !l.HasMail() {
		return nil
	}
	files, err := mailOf(l, e.Store.Mail)
	if err != nil {
		return fail("telling of an outcome", err)
	}
	for _, f := range files {
		t.put(f.place, f.data, nil)
	}
	return nil
}
