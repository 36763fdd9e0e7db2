package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// The journal, runs/journal.jsonl, lets many claims share one wait for the disk. A file for each of them that is on the disk before
// anything starts is what a claim costs most. Claims that are made together are lines of the journal first, and it alone is waited for;
// their records, and the first tallies of their tasks, are written without waiting. Who reads them needs no journal: all of it is there,
// unless the power goes. Then heal, of the runner that comes next, makes what is missing or damaged again, from the journal and the ledger.
//
// Names in the queue are waited for as ever, so a claim of the journal whose task still stands at its instant was never granted. One that
// was released has a line that says so. When there is time the runner has the disk take all of it, and removes the journal (Sync).
const journalFile = runsDir + "/journal.jsonl"

// journalMost is how large the journal becomes, in bytes: some thousand claims. Beyond it each waits for the disk itself.
const journalMost = 2 << 20

// journaled is a line of the journal.
type journaled struct {
	Record   string    `json:"record"`           // the place of the record of a claim
	Number   int       `json:"number,omitempty"` // what the record says, beside what the task's file does
	Claimed  time.Time `json:"claimed,omitzero"` // likewise
	PID      int       `json:"pid,omitempty"`    // of who claimed
	Start    uint64    `json:"pid_start,omitempty"`
	Boot     string    `json:"boot,omitempty"`
	NS       string    `json:"pidns,omitempty"`
	Released bool      `json:"released,omitempty"` // it was given back, and nothing was started for it
}

// journal is what a handle knows of the journal. Each turn makes sure that it is still so.
type journal struct {
	size    int64 // 0: there is none, or it is not ours
	at      time.Time
	records map[string]bool // the claims in it that were not released
}

// ownJournal forgets what is known of a journal that another process has removed, or added to, and reports whether this handle may add.
func (t *turn) ownJournal() bool {
	info, err := os.Lstat(t.path(journalFile))
	switch {
	case missing(err):
		t.journal = journal{}
		return true
	case err != nil || info.Size() != t.journal.size || !info.ModTime().Equal(t.journal.at):
		t.journal = journal{}
		return false
	}
	return true
}

// journaled reports whether the claim of a record is in the journal, so that what follows from it need not wait for the disk.
func (t *turn) journaled(record string) bool {
	return t.journal.records[record] && t.ownJournal() && t.journal.records[record]
}

// enterClaims makes claims that are about to be granted lines of the journal. False: each has to wait for the disk itself.
func (t *turn) enterClaims(list []claiming) bool {
	if len(list) < 2 && len(t.journal.records) == 0 {
		return false
	}
	if !t.ownJournal() && t.dropJournal() != nil || t.journal.size > t.journalMost {
		return false
	}
	lines := make([]journaled, len(list))
	for i, c := range list {
		r := c.record
		lines[i] = journaled{Record: openDir + "/" + c.name.record(), Number: r.Number, Claimed: r.Claimed,
			PID: r.Runner.PID, Start: r.Runner.Start, Boot: r.Runner.Boot, NS: r.Runner.NS}
	}
	return t.addToJournal(lines) == nil
}

// addToJournal makes lines durable.
func (t *turn) addToJournal(lines []journaled) error {
	var data []byte
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
	if t.journal.records == nil {
		t.journal.records = map[string]bool{}
	}
	for _, l := range lines {
		t.journal.records[l.Record] = !l.Released
	}
	t.journal.size, t.journal.at = info.Size(), info.ModTime()
	return nil
}

// readJournal reads the claims in the journal that were not released, in order, and counts the lines that cannot be read. A line that was
// cut short was never relied on.
func (s *Store) readJournal() (list []journaled, bad int, err error) {
	data, err := readFile(s.path(journalFile), 2*journalMost)
	if missing(err) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fail("reading the journal of claims", err)
	}
	at, bad := map[string]int{}, 0
	for line := range bytes.Lines(data) {
		var l journaled
		if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &l) != nil {
			bad++
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
	claims := list[:0]
	for _, l := range list {
		if !l.Released {
			claims = append(claims, l)
		}
	}
	return claims, bad, nil
}

// name is that of the claim.
func (l journaled) name() (name, bool) {
	dir, file, _ := cutLast(l.Record)
	n, ok := parseRecordName(file)
	return n, ok && dir == openDir
}

// heal makes again what is missing or damaged of the claims in the journal, as it can be after the power has gone, and has the handle
// go on with the journal; not with one that has lines that cannot be read, as what is added to a line that was cut short could not be, either.
func (t *turn) heal() error {
	list, bad, err := t.readJournal()
	if err != nil {
		return err
	}
	if bad > 0 {
		t.report(state.Problem{Path: t.path(journalFile), Err: fmt.Errorf("%d of its lines cannot be read", bad),
			Hint: "ouro-timer log --audit tells what has no outcome"})
		return t.dropJournal()
	}
	if len(list) == 0 {
		return nil
	}
	if err := t.healAll(list); err != nil {
		return err
	}
	info, err := os.Lstat(t.path(journalFile))
	if err != nil {
		return fail("reading the journal of claims", err)
	}
	t.journal.size, t.journal.at, t.journal.records = info.Size(), info.ModTime(), map[string]bool{}
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
	if task, err := t.readTask(f.place(), n.id); err == nil {
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
		if _, err = decode(data, &v); err == nil && v.LastDue.Equal(n.time()) {
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
	switch ours := t.ownJournal() && t.journal.size > 0; {
	case failed:
		if list, _, err = t.readJournal(); err != nil { // it may have grown
			return err
		}
		return t.rewriteJournaled(list)
	case !ours:
		return t.dropJournal()
	case s.unsynced.Load() != before:
		return nil
	}
	return t.removeJournal()
}
