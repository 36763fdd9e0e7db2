package storetest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// written is all that is kept of a stream.
func (b *bench) written(from state.Stream) string {
	b.Helper()
	f := must[state.StreamReader](b)(from.Open(b.ctx))
	defer f.Close()
	text, err := io.ReadAll(f)
	if size, e := f.Size(); err != nil || e != nil || size != int64(len(text)) {
		b.Errorf("%d bytes of %d: %v %v", len(text), size, err, e)
	}
	return string(text)
}

// write makes a stream anew with the text in it.
func (b *bench) write(to state.Stream, text string) {
	b.Helper()
	f := must[*os.File](b)(to.Create(b.ctx))
	_, err := f.WriteString(text)
	b.ok(errors.Join(err, f.Close()))
}

func testOutput(t *testing.T, b *bench) {
	id := b.add(oneShot("n"), hour(1)).Task.ID
	r := b.claim(id, hour(1), time.Time{})
	out, errs := b.a.Output(id, r.Number)
	theirs, _ := b.b.Output(id, r.Number)
	next, _ := b.a.Output(id, r.Number+1)
	for what, s := range map[string]state.Stream{"stdout": out, "stderr": errs, "the next": next} {
		_, err := s.Open(b.ctx)
		b.is("open what "+what+" has not", err, fs.ErrNotExist)
		b.is("append to what "+what+" has not", s.Append(b.ctx, "x"), fs.ErrNotExist)
		_, err = s.Trim(b.ctx, 1000, 1000)
		b.is("trim what "+what+" has not", err, fs.ErrNotExist)
		b.is("drop what "+what+" has not", s.Drop(b.ctx), nil)
	}
	f := must[*os.File](b)(out.Create(b.ctx))
	defer f.Close()
	grows := must[state.StreamReader](b)(theirs.Open(b.ctx))
	defer grows.Close()
	for _, text := range []string{"one\n", "two\n"} {
		if _, err := f.WriteString(text); err != nil {
			t.Error(err)
		}
		if got, err := io.ReadAll(grows); string(got) != text || err != nil {
			t.Errorf("of %q is read %q, %v", text, got, err)
		}
	}
	at := make([]byte, 3)
	if _, err := grows.ReadAt(at, 4); string(at) != "two" || err != nil {
		t.Errorf("from the middle is read %q, %v", at, err)
	}
	b.is("append", theirs.Append(b.ctx, "last words\n"), nil)
	b.write(errs, "oh dear\n")
	if got := b.written(out); got != "one\ntwo\nlast words\n" {
		t.Errorf("kept is %q", got)
	}
	if got := b.written(errs); got != "oh dear\n" {
		t.Errorf("of the other is kept %q", got)
	}
	_, err := next.Open(b.ctx)
	b.is("open what is another run's", err, fs.ErrNotExist)
	b.write(out, "another attempt\n")
	if got := b.written(theirs); got != "another attempt\n" {
		t.Errorf("after another attempt is kept %q", got)
	}
	b.is("drop", out.Drop(b.ctx), nil)
	_, err = theirs.Open(b.ctx)
	b.is("open what was dropped", err, fs.ErrNotExist)
}

func testTrim(t *testing.T, b *bench) {
	id := b.add(oneShot("n"), hour(1)).Task.ID
	out, _ := b.a.Output(id, b.claim(id, hour(1), time.Time{}).Number)
	text := strings.Repeat("0123456789abcde\n", 64<<10)
	b.write(out, text)
	from, err := out.Bound(64<<10, 192<<10, 0)
	if got := b.written(out); len(got) != len(text) || got[:64<<10] != text[:64<<10] || got[len(got)-192<<10:] != text[len(text)-192<<10:] {
		t.Errorf("what is bounded (%d, %v) has lost more than its middle", from, err)
	}
	b.write(out, text)
	trimmed, err := out.Trim(b.ctx, 1000, 2000)
	if want := (state.Output{Bytes: int64(len(text)), Truncated: true}); err != nil || trimmed != want {
		t.Errorf("trimmed is %+v, %v, want %+v", trimmed, err, want)
	}
	short := b.written(out)
	if len(short) > 3000 || !strings.HasPrefix(short, text[:896]) || !strings.HasSuffix(short, text[:896]) || !strings.Contains(short, " of 1048576 bytes left out") {
		t.Errorf("kept is %q", short)
	}
	if again, err := out.Trim(b.ctx, 1000, 2000); err != nil || again != (state.Output{Bytes: int64(len(short))}) || b.written(out) != short {
		t.Errorf("trimmed again it is %+v, %v: %q", again, err, b.written(out))
	}
	if whole, err := out.Trim(b.ctx, 1, 1); err == nil || whole.Bytes != int64(len(short)) || b.written(out) != short {
		t.Errorf("what cannot be trimmed is %+v, %v", whole, err)
	}
}

// testOurs: what ouro-timer itself wrote is counted apart, of this attempt alone, by whichever
// store of the same state.
func testOurs(t *testing.T, b *bench) {
	id := b.add(oneShot("n"), hour(1)).Task.ID
	number := b.claim(id, hour(1), time.Time{}).Number
	out, errs := b.a.Output(id, number)
	theirs, _ := b.b.Output(id, number)
	b.write(errs, "x")
	f := must[*os.File](b)(out.Create(b.ctx))
	defer f.Close()
	own := func(s state.Stream, n int64, want bool) {
		t.Helper()
		if got, err := s.Own(b.ctx, f, n); got != want || err != nil {
			t.Errorf("it is %v, %v that %d bytes are noted", got, err, n)
		}
	}
	trimmed := func(want state.Output) {
		t.Helper()
		for range 2 {
			if got, err := out.Trim(b.ctx, 1000, 1000); got != want || err != nil {
				t.Errorf("trimmed is %+v, %v, want %+v", got, err, want)
			}
		}
	}
	own(out, 3, true) // nothing has come of it yet
	trimmed(state.Output{})
	f.WriteString("one two")
	own(theirs, 2, true)
	own(errs, 1, false) // f leads elsewhere
	trimmed(state.Output{Bytes: 7, Own: 5})
	b.write(out, "again")
	trimmed(state.Output{Bytes: 5})
	own(out, 1, true)
	trimmed(state.Output{Bytes: 5, Own: 1})
	b.is("drop", out.Drop(b.ctx), nil)
	own(out, 1, false)
}

func testScratch(t *testing.T, b *bench) {
	f := must[*os.File](b)(b.a.Scratch("echo one\n"))
	defer f.Close()
	if text, err := io.ReadAll(f); string(text) != "echo one\n" || err != nil {
		t.Errorf("in it is %q, %v", text, err)
	}
}
