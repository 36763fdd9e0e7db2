package files

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// turn is a writer's time at the state: it holds the state lock, and whatever the writer before it left is finished.
//
// A change goes in this order: what it needs is written to new files that no reader sees (a temporary file, an open
// record that is recognised as unfinished); its line is appended to the ledger and synced, at which moment it has
// happened; then the tally is brought up to date and the one rename or removal that the line names is done, both synced,
// before the lock is given back. Since every turn ends or is finished by the next one before that adds a line, only the
// last line of the ledger can have work left to do. That is all a turn has to look at, however large the state is.
type turn struct {
	*Store
	end    tail
	unlock func()
	open   map[string][]name // the granted claims by task, for as long as the turn makes none; nil: not known

	limits  state.Limits     // that this turn is held to
	books   map[string]*book // of origins, as read in this turn
	waiting *int             // how many tasks wait, once that was counted
}

// begin takes the lock, gives back claims that were not granted, and finishes what is unfinished.
func (s *Store) begin(ctx context.Context) (*turn, error) {
	unlock, err := s.exclusive(ctx)
	if err != nil {
		return nil, err
	}
	t := &turn{Store: s, unlock: unlock}
	if err = t.settleJournal(); err == nil {
		err = t.recover()
	}
	if err == nil {
		err = t.rotate()
	}
	if err != nil {
		t.done()
		return nil, err
	}
	return t, nil
}

// done gives the lock back.
func (t *turn) done() { t.unlock() }

// recover reads the end of the ledger, cuts off a torn line, and finishes what the last line began.
func (t *turn) recover() (err error) {
	if t.end, err = t.readTail(); err != nil {
		return err
	}
	if t.end.torn > 0 {
		if err := t.disk.cut(t.path(ledgerFile), t.end.size); err != nil {
			return fail("cutting the ledger's torn last line", err)
		}
		t.report(t.tornProblem(t.path(ledgerFile), t.end.torn))
		t.end.torn = 0
	}
	t.mu.Lock()
	finished := t.known.size == t.end.size && t.known.sum == t.end.sum
	t.mu.Unlock()
	if !finished && t.end.size > 0 {
		c, err := t.readCounter()
		finished = err == nil && c.finished == t.end.size && c.line == t.end.sum
	}
	if finished || t.end.size == 0 {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.known = t.end
		return nil
	}
	t.forgetPlaces()
	if !t.mended() {
		if err := t.apply(); err != nil {
			return err
		}
	}
	if err := t.drop(); err != nil {
		return err
	}
	if err := t.resync(); err != nil {
		return err
	}
	if err := t.compensate(); err != nil {
		return err
	}
	t.remember()
	return nil
}

// remember notes, in this process and for the next, that everything up to the end of the ledger is finished and synced. The
// note is not awaited by the disk: whenever it was written, it was true.
func (t *turn) remember() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known = t.end
	t.disk.scribble(t.path(counterFile), counter{t.end.ids, t.end.size, t.end.sum}.text())
}

// resync syncs the folders of the last line's move, for a writer that was killed after the move and before the sync.
func (t *turn) resync() error {
	var done []string
	for e := range t.end.entries() {
		places := []string{e.Store.From, e.Store.To, e.Store.Drop}
		if e.Type == lineLedger {
			places = append(places, ledgerFile)
		}
		for _, place := range places {
			if place == "" || slices.Contains(done, path.Dir(place)) {
				continue
			}
			if err := t.disk.syncDir(t.path(path.Dir(place))); err != nil {
				return fail("finishing a change", err)
			}
			done = append(done, path.Dir(place))
		}
	}
	return nil
}

// entries are the lines that were written last, together.
func (t tail) entries() iter.Seq[entry] {
	return func(yield func(entry) bool) {
		for _, e := range t.with {
			if !yield(e.entry) {
				return
			}
		}
		yield(t.last)
	}
}

// counter is what timers/.counter says: a copy of the count of IDs that were given out, for the day somebody removes
// the ledger, and how far the ledger is known to be finished. Neither is relied on when it is not there.
type counter struct {
	ids      uint64
	finished int64
	line     string // sumOf the last line that is finished: the same size of another file of the ledger says nothing
}

func (c counter) text() []byte {
	return fmt.Appendf(nil, "%020d %020d %16s\n", c.ids, c.finished, c.line)
}

// readCounter reads it. The form without a line is of versions that knew one ledger only; it says how many IDs were given.
func (s *Store) readCounter() (c counter, err error) {
	data, err := readFile(s.path(counterFile), 64)
	if err != nil {
		return c, err
	}
	text := string(data)
	if n, _ := fmt.Sscanf(text, "%d %d %16s\n", &c.ids, &c.finished, &c.line); n == 3 && string(c.text()) == text {
		return c, nil
	}
	if n, _ := fmt.Sscanf(text, "%d %d\n", &c.ids, &c.finished); n == 2 && fmt.Sprintf("%020d %020d\n", c.ids, c.finished) == text {
		return counter{ids: c.ids}, nil
	}
	return counter{}, errDecode
}

// commit makes the change that a line tells of: durable, whole or not at all. The file at from is renamed to to, or
// removed when to is empty; both are places. An empty from is no file.
func (t *turn) commit(line state.Line, from, to string, ids uint64) error {
	return t.change(entry{Line: line, Store: redo{IDs: ids, From: from, To: to}})
}

