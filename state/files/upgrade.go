package files

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// A folder without runs/commits is a new one, or one that a version before 0.2 has written. That version noted in the ledger's last lines what was
// to be done again should it die, and had a file of claims that were not waited for. What it may have left is finished here, once.

// The files of those versions.
const (
	journalFile = runsDir + "/journal.jsonl" // claims that were made together
	counterFile = queueDir + "/.counter"     // how many IDs were given out
)

// found finds out how things stand in a folder without a log, and makes one.
func (t *tx) found() error {
	if err := t.furnish(); err != nil {
		return err
	}
	if err := t.upgrade(); err != nil {
		return err
	}
	at, err := t.survey()
	if err != nil {
		return err
	}
	at.Size, at.Boot = headSize, t.boot()
	if err := replace(t.disk, t.path(commitsFile), at.head()); err != nil {
		return fail("beginning the log of commits", err)
	}
	t.disk.remove(t.path(counterFile))
	if err := t.disk.remove(t.path(journalFile)); err != nil && !missing(err) {
		return fail("removing the journal of claims", err)
	}
	t.at = at
	if err := t.reopen(); err != nil || len(t.lost) == 0 {
		return err
	}
	t.forget()
	for _, l := range t.lost {
		if err := t.write(l); err != nil {
			return err
		}
	}
	return t.commit()
}

// adopt takes the ledger as it is, after it was written by somebody else than this version, or rotated by one that could not make the disk take it.
func (t *tx) adopt() error {
	if err := t.disk.syncDir(t.path(runsDir)); err != nil {
		return fail("making the disk take the ledger", err)
	}
	if err := t.checkpoint(); err != nil { // where in the ledger its records have put their lines says nothing any more
		return err
	}
	end, err := t.tail()
	if err != nil {
		return err
	}
	if end.Last.Store.From != "" {
		if err := t.upgrade(); err != nil {
			return err
		}
	}
	at, err := t.survey()
	if err != nil {
		return err
	}
	t.at.Ledger, t.at.IDs, t.at.Mail = at.Ledger, max(t.at.IDs, at.IDs), max(t.at.Mail, at.Mail)
	t.disk.mark(t.log.Handle, 0, t.at.head())
	return nil
}

// survey finds out how things stand from the ledger and the names of the files. A torn last line of the ledger is cut off.
func (t *tx) survey() (at position, err error) {
	end, err := t.tail()
	if err != nil {
		return at, err
	}
	if end.Torn > 0 {
		if err := t.disk.cut(t.path(ledgerFile), end.Size); err != nil {
			return at, fail("cutting the ledger's torn last line", err)
		}
		t.report(ledger.Torn(t.path(ledgerFile), end.Torn))
	}
	at.Ledger, at.IDs, at.Mail = end.Size, end.IDs, end.Mail
	if at.Mail == "" {
		if at.Mail, err = t.newestItem(); err != nil {
			return at, err
		}
	}
	data, err := readFile(t.path(counterFile), 64)
	switch {
	case err != nil && !missing(err) && !garbled(err):
		return at, fail("reading the number of the next task", err)
	case err == nil:
		var n uint64
		if _, err := fmt.Sscanf(string(data), "%d ", &n); err == nil {
			at.IDs = max(at.IDs, n)
		}
	}
	if at.IDs == 0 || at.Ledger == 0 {
		n, err := t.countIDs()
		if err != nil {
			return at, err
		}
		at.IDs = max(at.IDs, n)
	}
	return at, nil
}

// countIDs is how many IDs were given out at the least, by those that are still about.
func (t *tx) countIDs() (count uint64, err error) {
	names, err := t.list(everything, "")
	if err != nil {
		return 0, err
	}
	more, count, err := t.otherIDs()
	if err != nil {
		return 0, err
	}
	for id := range names.ids(more) {
		if n, ok := state.IDNumber(id); ok {
			count = max(count, n+1)
		}
	}
	return count, nil
}

