package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
)

// What is dropped of the ledger is its beginning. It is counted first, in a file of its own, so that an audit can say what it does not know; then
// the oldest part is removed, or, where that would be more than has to go, a part takes its place that has the rest of its lines. That
// begins with a line that says where in the part they were: a place in the ledger stays where it is.

// gone is what was dropped, and where the ledger begins since. A process that dies before the files are as it says has dropped nothing that is
// counted twice: the next one finds the place.
type gone struct {
	state.Gone
	Part   int   `toml:"part"`
	Offset int64 `toml:"offset"`
}

func (s *Store) readGone() (g gone, err error) {
	data, err := readFile(s.path(goneFile), tallyLimit)
	if missing(err) {
		return g, nil
	}
	if err == nil {
		err = codec.Decode(data, &g)
	}
	if err != nil {
		return gone{}, fmt.Errorf("%s: %w", s.path(goneFile), err)
	}
	g.Until, g.To = state.UTC(g.Until), state.Place{Part: g.Part, Offset: g.Offset}
	return g, nil
}

// Gone is what Prune has dropped of the ledger.
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

// pruneLedger drops the parts whose newest line was written before the instant, and then the oldest lines until what is left is within
// so many bytes; the zero instant and 0 are no bound. The file that grows is not touched, but for its name.
func (s *Store) pruneLedger(ctx context.Context, before time.Time, most int64, p *state.Pruned) error {
	list, err := s.ledger.Parts()
	if err != nil {
		return fail("pruning the ledger", err)
	}
	newest := 1 // parts that come while this goes on are left to the next time; one that it makes itself is not
	if len(list) > 0 {
		newest = list[len(list)-1] + 1
	}
	for rotated := false; ; {
		d, err := s.toDrop(before, most, rotated)
		switch {
		case err == nil && d != nil && d.number > newest:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errToRotate):
			rotated, err = true, s.rotateBeyond(ctx, 1)
		case err == nil && d == nil:
			return nil
		case err == nil:
			err = s.dropLines(ctx, *d, p)
		}
		if err != nil && !missing(err) { // where something is not there any more, another runner was faster
			return fail("pruning the ledger", err)
		}
	}
}

// errToRotate says that more is to go than the parts have.
var errToRotate = errors.New("the ledger is to be rotated")

// rotateBeyond begins a new file of the ledger if that which grows has so many bytes.
func (s *Store) rotateBeyond(ctx context.Context, least int64) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	return t.rotateAt(least)
}

// dropping is what is to go of a part.
type dropping struct {
	number int
	info   os.FileInfo
	upTo   int64 // in the file: where the lines begin that stay; its size when none do
}

// toDrop is what is to be dropped next; nil when nothing is. Once the ledger was rotated there are no more parts to be had.
func (s *Store) toDrop(before time.Time, most int64, rotated bool) (*dropping, error) {
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
		if os.SameFile(end, info) { // a process died in the middle of rotation: the part is the ledger
			break
		}
		infos = append(infos, info)
		total += info.Size()
	}
	over := total - most
	if most <= 0 {
		over = 0
	}
	if over > total-end.Size() && !rotated {
		return nil, errToRotate
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
	d.upTo = min(d.upTo, over+most/8) // so that it is not cut again for every line that comes
	return d, nil
}

// dropLines counts and drops lines. It does nothing when the part has changed since it was looked at.
func (s *Store) dropLines(ctx context.Context, d dropping, p *state.Pruned) error {
	f, err := s.ledger.Open(ledger.PartName(d.number))
	if err != nil {
		return err
	}
	defer f.Close()
	g, err := s.readGone()
	if err != nil {
		g = gone{} // it is counted anew
	}
	counted := int64(0) // up to here it was, by a process that died
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
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.done()
	place := runsDir + "/" + ledger.PartName(d.number)
	is, err := os.Lstat(t.path(place))
	if err != nil || !os.SameFile(is, d.info) {
		return err
	}
	if end, err := os.Lstat(t.path(ledgerFile)); err != nil || os.SameFile(end, is) {
		return err
	}
	data, err := codec.Encode(g)
	if err == nil {
		err = replace(t.disk, t.path(goneFile), data)
	}
	if err != nil {
		return err
	}
	if p.Lines += lines; upTo < f.Size {
		return t.cutPart(f, d.number, upTo)
	}
	if err := t.disk.remove(t.path(place)); err != nil {
		return err
	}
	p.Ledger++
	return t.disk.syncDir(t.path(runsDir))
}

// cutPart puts a file in the place of a part that has its lines from the offset on.
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
