package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// The journal, runs/journal.jsonl, lets many claims share one wait for the disk. A file for each of them that is on the disk before
// anything starts is what a claim costs most. Claims that are made together are lines of the journal first, and it alone is waited for;
// their records, and the first tallies of their tasks, are written without waiting. Who reads them needs no journal: all of it is there,
// unless the power goes. Then whoever changes the state next makes what is missing or damaged again, from the journal and the ledger.
//
// A line does not say that its claim was granted: the process may have died before the task's file was moved. Names in the queue are
// waited for as ever, so that the file tells, for as long as nobody else moves it. Therefore each turn settles the journal before it
// changes anything (settleJournal): a claim whose task still stands at its instant was never granted, and gets a line that says that it
// was given back. From then on a claim of the journal that was not given back was granted, whatever becomes of its task.
//
// When there is time the runner has the disk take all of it, and removes the journal (Sync).
const journalFile = runsDir + "/journal.jsonl"

// journalMost is how large the journal becomes, in bytes: some thousand claims. Beyond it each waits for the disk itself.
const journalMost = 2 << 20

// journalEnd is how much of the end of the journal is looked at for claims that were not granted: more than a turn's claims take.
const journalEnd = 128 << 10

// journaled is a line of the journal. The first line has nothing but the name of the boot of the machine under which all of it was
// written: under another one files that were not waited for may be lost.
type journaled struct {
	Under    string    `json:"under,omitempty"`
	Record   string    `json:"record,omitempty"`   // the place of the record of a claim
	Revision int64     `json:"revision,omitempty"` // of the task that was claimed
	Number   int       `json:"number,omitempty"`   // what the record says, beside what the task's file does
	Claimed  time.Time `json:"claimed,omitzero"`   // likewise
	PID      int       `json:"pid,omitempty"`      // of who claimed
	Start    uint64    `json:"pid_start,omitempty"`
	Boot     string    `json:"boot,omitempty"`
	NS       string    `json:"pidns,omitempty"`
	Released bool      `json:"released,omitempty"` // it was given back, and nothing was started for it
}

// journal is what a handle knows of the journal, since the beginning of the turn.
type journal struct {
	size    int64 // 0: there is none
	at      time.Time
	records map[string]bool // the claims in it that were not given back; nil: it is of another handle, and not known
	mine    bool            // nobody else has written the last of it
}

// settleJournal gives back the claims that another process, or a batch that failed, has left in the journal and that were not granted.
// After a loss of power it makes again what was lost. It is the first thing in a turn: as long as nobody has moved the file of a task
// since, its place says whether the claim was granted.
func (t *turn) settleJournal() error {
	info, err := os.Lstat(t.path(journalFile))
	switch {
	case missing(err):
		t.journal = journal{}
		return nil
	case err != nil:
		return fail("reading the journal of claims", err)
	case info.Size() == t.journal.size && info.ModTime().Equal(t.journal.at):
		return nil
	}
	t.journal = journal{}
	recent, sound, err := t.lastOfJournal()
	if err != nil {
		return err
	}
	t.journal.size, t.journal.at = info.Size(), info.ModTime()
	if !sound {
		return t.mendJournal()
	}
	var back []journaled
	for _, l := range recent {
		if n, _ := l.name(); t.unfinished(n) {
			back = append(back, journaled{Record: l.Record, Released: true})
		}
	}
	if len(back) == 0 {
		return nil
	}
	if err := t.addToJournal(back); err != nil && t.journal.size > 0 {
		return fail("giving claims back", err)
	}
	return nil
}

// mendJournal makes again what was lost of the claims in a journal that was written under another boot, or has lines that cannot be read,
// and removes it.
func (t *turn) mendJournal() error {
	_, bad, err := t.readJournal()
	if err != nil {
		return err
	}
	if bad > 0 {
		t.report(state.Problem{Path: t.path(journalFile), Err: fmt.Errorf("%d of its lines cannot be read", bad),
			Hint: "ouro-timer log --audit tells what has no outcome"})
	}
	return t.dropJournal()
}

