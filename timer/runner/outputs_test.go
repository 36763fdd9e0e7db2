package runner

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state/output"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/relay"
)

// One goroutine looks at the outputs of all that runs, however often it begins and ends, and none is left.
func TestOutputsAreBoundedWhileTheyAreWritten(t *testing.T) {
	dir := t.TempDir()
	text := bytes.Repeat([]byte("0123456789abcde\n"), 1<<20/16)
	synctest.Test(t, func(t *testing.T) {
		var o outputs
		var runs sync.WaitGroup
		for i := range 8 {
			path := filepath.Join(dir, string(rune('a'+i)))
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			runs.Go(func() {
				time.Sleep(time.Duration(i) * 700 * time.Millisecond)
				enough := o.bound(clocktest.Bubble{}, nil, output.File(path), output.None{})
				time.Sleep(1100 * time.Millisecond)
				enough()
			})
		}
		runs.Wait()
		if len(o.of) != 0 {
			t.Errorf("%d outputs are looked at although nothing runs", len(o.of))
		}
	})
	if _, err := output.File(filepath.Join(dir, "a")).Bound(keepHead, keepTail, 0); err != nil {
		t.Skipf("nothing is given back here: %v", err)
	}
	for _, name := range []string{"a", "h"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(text) || !bytes.Equal(got[:keepHead], text[:keepHead]) || !bytes.Equal(got[len(got)-keepTail:], text[len(got)-keepTail:]) {
			t.Errorf("%s has lost more than its middle", name)
		}
		if got[len(got)/2] != 0 {
			t.Errorf("%s is whole although it ran for more than a second", name)
		}
	}
}

// slow is a sink that takes nothing until it is let.
type slow struct {
	let  chan struct{}
	text bytes.Buffer
	lost int64
}

func (s *slow) Append(to []byte, p relay.Piece) []byte {
	s.lost += p.Lost
	return append(to, p.Text...)
}

func (s *slow) Write(text []byte) error {
	<-s.let
	s.text.Write(text)
	return nil
}

// What is given up before it was copied is left out of the copy, and counted: no zeros are taken for what a command wrote.
func TestWhatIsGivenUpIsNotCopied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	text := bytes.Repeat([]byte("0123456789abcde\n"), 1<<20/16)
	var to slow
	synctest.Test(t, func(t *testing.T) {
		to.let = make(chan struct{})
		r := relay.New(clocktest.Bubble{}, &to, func(err error) { t.Error(err) })
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		run, err := r.Follow(t.Context(), "k7m2", 1, output.File(path), output.None{}, false)
		if err != nil {
			t.Fatal(err)
		}
		var o outputs
		enough := o.bound(clocktest.Bubble{}, run, output.File(path), output.None{})
		time.Sleep(boundEvery + time.Second/10)
		time.AfterFunc(time.Second, func() { close(to.let) })
		enough()
		if _, err := output.File(path).Trim(t.Context(), keepHead, keepTail); err != nil {
			t.Error(err)
		}
		if left := r.Close(t.Context()); left != 0 {
			t.Errorf("%d bytes are left", left)
		}
	})
	if got := int64(to.text.Len()); got+to.lost != int64(len(text)) || bytes.IndexByte(to.text.Bytes(), 0) >= 0 {
		t.Errorf("%d bytes are copied and %d are lost, of %d", got, to.lost, len(text))
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := output.File(path).Bound(keepHead, keepTail, 0); err == nil && to.lost == 0 {
		t.Error("nothing was lost: the test shows nothing")
	}
}
