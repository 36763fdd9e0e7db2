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
