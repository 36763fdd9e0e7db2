package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

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
		err = t.rotate(t.partMost)
	}
	if err != nil {
		t.done()
		return nil, err
	}
	t.forget()
	return t, nil
}

// transact is a transaction that makes what f collects, unless f refuses.
func (s *Store) transact(ctx context.Context, f func(t *tx) error) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	if err := f(t); err != nil {
		return err
	}
	return t.commit()
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
		return t.beginLog()
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
	if err := t.stage(); err != nil {
		t.unstage(t.ops)
		return err
	}
	t.next.Seq, t.next.Boot, t.next.Size = t.at.Seq+1, "", 0
	text := commit{position: t.next, ops: t.ops}.text()
	if err := t.disk.log(t.log.Handle, t.at.Size, text); err != nil {
		t.unstage(t.ops)
		if errors.Is(err, plainfile.ErrSync) {
			err = errors.Join(err, t.renew())
		}
		return fail("writing the log of commits", err)
	}
	if err := t.apply(); err != nil {
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

// put collects a file's new content. old is its present content; nil: there is no file.
func (t *tx) put(place string, data, old []byte) {
	t.ops = append(t.ops, op{kind: opPut, place: place, data: data, old: old, was: sumAt(place, old)})
}

// make collects the content of a new file that nobody relies on while it is half written. Tasks and
// open records are found by names that are listed under the state lock, keys and quotas are read
// under it, and the ledger has all that a tally says.
func (t *tx) make(place string, data []byte) {
	t.ops = append(t.ops, op{kind: opPut, place: place, data: data, new: true})
}

// move collects a new name of a file. old is its content; nil: not known.
func (t *tx) move(place, to string, old []byte) {
	if place != to {
		t.ops = append(t.ops, op{kind: opMove, place: place, to: to, was: sumAt(place, old)})
	}
}

// remove collects the removal of a file. old is its content; nil: not known.
func (t *tx) remove(place string, old []byte) {
	t.ops = append(t.ops, op{kind: opRemove, place: place, old: old, was: sumAt(place, old)})
}

// drop collects the removal of a file that nobody edits by hand.
func (t *tx) drop(place string) {
	if old, err := readFile(t.path(place), mailLimit); !missing(err) {
		t.remove(place, old)
	}
}

// write collects a line of the ledger and the mail that it makes.
func (t *tx) write(l state.Line) error {
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
