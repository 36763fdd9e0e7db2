package files

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// Dropping takes lines from the ledger's beginning. It first counts them in a file of its own, so
// that an audit can say what it does not know. Then the oldest part is removed. If that would drop
// too much, another file takes the part's place that has the rest of its lines. This file begins
// with a line that says where in the old part they were, so that a place in the ledger stays valid.

// gone counts what was dropped, and says where the ledger now begins. If a process dies before the
// files agree with it, the next process finds the place and counts nothing twice.
type gone struct {
	state.Gone
	Part   int   `toml:"part"`
	Offset int64 `toml:"offset"`
}

func (s *Store) readGone() (gone, error) {
	g, err := loadNote[gone](s, goneFile)
	g.Until, g.To = state.UTC(g.Until), state.Place{Part: g.Part, Offset: g.Offset}
	return g, err
}

// Gone counts what Prune has dropped of the ledger.
func (s *Store) Gone(ctx context.Context) (g state.Gone, some bool, err error) {
	if err := ctx.Err(); err != nil {
		return g, false, err
	}
	v, err := s.readGone()
	if err != nil || v.Lines > 0 {
		return v.Gone, v.Lines > 0, err
	}
	list, err := s.ledger.Parts()
	if err != nil || len(list) > 0 {
		return g, err == nil && list[0] > 1, fail("reading the ledger", err)
	}
	end, err := s.ledger.End()
	if err != nil || end == nil {
		return g, false, fail("reading the ledger", err)
	}
	defer end.Close()
	return g, end.Number != 1, nil
}

// pruneLedger drops the parts whose newest line was written before the instant, and then the oldest
// lines until the rest is within most bytes. The zero instant and 0 are no bound. The growing file
// is not touched, except for its name.
func (s *Store) pruneLedger(ctx context.Context, before time.Time, most int64, p *state.Pruned) error {
	// more has to go than the parts have
	if end, err := os.Lstat(s.path(ledgerFile)); err == nil && most > 0 && end.Size() > most {
		if err := s.transact(ctx, func(t *tx) error { return t.rotate(1) }); err != nil {
			return fail("pruning the ledger", err)
		}
	}
	list, err := s.ledger.Parts()
	if err != nil || len(list) == 0 {
		return fail("pruning the ledger", err)
	}
	for {
		d, err := s.toDrop(before, most)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && (d == nil || d.number > list[len(list)-1]):
			return nil // parts that appear meanwhile wait for the next time
		case err == nil:
			err = s.dropLines(ctx, *d, p)
		}
		if err != nil && !missing(err) { // if something is gone, another runner was faster
			return fail("pruning the ledger", err)
		}
	}
}

// dropping is what to drop of a part.
type dropping struct {
	number int
	info   os.FileInfo
	upTo   int64 // where in the file the lines to keep begin; its size: none
}

// toDrop returns what to drop next, or nil.
func (s *Store) toDrop(before time.Time, most int64) (*dropping, error) {
	list, err := s.ledger.Parts()
	if err != nil {
		return nil, err
	}
	end, err := os.Lstat(s.path(ledgerFile))
	if missing(err) {
		return nil, nil // the next change begins it anew, and needs the parts
	}
	if err != nil {
		return nil, err
	}
	total := end.Size()
	var infos []os.FileInfo
	for _, n := range list {
		info, err := os.Lstat(s.path(runsDir + "/" + ledger.PartName(n)))
		if err != nil {
			return nil, err
		}
		if os.SameFile(end, info) { // a process died during rotation: the part is the ledger
			break
		}
		infos = append(infos, info)
		total += info.Size()
	}
	over := total - most
	if most <= 0 {
		over = 0
	}
	if len(infos) == 0 {
		return nil, nil
	}
	d := &dropping{number: list[0], info: infos[0], upTo: infos[0].Size()}
	if !before.IsZero() {
		if last, ok, err := s.ledger.Newest(ledger.PartName(d.number)); err != nil {
			return nil, err
		} else if ok && last.Before(before) {
			return d, nil
		}
	}
	if over <= 0 {
		return nil, nil
	}
	d.upTo = min(d.upTo, over+most/8) // some more, so that not every new line causes a cut
	return d, nil
}

// dropLines counts and drops lines. It does nothing if the part has changed since the look.
func (s *Store) dropLines(ctx context.Context, d dropping, p *state.Pruned) error {
	f, err := s.ledger.Open(ledger.PartName(d.number))
	if err != nil {
		return err
	}
	defer f.Close()
	g, _ := s.readGone() // what cannot be read is counted anew
	counted := int64(0)  // a process that died counted up to here
	switch {
	case g.Part == d.number:
		counted = max(g.Offset-f.Base, 0)
	case g.Part > d.number:
		counted = f.Size
	}
	lines, until, sums, upTo, err := f.Count(counted, d.upTo)
	if err != nil {
		return err
	}
	g.Lines += lines
	g.Sums.Add(sums)
	if until.After(g.Until) {
		g.Until = until
	}
	if g.Part, g.Offset = d.number, upTo+f.Base; upTo >= f.Size {
		g.Part, g.Offset = d.number+1, 0
	}
	data, err := codec.Encode(g)
	if err != nil {
		return err
	}
	return s.transact(ctx, func(t *tx) error {
		path := t.path(runsDir + "/" + ledger.PartName(d.number))
		is, err := os.Lstat(path)
		if err != nil || !os.SameFile(is, d.info) {
			return err
		}
		if end, err := os.Lstat(t.path(ledgerFile)); err != nil || os.SameFile(end, is) {
			return err
		}
		if err := replace(t.disk, t.path(goneFile), data); err != nil {
			return err
		}
		if p.Lines += lines; upTo < f.Size {
			return t.cutPart(f, d.number, upTo)
		}
		if err := t.disk.remove(path); err != nil {
			return err
		}
		p.Ledger++
		return t.disk.syncDir(t.path(runsDir))
	})
}

// cutPart replaces a part by a file that has its lines from the offset on.
func (t *tx) cutPart(f ledger.Part, number int, upTo int64) error {
	place := runsDir + "/" + ledger.PartName(number)
	e := ledger.Entry{Line: state.Line{Type: ledger.Head, At: time.Now()}, Store: ledger.Note{Part: number, Before: f.Before, Cut: upTo + f.Base}}
	data, err := e.Text()
	if err != nil {
		return err
	}
	temp := fresh(t.path(runsDir))
	size := int64(0)
	room := make([]byte, copyMost)
	for from := io.NewSectionReader(f, upTo, f.Size-upTo); err == nil; {
		n, end := io.ReadFull(from, room)
		if data = append(data, room[:n]...); size == 0 {
			err = t.disk.create(temp, data)
		} else if len(data) > 0 {
			err = t.disk.write(temp, size, data)
		}
		size, data = size+int64(len(data)), data[:0]
		if end != nil {
			if !errors.Is(end, io.EOF) && !errors.Is(end, io.ErrUnexpectedEOF) {
				err = errors.Join(err, end)
			}
			break
		}
	}
	if err == nil {
		err = t.disk.sync([]string{temp})
	}
	if err == nil {
		err = t.disk.rename(temp, t.path(place))
	}
	if err != nil {
		t.disk.remove(temp)
		return err
	}
	return t.disk.syncDir(t.path(runsDir))
}

// copyMost is how much of a part is copied at a time.
const copyMost = 1 << 20
