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

// rotate begins a new file when the ledger has become large, or is gone while parts of it are there. Everything in it is on the disk
// first. It is housekeeping: what keeps a large one from being rotated is no error, and it is tried again after some more lines.
// Only when the new file is in place and its name may not be durable nothing must be written into it: adopt sees to that.
func (t *tx) rotate() error { return t.rotateAt(t.partMost) }

// rotateAt is rotate of a ledger of at least so many bytes.
func (t *tx) rotateAt(least int64) error {
	gone := t.at.Ledger == 0
	if !gone && (t.at.Ledger < least || t.at.Ledger < t.later && least >= t.partMost) {
		return nil
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
			t.later = t.at.Ledger + t.partMost/8
			return asked(least < t.partMost, err)
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
		if gone || t.goesOn(before) { // the parts would be forgotten, or the new file is in place, and perhaps not for good
			return fail("beginning a new file of the ledger", err)
		}
		t.later = t.at.Ledger + t.partMost/8
		t.disk.remove(t.path(runsDir + "/" + ledger.PartName(before)))
		return asked(least < t.partMost, err)
	}
	t.later, t.at.Ledger = 0, int64(len(line))
	t.disk.mark(t.log.Handle, 0, t.at.head())
	return nil
}

// goesOn reports whether the ledger goes on from a part, as far as can be told.
func (t *tx) goesOn(part int) bool {
	p, err := t.ledger.Open(ledger.Name)
	if err != nil {
		return true
	}
	defer p.Close()
	return p.Before == ledger.PartName(part)
}

// asked is why the ledger was not rotated, for who has asked for it; to a change that only comes across it, it is no matter.
func asked(so bool, err error) error {
	if !so {
		return nil
	}
	return fail("beginning a new file of the ledger", err)
}

// shelve gives the ledger, durably, the name of a part as well, and returns the part's number. Where a file cannot have two
// names, the part is a copy: until the new file is in place no chain has it.
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
			if is, err := p.Stat(); err == nil && os.SameFile(is, last) { // by a process that died before it went on
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