// upgrade finishes what an earlier version left unfinished: the claims in its journal, the moves of the ledger's last lines, and claims that were
// never granted, whose task still stands in the queue at their instant.
func (t *tx) upgrade() error {
	end, err := t.tail()
	if err != nil {
		return err
	}
	for _, e := range append(slices.Clone(end.With), end.Last) {
		from := e.Store.From
		if from == "" { // of lines that were written together the last one has the move
			from = end.Last.Store.From
		}
		if err := t.finishLine(e, from); err != nil {
			return err
		}
	}
	if err := t.finishJournal(); err != nil {
		return err
	}
	all, err := t.list(openOnly, "")
	if err != nil {
		return err
	}
	for _, open := range all.open {
		for _, n := range open {
			if t.stands(n) {
				if err := t.disk.remove(t.path(openDir + "/" + n.record())); err != nil && !missing(err) {
					return fail("giving a claim back", err)
				}
			}
		}
	}
	for _, dir := range folders {
		if err := t.disk.syncDir(t.path(dir)); err != nil {
			return fail("finishing a change of an earlier version", err)
		}
	}
	return nil
}

// stands reports whether a task stands in the queue at the instant of a claim.
func (t *tx) stands(n name) bool {
	_, err := os.Lstat(t.path(queueDir + "/" + n.queue()))
	return err == nil
}

// finishLine does what a line says that follows from it, unless the file at from, which goes last, is gone.
func (t *tx) finishLine(e ledger.Entry, from string) error {
	if counts(e.Line) {
		if err := t.finishTally(e); err != nil {
			return err
		}
	}
	what := e.Store
	if from == "" { // of lines that go together only this one was written
		return t.finishMail(e)
	}
	if _, err := os.Lstat(t.path(from)); missing(err) {
		return t.finishLost(e)
	}
	if dir, file, _ := cutLast(what.To); dir == queueDir {
		if n, ok := parseName(file); ok {
			if _, err := os.Lstat(t.path(openDir + "/" + n.record())); err == nil && !t.stands(n) {
				return nil // it was claimed since
			}
		}
	}
	if e.Event == state.EventSetAside {
		if _, err := t.readTask(what.From, e.TaskID); err == nil {
			return nil // it was mended since
		}
	}
	if err := t.finishMail(e); err != nil {
		return err
	}
	switch {
	case what.From == "":
		return nil
	case what.To == "":
		return fail("closing a claim", t.disk.remove(t.path(what.From)))
	}
	if err := t.disk.rename(t.path(what.From), t.path(what.To)); err != nil {
		return fail("moving a task", err)
	}
	if what.Drop != "" && what.Drop != what.To {
		if err := t.disk.remove(t.path(what.Drop)); err != nil && !missing(err) {
			return fail("removing what was replaced", err)
		}
	}
	return nil
}

// finishMail makes the items and notices of a line that are not there.
func (t *tx) finishMail(e ledger.Entry) error {
	if !hasMail(e.Line) {
		return nil
	}
	l, err := t.spelled(e.Line)
	if err != nil {
		return fail("telling of an outcome", err)
	}
	files, err := mailOf(l, e.Store.Mail)
	for _, f := range files {
		if err == nil && !t.mailThere(f.place) {
			err = replace(t.disk, t.path(f.place), f.data)
		}
	}
	return fail("telling of an outcome", err)
}

// mailThere reports whether an item or a notice is there, also when it was taken or postponed since.
func (t *tx) mailThere(place string) bool {
	dir, file, _ := cutLast(place)
	files, err := readNames(t.path(dir))
	if err != nil {
		return false
	}
	item, _ := parseItem(file)
	notice, _ := parseNotice(file)
	return slices.ContainsFunc(files, func(f string) bool {
		if dir == inboxDir {
			n, ok := parseItem(f)
			n.lease = ""
			return ok && n == item
		}
		n, ok := parseNotice(f)
		return ok && n.id == notice.id && n.number == notice.number && n.channel == notice.channel
	})
}

// finishTally counts a line that its task's tally does not have.
func (t *tx) finishTally(e ledger.Entry) error {
	var v struct {
		state.Tally
		Line string `toml:"line"` // the checksum of the line that was counted last
	}
	data, err := readFile(t.path(tallyPlace(e.TaskID)), tallyLimit)
	if err == nil {
		err = codec.Decode(data, &v)
	}
	switch {
	case err == nil && v.Line == sumOf(e.Raw):
		return nil
	case err == nil, missing(err) && e.Number == 1:
		v.Count(e.Line)
	case missing(err), garbled(err):
		if v.Tally, err = t.recount(e.TaskID); err != nil {
			return err
		}
	default:
		return fail("reading the tally of "+e.TaskID, err)
	}
	if data, err = codec.Encode(v.Tally); err == nil {
		err = replace(t.disk, t.path(tallyPlace(e.TaskID)), data)
	}
	return fail("writing the tally of "+e.TaskID, err)
}

