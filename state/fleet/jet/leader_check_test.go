package jet

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestLeaderCheck: the leader is asked what it has after each change of server, and no more. One that has less than was seen is believed once no server can
// take itself wrongly for the leader.
func TestLeaderCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := leader{by: "a"}
		check := func(server string, has uint64, requests int, want error) {
			t.Helper()
			n := 0
			if asked, err := l.check(server, func() (uint64, error) { n++; return has, nil }); !errors.Is(err, want) || n != requests || asked != (n > 0) {
				t.Errorf("%s has %d: %v, with %d requests", server, has, err, n)
			}
		}
		check("b", 0, 0, nil) // nothing was seen yet
		l.saw(7)
		l.saw(5)
		check("b", 0, 0, nil)
		check("c", 7, 1, nil)
		check("c", 7, 0, nil)
		for range 10 {
			check("a", 6, 1, errBehind)
			time.Sleep(behindMost / 11)
		}
		check("c", 6, 0, nil) // the first one again
		time.Sleep(behindMost)
		check("a", 6, 1, errBehind)
		time.Sleep(behindMost - 1)
		check("a", 6, 1, errBehind)
		time.Sleep(time.Nanosecond)
		check("a", 6, 1, nil) // as from a backup
		check("b", 6, 1, nil)
		check("a", 5, 1, errBehind)
		check("a", 7, 1, nil)
		failed := errors.New("no answer")
		if _, err := l.check("b", func() (uint64, error) { return 0, failed }); err != failed {
			t.Error(err)
		}
		check("b", 7, 1, nil)
	})
}