// change is commit of any change a line can carry.
func (t *turn) change(e entry) error {
	before, line := t.end, e.Line
	e.Store.IDs = max(t.end.ids, e.Store.IDs)
	end, err := t.appendLines(t.end, e)
	if err != nil {
		return err
	}
	t.end = end
	old, oldErr := t.readTally(line.TaskID)
	if err := t.apply(); err != nil {
		return t.undo(before, old, oldErr == nil && counts(line), err)
	}
	if t.drop() == nil { // else the change is made all the same: the file left over has a lower revision, and the next turn removes it
		t.remember()
	}
	return nil
}

// undo takes back the last line after its change could not be made, as when the disk is full: cutting needs no room.
// Where even that fails, or the change is made and only its sync failed, the line stands and the next turn finishes it.
func (t *turn) undo(before tail, old tally, counted bool, why error) error {
	e := t.end.last
	if e.Store.From != "" {
		if _, err := os.Lstat(t.path(e.Store.From)); err != nil {
			return fmt.Errorf("%w; the change may have been made", why)
		}
	}
	if t.unpost(e) != nil || t.disk.cut(t.path(ledgerFile), before.size) != nil {
		return fmt.Errorf("%w; the change may be made later", why)
	}
	switch {
	case !counted:
	case old.Line == "":
		t.disk.remove(t.path(tallyPlace(e.TaskID)))
	default:
		t.writeTally(e.TaskID, old)
	}
	t.end = before
	return why
}

// apply does what follows from the last line and those written with it, as far as it is not done.
func (t *turn) apply() error {
	if len(t.end.with) > 0 {
		return t.applyAll()
	}
	e := t.end.last
	if counts(e.Line) {
		if err := t.count(e.Line, t.end.sum); err != nil {
			return err
		}
	}
	if t.overtaken(e.Store.To) {
		return nil
	}
	if err := t.post(t.end.entries()); err != nil {
		return err
	}
	if e.Store.From == "" {
		return nil
	}
	_, err := os.Lstat(t.path(e.Store.From))
	switch {
	case missing(err):
		return nil
	case e.Store.To == "":
		return fail("closing a claim", t.unlink(e.Store.From))
	}
	return fail("moving a task", t.move(e.Store.From, e.Store.To))
}

// drop removes the file that the last line's rename has replaced by one of another name.
func (t *turn) drop() error {
	what := t.end.last.Store
	if what.Drop == "" || what.Drop == what.To || t.overtaken(what.To) {
		return nil
	}
	for _, place := range []string{what.To, what.Drop} { // never the only one
		if _, err := os.Lstat(t.path(place)); missing(err) {
			return nil
		}
	}
	return fail("removing what was replaced", t.unlink(what.Drop))
}

// overtaken reports whether the task has been claimed since it was moved to the place. A claim has no line, and after a move to an
// earlier instant it may have taken the file back to where that came from: done again, the move would undo the claim.
func (t *turn) overtaken(to string) bool {
	dir, file, _ := cutLast(to)
	n, ok := parseName(file)
	if !ok || dir != queueDir {
		return false
	}
	_, err := os.Lstat(t.path(openDir + "/" + n.record()))
	return err == nil && !t.unfinished(n)
}

// mended reports whether the file that the last line set aside is in its old place and good: somebody has mended it since, which
// has no line, either.
func (t *turn) mended() bool {
	e := t.end.last
	if e.Event != state.EventSetAside {
		return false
	}
	_, err := t.readTask(e.Store.From, e.TaskID)
	return err == nil
}

// move renames a file of ours and makes both its absence and its presence durable, the presence first.
func (t *turn) move(from, to string) error {
	if err := t.disk.rename(t.path(from), t.path(to)); err != nil {
		return err
	}
	if path.Dir(to) != path.Dir(from) {
		if err := t.disk.syncDir(t.path(path.Dir(to))); err != nil {
			return err
		}
	}
	return t.disk.syncDir(t.path(path.Dir(from)))
}

// unlink removes a file of ours, durably. A record's note of its process goes with it.
func (t *turn) unlink(from string) error {
	if path.Dir(from) == openDir {
		if _, err := os.Lstat(t.path(haltOf(from))); err == nil {
			t.disk.remove(t.path(haltOf(from)))
		}
	}
	if err := t.disk.remove(t.path(from)); err != nil && !missing(err) {
		return err
	}
	return t.disk.syncDir(t.path(path.Dir(from)))
}

// compensate looks whether the tasks whose creation the last lines tell of exist. Some file systems lose the name of a new
// file with the power although its content was synced; the creation was then never confirmed, and the ledger says so.
func (t *turn) compensate() error {
	var lost []entry
	var all *names
	for e := range t.end.entries() {
		if e.Type != state.LineTask || e.Event != state.EventCreated || e.Due == nil {
			continue
		}
		if _, err := os.Lstat(t.path(e.Store.To)); err == nil {
			continue
		}
		// Claimed and moved on, or renamed by hand: only when no file of it is anywhere is it lost.
		if all == nil {
			var err error
			if all, err = t.list(everything, ""); err != nil {
				return err
			}
		}
		if all.knows(e.TaskID) {
			continue
		}
		line := e.Line
		line.Event, line.Reason, line.Text = state.EventRemoved, "lost", ""
		t.report(state.Problem{Path: t.path(e.Store.To), Err: fmt.Errorf("the task %s is gone before its first occurrence", e.TaskID),
			Hint: "its creation was not confirmed, or its file was removed by hand"})
		lost = append(lost, entry{Line: line, Store: redo{IDs: t.end.ids}})
	}
	if len(lost) == 0 {
		return nil
	}
	end, err := t.appendLines(t.end, lost...)
	if err == nil {
		t.end = end
	}
	return err
}
