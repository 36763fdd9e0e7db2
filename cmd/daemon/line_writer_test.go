package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/relay"
)

// slowReader takes nothing until it is let.
type slowReader struct {
	let chan struct{}

	mu    sync.Mutex
	text  bytes.Buffer
	wrong error
}

func (r *slowReader) Write(text []byte) (int, error) {
	<-r.let
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrong != nil {
		return 0, r.wrong
	}
	return r.text.Write(text)
}

func lostLines(n int) []byte { return fmt.Appendf(nil, "%d lost\n", n) }

// Who does not wait is refused when there is no room, and that is said where it was; who waits
// loses nothing.
func TestLineWriterAndASlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &slowReader{let: make(chan struct{})}
		o := newLineWriter(to, lostLines)
		line := []byte(strings.Repeat("x", 999) + "\n")
		given := 0
		go func() {
			for range 2000 {
				if err := o.putAndWait(line); err != nil {
					t.Error(err)
				}
				given++
			}
		}()
		synctest.Wait()
		if most := 2 * waitingEnough / len(line); given > most {
			t.Errorf("%d lines were given to nobody", given)
		}
		put, refused := 0, 0
		for range 2 * waitingMost / len(line) {
			switch err := o.put(line); err {
			case nil:
				put++
			case errUnread:
				refused++
			default:
				t.Error(err)
			}
		}
		if refused == 0 || len(o.text) > waitingMost {
			t.Errorf("%d were refused, and %d bytes wait", refused, len(o.text))
		}
		close(to.let)
		synctest.Wait()
		if err := o.put([]byte("at last\n")); err != nil {
			t.Error(err)
		}
		left, err := o.close(t.Context())
		got := to.text.String()
		if want := fmt.Sprintf("\n%d lost\n", refused); left != 0 || err != nil || !strings.Contains(got, want) || !strings.HasSuffix(got, "\nat last\n") {
			t.Errorf("%d bytes are left, %v; it does not say %q", left, err, want)
		}
		if n := strings.Count(got, "x\n"); n != 2000+put {
			t.Errorf("%d lines, want %d", n, 2000+put)
		}
	})
}

func TestLineWriterAndAReaderThatGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := errors.New("broken pipe")
		to := &slowReader{let: make(chan struct{}), wrong: gone}
		o := newLineWriter(to, lostLines)
		waited := make(chan error)
		go func() { waited <- o.putAndWait(make([]byte, 2*waitingEnough)) }()
		go func() { waited <- o.putAndWait(make([]byte, 2*waitingEnough)) }()
		synctest.Wait()
		close(to.let)
		for range 2 { // one of them may have found room
			if err := <-waited; err != nil && err != gone {
				t.Error(err)
			}
		}
		synctest.Wait()
		if err := o.put([]byte("one\n")); err != gone {
			t.Errorf("a line is taken: %v", err)
		}
		if left, err := o.close(t.Context()); left != 0 || err != gone {
			t.Errorf("%d bytes are left, %v", left, err)
		}
	})
}

func TestLineWriterIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &slowReader{let: make(chan struct{})}
		o := newLineWriter(to, lostLines)
		fmt.Fprintln(o, "one")
		synctest.Wait()
		fmt.Fprintln(o, "two")
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if left, err := o.close(ctx); left != int64(len("one\ntwo\n")) || err != nil {
			t.Errorf("%d bytes are left, %v", left, err)
		}
		close(to.let)
		<-o.done
		if got := to.text.String(); got != "one\n" {
			t.Errorf("after that %q was written", got)
		}
	})
}

func TestPieceLine(t *testing.T) {
	for _, c := range []struct {
		name     string
		piece    relay.Piece
		pipe     string
		terminal string // empty: as in a pipe
	}{
		{"a line", relay.Piece{Stream: "stdout", Text: []byte("one two\n")}, "k7m2/3 out: one two", ""},
		{"of standard error", relay.Piece{Stream: "stderr", Text: []byte("oh\n")}, "k7m2/3 err: oh", ""},
		{"an empty one", relay.Piece{Stream: "stdout", Text: []byte("\n")}, "k7m2/3 out: ", ""},
		{"one that nobody ended", relay.Piece{Stream: "stdout", Text: []byte("end")}, "k7m2/3 out: end", ""},
		{"one that goes on", relay.Piece{Stream: "stderr", Text: []byte("name? "), More: true}, "k7m2/3 err+ name? ", ""},
		{"what is left out", relay.Piece{Stream: "stdout", Lost: 12}, "k7m2/3 out! 12 bytes left out here: nobody read them in time", ""},
		{"control characters", relay.Piece{Stream: "stdout", Text: []byte("\x1b[31mred\x1b[0m\a\x00\n")}, "k7m2/3 out: \x1b[31mred\x1b[0m\a\x00", `k7m2/3 out: \x1b[31mred\x1b[0m\x07\x00`},
		{"the title of a window", relay.Piece{Stream: "stdout", Text: []byte("\x1b]0;x\a\u009b2J\n")}, "k7m2/3 out: \x1b]0;x\a\u009b2J", `k7m2/3 out: \x1b]0;x\x07\x9b2J`},
		{"bytes that are no character", relay.Piece{Stream: "stdout", Text: []byte("a\xff\n")}, "k7m2/3 out: a\xff", `k7m2/3 out: a\xff`},
		{"tabs, and a line as Windows has it", relay.Piece{Stream: "stdout", Text: []byte("a\t\\tb\r\n")}, "k7m2/3 out: a\t\\tb\r", "k7m2/3 out: a\t\\tb"},
		{"a line drawn over", relay.Piece{Stream: "stdout", Text: []byte("10%\r20%\n")}, "k7m2/3 out: 10%\r20%", `k7m2/3 out: 10%\x0d20%`},
	} {
		c.piece.Run = "k7m2/3"
		if c.terminal == "" {
			c.terminal = c.pipe
		}
		for terminal, want := range map[bool]string{false: c.pipe, true: c.terminal} {
			if got := string(pieceLine(nil, c.piece, terminal)); got != want+"\n" {
				t.Errorf("%s: %q, want %q (terminal: %v)", c.name, got, want, terminal)
			}
		}
	}
}