// finishLost has the ledger say of a task whose making is its last line, and whose file went with the power, that it never was.
func (t *tx) finishLost(e ledger.Entry) error {
	if e.Type != state.LineTask || e.Event != state.EventCreated || e.Due == nil {
		return nil
	}
	all, err := t.list(everything, e.TaskID)
	if err != nil || len(all.tasks) > 0 || len(all.open) > 0 {
		return err
	}
	l := e.Line
	l.Event, l.Reason, l.Text = state.EventRemoved, "lost", ""
	t.lost = append(t.lost, l)
	t.report(state.Problem{Path: t.path(e.Store.To), Err: fmt.Errorf("the task %s is gone before its first occurrence", e.TaskID),
		Hint: "its creation was not confirmed, or its file was removed by hand"})
	return nil
}

// journaled is a line of the journal of claims.
type journaled struct {
	Record   string    `json:"record"`   // the place of the record of a claim
	Revision int64     `json:"revision"` // of the task that was claimed
	Number   int       `json:"number"`
	Claimed  time.Time `json:"claimed"`
	PID      int       `json:"pid"` // of who claimed
	Start    uint64    `json:"pid_start"`
	Boot     string    `json:"boot"`
	NS       string    `json:"pidns"`
	Released bool      `json:"released"`
}

// finishJournal makes again the records of claims that were granted and that a loss of power has taken.
func (t *tx) finishJournal() error {
	data, err := readFile(t.path(journalFile), 4<<20)
	if missing(err) {
		return nil
	}
	if err != nil {
		return fail("reading the journal of claims", err)
	}
	claims := map[string]journaled{}
	for line := range bytes.Lines(data) {
		var l journaled
		if json.Unmarshal(line, &l) == nil && l.Record != "" {
			claims[l.Record] = l
		}
	}
	for _, l := range claims {
		n, ok := parseRecordName(path.Base(l.Record))
		if !ok || l.Released || path.Dir(l.Record) != openDir || t.stands(n) {
			continue
		}
		if err := t.finishClaim(n, l); err != nil {
			return err
		}
	}
	return nil
}

// finishClaim makes the record of a claim again, unless it is there or the claim has ended.
func (t *tx) finishClaim(n name, l journaled) error {
	if _, err := t.readRecord(n); !missing(err) && !garbled(err) {
		return nil // it is there
	}
	ended := false
	if err := t.history(n.id, func(e ledger.Entry) bool {
		ended = ended || e.Store.From == l.Record
		return !ended
	}); err != nil {
		return err
	}
	if ended {
		return t.recountLost(n.id)
	}
	all, err := t.list(everything, n.id)
	if err != nil || len(all.byTask()[n.id]) == 0 {
		return err
	}
	win, _ := t.winner(all.byTask()[n.id])
	text := []byte("lost with the power, as its task\n") // a damaged record: its occurrence ends interrupted
	if task, err := t.readTask(win.place(), n.id); err == nil && task.Revision == l.Revision {
		text, err = codec.EncodeRecord(state.Record{Task: task, Due: n.time(), Number: l.Number, Claimed: l.Claimed, Starting: l.Claimed,
			Runner: state.Ident{PID: l.PID, Start: l.Start, Boot: l.Boot, NS: l.NS}})
		if err != nil {
			return err
		}
	}
	return fail("making the record of a claim again", replace(t.disk, t.path(l.Record), text))
}

// recountLost makes a tally again that went with the power.
func (t *tx) recountLost(id string) error {
	var v state.Tally
	data, err := readFile(t.path(tallyPlace(id)), tallyLimit)
	if err == nil {
		err = codec.Decode(data, &v)
	}
	if !missing(err) && !garbled(err) {
		return fail("reading the tally of "+id, err)
	}
	if v, err = t.recount(id); err == nil {
		data, err = codec.Encode(v)
	}
	if err == nil {
		err = replace(t.disk, t.path(tallyPlace(id)), data)
	}
	return fail("writing the tally of "+id, err)
}
