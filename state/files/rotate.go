package files

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// partMost is how large the ledger becomes unless Options say otherwise.
const partMost = 8 << 20

// rotate begins a new file if the ledger has at least this many bytes, or is gone while parts of it
// exist. First it makes the disk take everything in the old one.
//
// Every change rotates at partMost bytes. If that fails, the change is made all the same, and the
// rotation is tried again after some more lines. With less, Prune asks for a rotation, and is told
// why it failed. One failure stops every change: the new file is in place, but its name may not be
// durable. Nothing may then be written into it, and adopt sees to that.
func (t *tx) rotate(least int64) error {
	gone, asked := t.at.Ledger == 0, least < t.partMost
	if !gone && (t.at.Ledger < least || t.at.Ledger < t.later && !asked) {
		return nil
	}
	failed := func(err error) error {
		t.later = t.at.Ledger + t.partMost/8
		if !asked {
			return nil
		}
		return fail("beginning a new file of the ledger", err)
	}
	list, err := t.ledger.Parts()
	if err != nil || gone && len(list) == 0 {
		return fail("reading the ledger", err)
	}
	at := time.Now()
	var before int
	if gone {
		before = list[len(list)-1]
	} else {
		if err = t.checkpoint(); err == nil {
			before, err = t.shelve()
		}
		if err != nil {
			return failed(err)
		}
		if end, err := t.ledger.Tail(); err == nil && !end.Last.At.IsZero() {
			at = end.Last.At
		}
	}
	line, err := ledger.Entry{Line: state.Line{Type: ledger.Head, At: at}, Store: ledger.Note{IDs: t.at.IDs, Mail: t.at.Mail, Part: before + 1, Before: ledger.PartName(before)}}.Text()
	if err != nil {
		return err
	}
	if err = replace(t.disk, t.path(ledgerFile), line); err != nil {
		// else the parts would be lost, or the new file is in place but perhaps not durable
		if gone || t.goesOn(before) {
			return fail("beginning a new file of the ledger", err)
		}
		t.disk.remove(t.path(runsDir + "/" + ledger.PartName(before)))
		return failed(err)
	}
	t.later, t.at.Ledger = 0, int64(len(line))
	t.disk.mark(t.log.Handle, 0, t.at.head())
	return nil
}

// goesOn reports whether the ledger is the continuation of a part, as far as that is known.
func (t *tx) goesOn(part int) bool {
	p, err := t.ledger.Open(ledger.Name)
	if err != nil {
		return true
	}
	defer p.Close()
	return p.Before == ledger.PartName(part)
}

// shelve gives the ledger, durably, the additional name of a part, and returns the part's number.
// On systems where a file cannot have two names, the part is a copy, which belongs to no chain
// until the new file is in place.
func (t *tx) shelve() (number int, err error) {
	p, err := t.ledger.Open(ledger.Name)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	list, err := t.ledger.Parts()
	if err != nil {
		return 0, err
	}
	if len(list) > 0 {
		number = list[len(list)-1]
		if last, err := os.Lstat(t.path(runsDir + "/" + ledger.PartName(number))); err == nil {
			// by a process that died before it went on
			if is, err := p.Stat(); err == nil && os.SameFile(is, last) {
				return number, t.disk.syncDir(t.path(runsDir))
			}
		}
	}
	number = max(number+1, p.Number)
	path := t.path(runsDir + "/" + ledger.PartName(number))
	err = t.disk.link(t.path(ledgerFile), path)
	if err == nil {
		if err = t.disk.syncDir(t.path(runsDir)); err != nil {
			t.disk.remove(path)
		}
		return number, err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return 0, err
	}
	all := make([]byte, t.at.Ledger)
	if _, err := io.ReadFull(io.NewSectionReader(p, 0, t.at.Ledger), all); err != nil {
		return 0, err
	}
	if err := replace(t.disk, path, all); err != nil {
		t.disk.remove(path)
		return 0, err
	}
	return number, nil
}