// lastOfJournal reads the claims at the end of the journal that were not given back. It is not sound when it was written under another
// boot, or a line there cannot be read.
func (s *Store) lastOfJournal() (list []journaled, sound bool, err error) {
	f, err := openFile(s.path(journalFile), os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, false, fail("reading the journal of claims", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, fail("reading the journal of claims", err)
	}
	head := make([]byte, min(info.Size(), 256))
	end := make([]byte, min(info.Size(), journalEnd))
	_, err = f.ReadAt(head, 0)
	if err == nil {
		_, err = f.ReadAt(end, info.Size()-int64(len(end)))
	}
	if err != nil {
		return nil, false, fail("reading the journal of claims", err)
	}
	if first, _, whole := bytes.Cut(head, []byte("\n")); !whole || !s.underThisBoot(first) {
		return nil, false, nil
	}
	_, end, _ = bytes.Cut(end, []byte("\n")) // the first line, or a part of one
	list, bad := parseJournal(end)
	return list, bad == 0, nil
}

// underThisBoot reports whether that is the first line of a journal that was written since the machine was started.
func (s *Store) underThisBoot(line []byte) bool {
	var first journaled
	boot := s.boot()
	return json.Unmarshal(line, &first) == nil && boot != "" && first.Under == boot
}

// known reports whether this handle knows all claims in the journal, so that it may go on with it.
func (j *journal) known() bool { return j.size == 0 || j.records != nil }

// journaled reports whether the claim of a record is in the journal, so that what follows from it need not wait for the disk.
func (t *turn) journaled(record string) bool { return t.journal.records[record] }

// enterClaims makes claims that are about to be granted lines of the journal. False: each has to wait for the disk itself.
func (t *turn) enterClaims(list []claiming) bool {
	if len(list) < 2 && len(t.journal.records) == 0 {
		return false
	}
	if t.boot() == "" || !t.journal.known() && t.dropJournal() != nil || t.journal.size > t.journalMost {
		return false
	}
	lines := make([]journaled, len(list))
	for i, c := range list {
		r := c.record
		lines[i] = journaled{Record: openDir + "/" + c.name.record(), Revision: r.Task.Revision, Number: r.Number, Claimed: r.Claimed,
			PID: r.Runner.PID, Start: r.Runner.Start, Boot: r.Runner.Boot, NS: r.Runner.NS}
	}
	return t.addToJournal(lines) == nil
}

// addToJournal makes lines durable.
func (t *turn) addToJournal(lines []journaled) error {
	var data []byte
	if t.journal.size == 0 {
		lines = append([]journaled{{Under: t.boot()}}, lines...)
	}
	for _, l := range lines {
		line, err := json.Marshal(l)
		if err != nil {
			return err
		}
		data = append(append(data, line...), '\n')
	}
	path := t.path(journalFile)
	size := t.journal.size
	err := t.disk.extend(path, size, data)
	if err == nil && size == 0 {
		err = t.disk.syncDir(t.path(runsDir))
	}
	if err != nil {
		return errors.Join(err, t.dropJournal())
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if size == 0 {
		t.journal.records = map[string]bool{}
	}
	if t.journal.records != nil {
		t.journal.mine = true
		for _, l := range lines {
			t.journal.records[l.Record] = !l.Released
		}
	}
	t.journal.size, t.journal.at = info.Size(), info.ModTime()
	return nil
}

// giveBack takes a claim that was granted out of the journal, before its task's file is moved back: from then on it is a claim as one that
// was made alone, whose record is on the disk.
func (t *turn) giveBack(record string) error {
	if t.journal.size == 0 || t.journal.known() && !t.journal.records[record] {
		return nil
	}
	err := t.disk.syncAll([]string{t.path(record)})
	if err == nil {
		err = t.disk.syncDir(t.path(openDir))
	}
	if err != nil { // what the disk has not taken is not synced again
		list, _, err := t.readJournal()
		if err != nil {
			return err
		}
		return t.rewriteJournaled(list)
	}
	if err := t.addToJournal([]journaled{{Record: record, Released: true}}); err != nil && t.journal.size > 0 {
		return err
	}
	return nil
}

// readJournal reads the claims in the journal that were not given back, in order, and counts the lines that cannot be read. A line that was
// cut short was never relied on.
func (s *Store) readJournal() (list []journaled, bad int, err error) {
	data, err := readFile(s.path(journalFile), 2*journalMost)
	if missing(err) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fail("reading the journal of claims", err)
	}
	list, bad = parseJournal(data)
	return list, bad, nil
}

func parseJournal(data []byte) (list []journaled, bad int) {
	at := map[string]int{}
	for line := range bytes.Lines(data) {
		var l journaled
		if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &l) != nil {
			bad++
			continue
		}
		if l.Under != "" && l.Record == "" {
			continue
		}
		if _, ok := l.name(); !ok {
			bad++
			continue
		}
		if i, again := at[l.Record]; again {
			list[i] = l
			continue
		}
		at[l.Record] = len(list)
		list = append(list, l)
	}
	return slices.DeleteFunc(list, func(l journaled) bool { return l.Released }), bad
}

// name is that of the claim.
func (l journaled) name() (name, bool) {
	dir, file, _ := cutLast(l.Record)
	n, ok := parseRecordName(file)
	return n, ok && dir == openDir
}

// heal makes again what is missing or damaged of the claims in the journal, and has the handle go on with the journal. Where the system
// tells one boot from another settleJournal has done so after a loss of power; a runner that starts does not rely on that.
func (t *turn) heal() error {
	list, bad, err := t.readJournal()
	if err != nil || len(list) == 0 && bad == 0 {
		return err
	}
	if bad > 0 { // what is added to a line that was cut short could not be read, either
		return t.mendJournal()
	}
	if err := t.healAll(list); err != nil {
		return err
	}
	t.journal.mine, t.journal.records = false, map[string]bool{}
	for _, l := range list {
		t.journal.records[l.Record] = true
	}
	return nil
}

func (t *turn) healAll(list []journaled) error {
	for _, l := range list {
		if err := t.healOne(l); err != nil {
			return err
		}
	}
	return nil
}

// lost reports whether what was to be read is missing or damaged.
func lost(err error) bool {
	return missing(err) || errors.Is(err, errDecode) || errors.Is(err, errOdd)
}

