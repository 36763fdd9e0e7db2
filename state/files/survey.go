package files

import (
	"fmt"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// A folder without runs/commits is new, has lost its log, or was written by a build before 0.2.

// counterFile says in a folder of such a build how many IDs were used.
const counterFile = queueDir + "/.counter"

// beginLog finds out how things stand in a folder without a log, and makes one.
func (t *tx) beginLog() error {
	if err := t.furnish(); err != nil {
		return err
	}
	at, err := t.survey()
	if err != nil {
		return err
	}
	for _, dir := range folders { // the old log may have known names that are gone
		if err := t.disk.syncDir(t.path(dir)); err != nil {
			return fail("beginning the log of commits", err)
		}
	}
	at.Size, at.Boot = headSize, t.boot()
	if err := replace(t.disk, t.path(commitsFile), at.head()); err != nil {
		return fail("beginning the log of commits", err)
	}
	t.disk.remove(t.path(counterFile))
	t.at = at
	return t.reopen()
}

// adopt accepts the ledger as it is, after another version has written it, or after a rotation that
// the disk did not take.
func (t *tx) adopt() error {
	if err := t.disk.syncDir(t.path(runsDir)); err != nil {
		return fail("making the disk take the ledger", err)
	}
	// the places of its records' lines in the ledger no longer mean anything
	if err := t.checkpoint(); err != nil {
		return err
	}
	at, err := t.survey()
	if err != nil {
		return err
	}
	t.at.Ledger, t.at.IDs, t.at.Mail = at.Ledger, max(t.at.IDs, at.IDs), max(t.at.Mail, at.Mail)
	t.disk.mark(t.log.Handle, 0, t.at.head())
	return nil
}

// survey finds out how things stand from the ledger and from the names of the files. It cuts a torn
// last line off the ledger.
func (t *tx) survey() (at position, err error) {
	end, err := t.ledger.Tail()
	if err != nil {
		return at, fail("reading the ledger", err)
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

// countIDs returns the least number of IDs that were used, by those that still exist.
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
