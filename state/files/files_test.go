package files

import (
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/storetest"
)

// TestConformance holds the store to what every store promises.
func TestConformance(t *testing.T) {
	var mu sync.Mutex
	dirs := map[*testing.T]string{}
	storetest.Run(t, func(t *testing.T, limits func() (state.Limits, error)) state.Store {
		mu.Lock()
		defer mu.Unlock()
		if dirs[t] == "" {
			dirs[t] = t.TempDir()
		}
		s := open(t, dirs[t])
		s.limits = limits
		return s
	})
}

// patience is how long a test waits for the state lock: so long that only what hangs is given up.
const patience = 5 * time.Minute

// open opens a store that reports to the test's log.
func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{LockWait: patience, Report: func(p state.Problem) { t.Logf("reported: %v (%s)", p, p.Hint) }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}
