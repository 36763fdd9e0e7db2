package clocktest

import (
	"testing"
	"time"
)

// patience is how long what takes milliseconds may take on a busy machine: fifty times what is
// promised, so that only what hangs is found.
const patience = 500 * time.Millisecond

// Quick fails when work took longer than patience. The machine may stall, so a slow answer is asked
// for again.
func Quick(t *testing.T, what string, work func()) {
	t.Helper()
	for try := 0; ; try++ {
		begin := time.Now()
		work()
		if took := time.Since(begin); took < patience {
			return
		} else if try == 2 {
			t.Fatalf("%s takes %s", what, took)
		}
	}
}