func (t *turn) healOne(l journaled) error {
	n, _ := l.name()
	if _, err := t.readRecord(n); !lost(err) {
		return nil // it is there, also where it cannot be read
	}
	ended, err := t.endedBy(l.Record, n)
	if err != nil {
		return err
	}
	if ended || t.unfinished(n) {
		return nil // counted; or not granted, and the next claim drops what there is of it
	}
	f, _, err := t.whereIs(n.id)
	if errors.Is(err, state.ErrNotFound) {
		return nil // a task that is not there any more has nothing to end
	}
	if err != nil {
		return err
	}
	text := []byte("lost with the power, as its task\n") // a damaged record: its occurrence ends interrupted
	if task, err := t.readTask(f.place(), n.id); err == nil && task.Revision == l.Revision {
		// Whether it was started nobody knows any more.
		text, err = recordText(state.Record{Task: task, Due: n.time(), Number: l.Number, Claimed: l.Claimed, Starting: l.Claimed,
			Runner: state.Ident{PID: l.PID, Start: l.Start, Boot: l.Boot, NS: l.NS}})
		if err != nil {
			return err
		}
	}
	t.report(state.Problem{Path: t.path(l.Record), Err: errors.New("the record of a claim was lost with the power"), Hint: "it was made again from the journal"})
	return fail("making the record of a claim again", replace(t.disk, t.path(l.Record), text))
}

// endedBy reports whether a claim has ended, and makes its task's tally again if that was lost.
func (t *turn) endedBy(record string, n name) (bool, error) {
	var v tally
	data, err := readFile(t.path(tallyPlace(n.id)), tallyLimit)
	if err == nil {
		if _, err = decode(data, &v); err == nil && v.Again.IsZero() && v.LastDue.Equal(n.time()) {
			return true, nil
		}
	}
	tallyLost, ended := lost(err), false
	if err := t.history(n.id, func(e entry, _ string) bool {
		ended = ended || e.Store.From == record
		return !ended
	}); err != nil || !ended || !tallyLost {
		return ended, err
	}
	if v, err = t.recount(n.id); err != nil {
		return true, err
	}
	return true, t.writeTally(n.id, v)
}

// dropJournal has the disk take everything that the journal stands for, and removes it.
func (t *turn) dropJournal() error {
	list, _, err := t.readJournal()
	if err != nil {
		return err
	}
	if len(list) > 0 {
		if err := t.healAll(list); err != nil {
			return err
		}
		if t.syncJournaled(list) != nil {
			return t.rewriteJournaled(list)
		}
	}
	return t.removeJournal()
}

// rewriteJournaled writes the files that the journal stands for anew, as what the disk has once not taken must not be synced again, and
// removes the journal.
func (t *turn) rewriteJournaled(list []journaled) error {
	for _, l := range list {
		n, _ := l.name()
		for _, place := range []string{l.Record, tallyPlace(n.id)} {
			data, err := readFile(t.path(place), recordLimit)
			if err == nil {
				err = replace(t.disk, t.path(place), data)
			}
			if err != nil && !missing(err) {
				return fail("having the disk take claims", err)
			}
		}
	}
	return t.removeJournal()
}

func (t *turn) removeJournal() error {
	if err := t.disk.remove(t.path(journalFile)); err != nil && !missing(err) {
		return fail("removing the journal of claims", err)
	} else if missing(err) {
		return nil
	}
	t.journal = journal{}
	return fail("removing the journal of claims", t.disk.syncDir(t.path(runsDir)))
}

// syncJournaled has the disk take the records that are open and the tallies of what has ended.
func (s *Store) syncJournaled(list []journaled) error {
	var paths []string
	for _, l := range list {
		n, _ := l.name()
		paths = append(paths, s.path(l.Record), s.path(tallyPlace(n.id)))
	}
	err := s.disk.syncAll(paths)
	for _, dir := range []string{openDir, tallyDir} {
		if err == nil {
			err = s.disk.syncDir(s.path(dir))
		}
	}
	return fail("having the disk take claims", err)
}

// Sync has the disk take, beside whoever else uses the state, what was written without waiting for it, and removes the journal. Should
// more be written meanwhile, the journal stays for the next time.
func (s *Store) Sync(ctx context.Context) error {
	if _, err := os.Lstat(s.path(journalFile)); missing(err) {
		return nil
	}
	before := s.unsynced.Load()
	list, _, err := s.readJournal()
	if err != nil {
		return err
	}
	failed := false
	for from := 0; from < len(list) && !failed; from += groupMost {
		if err := ctx.Err(); err != nil {
			return err
		}
		failed = s.syncJournaled(list[from:min(from+groupMost, len(list))]) != nil
	}
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	switch {
	case t.journal.size == 0:
		return nil // another process has removed it
	case failed:
		if list, _, err = t.readJournal(); err != nil { // it may have grown
			return err
		}
		return t.rewriteJournaled(list)
	case !t.journal.mine:
		return t.dropJournal()
	case s.unsynced.Load() != before:
		return nil
	}
	return t.removeJournal()
}
