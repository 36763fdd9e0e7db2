package health

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// flaps is a probe that is healthy from the first instant of each pair until the second.
func flaps(good ...[2]time.Duration) func(context.Context, Target) error {
	start := time.Now()
	return func(context.Context, Target) error {
		age := time.Since(start)
		if slices.ContainsFunc(good, func(g [2]time.Duration) bool { return g[0] <= age && age < g[1] }) {
			return nil
		}
		return errDown
	}
}

func TestProof(t *testing.T) {
	const ms, s, ever = time.Millisecond, time.Second, time.Hour
	for _, test := range []struct {
		name     string
		o        Options
		good     [][2]time.Duration
		waited   time.Duration
		attempts int
		streak   int
		last     string
	}{
		{"one success is the default", Options{}, [][2]time.Duration{{0, ever}}, 0, 1, 1, ""},
		{"three in a row", Options{Successes: 3}, [][2]time.Duration{{0, ever}}, 200 * ms, 3, 3, ""},
		{"a bad one starts anew", Options{Successes: 3}, [][2]time.Duration{{0, 200 * ms}, {300 * ms, ever}}, 500 * ms, 6, 3, ""},
		{"stable", Options{Stable: 10 * s}, [][2]time.Duration{{0, ever}}, 10 * s, 6, 6, ""},
		{"stable for a moment", Options{Stable: 250 * ms}, [][2]time.Duration{{0, ever}}, 250 * ms, 4, 4, ""},
		{"stable for less than the pace", Options{Stable: 30 * ms}, [][2]time.Duration{{0, ever}}, 30 * ms, 2, 2, ""},
		{"a break starts it anew", Options{Stable: 2 * s}, [][2]time.Duration{{0, s}, {1500 * ms, ever}}, 3500 * ms, 12, 5, ""},
		{"both", Options{Successes: 5, Stable: 3 * s}, [][2]time.Duration{{0, ever}}, 3 * s, 9, 9, ""},
		{"both, many successes", Options{Successes: 20, Stable: 450 * ms}, [][2]time.Duration{{0, ever}}, 1850 * ms, 20, 20, ""},
		{"no time to be stable", Options{Stable: 10 * s, Timeout: 5 * s}, [][2]time.Duration{{0, ever}}, 5 * s, 3, 3,
			"healthy for 4s of 10s"},
		{"no time for many", Options{Successes: 5, Timeout: 250 * ms}, [][2]time.Duration{{0, ever}}, 250 * ms, 3, 3,
			"healthy 3 of 5 times in a row"},
		{"the last word is a bad answer", Options{Successes: 5, Timeout: 250 * ms}, [][2]time.Duration{{0, 150 * ms}}, 250 * ms, 3, 0,
			"connection refused"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.o.probe = flaps(test.good...)
				r := Wait(t.Context(), names("web"), test.o)
				got := r.Targets[0]
				if r.Waited != test.waited || r.Attempts != test.attempts || got.Streak != test.streak || got.Last.String() != test.last {
					t.Errorf("got %+v", r)
				}
				if r.Healthy != (test.last == "") || r.Healthy == (r.Reason == TimedOut) {
					t.Errorf("healthy %v, %q", r.Healthy, r.Reason)
				}
			})
		})
	}
}

// TestProofIsSoughtEagerly: what comes up late in an outage is not proven at the pace of then.
func TestProofIsSoughtEagerly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts []time.Time
		probe := flaps([2]time.Duration{time.Minute, time.Hour})
		r := Wait(t.Context(), names("web"), Options{Successes: 3, probe: func(ctx context.Context, target Target) error {
			starts = append(starts, time.Now())
			return probe(ctx, target)
		}})
		for n := len(starts) - 2; n < len(starts); n++ {
			if gap := starts[n].Sub(starts[n-1]); gap != earlyGap {
				t.Errorf("attempt %d came after %v", n+1, gap)
			}
		}
		if !r.Healthy || r.Waited < time.Minute {
			t.Errorf("got %+v", r)
		}
	})
}

func TestProofIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		Wait(t.Context(), names("web"), Options{
			Successes: 3, probe: flaps([2]time.Duration{0, 200 * time.Millisecond}, [2]time.Duration{300 * time.Millisecond, time.Hour}),
			Observe: func(_ int, r TargetResult) {
				seen = append(seen, fmt.Sprintf("%d %v %s", r.Streak, r.Healthy, r.Last.String()))
			},
		})
		want := []string{
			"1 false healthy 1 of 3 times in a row", "2 false healthy 2 of 3 times in a row", "0 false connection refused",
			"1 false healthy 1 of 3 times in a row", "2 false healthy 2 of 3 times in a row", "3 true ",
		}
		if !slices.Equal(seen, want) {
			t.Errorf("seen %q", seen)
		}
	})
}

// TestRetryAfterHoldsWhileProving: a server that answers 503 is gone for those who wait for that, and is not to be pestered.
func TestRetryAfterHoldsWhileProving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &fault{Cause: Cause{Kind: Status, Number: 503}, answered: true, retryAfter: 4 * time.Second}
		r := Wait(t.Context(), names("web"), Options{Invert: true, Successes: 3, probe: after(time.Hour, busy)})
		if !r.Healthy || r.Attempts != 3 || r.Waited != 8*time.Second {
			t.Errorf("got %+v", r)
		}
	})
}
