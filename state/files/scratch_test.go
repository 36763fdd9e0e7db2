package files

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestScratch: a file for a script has no name, and what a process leaves that is killed before it
// has taken the name away goes with the next runner.
func TestScratch(t *testing.T) {
	s := open(t, t.TempDir())
	f := must[*os.File](t)(s.Scratch("echo one\n"))
	defer f.Close()
	if text := must[[]byte](t)(io.ReadAll(f)); string(text) != "echo one\n" {
		t.Errorf("it holds %q", text)
	}
	left := func() (names []string) {
		for _, n := range must[[]string](t)(readNames(s.path(runsDir))) {
			if strings.HasPrefix(n, tempPrefix) {
				names = append(names, n)
			}
		}
		return names
	}
	if names := left(); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
	if err := os.WriteFile(fresh(s.path(runsDir)), []byte("echo tw"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := must[state.Lease](t)(s.Lead(ctx, state.Leader{}))
	defer l.Release()
	if names := left(); len(names) > 0 {
		t.Errorf("left by a dead process: %v", names)
	}
}
