package health

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// names makes targets for tests that replace the probe.
func names(texts ...string) []Target {
	targets := make([]Target, len(texts))
	for i, text := range texts {
		targets[i].text = text
	}
	return targets
}

var (
	errDown  = &fault{Cause: Cause{Kind: Refused}}
	errNever = &fault{Cause: Cause{Kind: Status, Number: 401}, permanent: true, answered: true}
)

// after is a probe that fails with err until the given age of the bubble's clock.
func after(up time.Duration, err error) func(context.Context, Target) error {
	start := time.Now()
	return func(context.Context, Target) error {
		if time.Since(start) >= up {
			return nil
		}
		return err
	}
}

func TestPaceIsEagerThenBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts []time.Duration
		start := time.Now()
		r := Wait(t.Context(), names("db"), Options{
			Timeout: time.Minute,
			random:  func() float64 { return 0 },
			probe: func(context.Context, Target) error {
				starts = append(starts, time.Since(start))
				return errDown
			},
		})
		early := slices.IndexFunc(starts, func(d time.Duration) bool { return d > earlyFor })
		for i, at := range starts[:early] {
			if at != time.Duration(i)*earlyGap {
				t.Fatalf("attempt %d at %v", i+1, at)
			}
		}
		want, last := earlyGap, starts[len(starts)-1]
		if last != time.Minute-lastAttempt {
			t.Errorf("the last attempt was at %v", last)
		}
		for i, at := range starts[early : len(starts)-1] {
			want = min(time.Duration(float64(want)*growth), DefaultInterval)
			if gap := at - starts[early+i-1]; gap != want {
				t.Errorf("gap before %v is %v, want %v", at, gap, want)
			}
		}
		if early != 101 || r.Attempts != len(starts) || len(starts) != 131 {
			t.Errorf("%d attempts in the first 10 s, %d in all, reported %d", early, len(starts), r.Attempts)
		}
		if r.Waited != time.Minute || r.Reason != TimedOut || r.Targets[0].Last.String() != "connection refused" {
			t.Errorf("result %+v", r)
		}
	})
}

func TestPaceKeepsBounds(t *testing.T) {
	for _, random := range []float64{0, 0.5, 0.999} {
		p := pace{longest: DefaultInterval, random: func() float64 { return random }}
		for range 100 {
			if gap := p.after(time.Minute, 0); gap > DefaultInterval || gap < earlyGap {
				t.Fatalf("gap %v", gap)
			}
		}
		if gap, least := p.after(time.Minute, 0), time.Duration(float64(DefaultInterval)*(1-jitter)); gap < least {
			t.Errorf("gap %v in the end, want at least %v", gap, least)
		}
	}
	p := pace{longest: 20 * time.Millisecond, random: func() float64 { return 0 }}
	for _, age := range []time.Duration{0, time.Minute} {
		if gap := p.after(age, 0); gap != 20*time.Millisecond {
			t.Errorf("gap %v at age %v with an interval of 20ms", gap, age)
		}
	}
	p = pace{longest: DefaultInterval}
	if gap := p.after(0, 30*time.Millisecond); gap != 70*time.Millisecond {
		t.Errorf("gap %v after an attempt of 30ms: starts are to be 100ms apart", gap)
	}
	if gap := p.after(0, 3*time.Second); gap != earlyGap/2 {
		t.Errorf("gap %v after a slow attempt", gap)
	}
}

func TestHealthyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := Wait(t.Context(), names("db"), Options{probe: after(0, errDown)})
		if !r.Healthy || r.Attempts != 1 || r.Waited != 0 || r.Reason != "" {
			t.Errorf("result %+v", r)
		}
	})
}

func TestLatencyIsOfTheLastAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		r := Wait(t.Context(), names("db"), Options{probe: func(context.Context, Target) error {
			if calls++; calls == 1 {
				return errDown
			}
			time.Sleep(30 * time.Millisecond)
			return nil
		}})
		if got := r.Targets[0]; got.Latency != 30*time.Millisecond || got.Last.String() != "" || r.Waited != 130*time.Millisecond {
			t.Errorf("result %+v", r)
		}
	})
}

func TestAllAndAny(t *testing.T) {
	probes := map[string]struct {
		up  time.Duration
		err error
	}{
		"now": {0, nil}, "soon": {time.Second, errDown}, "late": {3 * time.Second, errDown},
		"never": {time.Hour, errDown}, "locked": {time.Hour, errNever},
	}
	for _, test := range []struct {
		name    string
		targets []string
		any     bool
		keep    bool
		reason  Reason
		waited  time.Duration
		healthy string // one letter for each target
	}{
		{"all wait for the last", []string{"now", "late", "soon"}, false, false, "", 3 * time.Second, "yyy"},
		{"any ends with the first", []string{"late", "soon", "never"}, true, false, "", time.Second, "nyn"},
		{"all and one never", []string{"soon", "never"}, false, false, TimedOut, 5 * time.Second, "yn"},
		{"any and none", []string{"never", "never"}, true, false, TimedOut, 5 * time.Second, "nn"},
		{"all and one locked", []string{"late", "locked"}, false, false, Permanent, 0, "nn"},
		{"any and one locked", []string{"locked", "soon"}, true, false, "", time.Second, "ny"},
		{"any and all locked", []string{"locked", "locked"}, true, false, Permanent, 0, "nn"},
		{"any, one locked, one never", []string{"locked", "never"}, true, false, TimedOut, 5 * time.Second, "nn"},
		{"locked and patient", []string{"locked"}, false, true, TimedOut, 5 * time.Second, "n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				r := Wait(t.Context(), names(test.targets...), Options{
					Timeout: 5 * time.Second, Any: test.any, KeepTrying: test.keep,
					probe: func(_ context.Context, target Target) error {
						if p := probes[target.String()]; time.Since(start) < p.up {
							return p.err
						}
						return nil
					},
				})
				var healthy string
				sum := 0
				for _, target := range r.Targets {
					healthy += map[bool]string{true: "y", false: "n"}[target.Healthy]
					sum += target.Attempts
				}
				if r.Reason != test.reason || r.Healthy != (test.reason == "") || r.Waited != test.waited || healthy != test.healthy {
					t.Errorf("got %q after %v, targets %s, want %q after %v, targets %s",
						r.Reason, r.Waited, healthy, test.reason, test.waited, test.healthy)
				}
				if r.Attempts != sum {
					t.Errorf("%d attempts, but the targets' sum is %d", r.Attempts, sum)
				}
			})
		})
	}
}

func TestTimeOutHoldsAgainstAStuckProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := Wait(t.Context(), names("disk"), Options{
			Timeout: time.Second,
			probe:   func(context.Context, Target) error { <-release; return nil },
		})
		close(release)
		if r.Waited > 1100*time.Millisecond || r.Healthy || r.Reason != TimedOut || r.Attempts != 1 {
			t.Errorf("result %+v", r)
		}
		if !strings.HasPrefix(r.Targets[0].Last.String(), "no answer within 1") {
			t.Errorf("last error %q", r.Targets[0].Last.String())
		}
	})
}

// hang is a peer that says nothing.
func hang(ctx context.Context, _ Target) error {
	<-ctx.Done()
	return explain(ctx.Err(), answering)
}

func TestAttemptsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			timeout, attempt time.Duration
			attempts         int
			last             string
		}{
			{12 * time.Second, 0, 3, "no answer within 5s"}, // the third is cut short and says nothing
			{2900 * time.Millisecond, 0, 1, "no answer within 2.9s"},
			{time.Second, 250 * time.Millisecond, 4, "no answer within 250ms"},
		} {
			o := Options{Timeout: test.timeout, Attempt: test.attempt, probe: hang}
			r := Wait(t.Context(), names("web"), o)
			if r.Waited != test.timeout || r.Attempts != test.attempts || r.Targets[0].Last.String() != test.last {
				t.Errorf("%+v: result %+v", test, r)
			}
		}
	})
}

func TestNoAttemptBeginsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 { // two timers end at the same instant; either may be first
			r := Wait(t.Context(), names("db"), Options{Timeout: earlyGap, probe: func(ctx context.Context, _ Target) error {
				if over(ctx) {
					return explain(context.DeadlineExceeded, connecting)
				}
				return errDown
			}})
			if r.Attempts != 1 || r.Targets[0].Last.String() != "connection refused" {
				t.Fatalf("result %+v", r)
			}
		}
	})
}

func TestCancelledIsNotATimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		r := Wait(ctx, names("web"), Options{probe: hang})
		if r.Reason != Cancelled || r.Waited != time.Second || r.Targets[0].Last.String() != "" {
			t.Errorf("result %+v", r)
		}
		if r = Wait(ctx, names("web"), Options{probe: after(0, nil)}); r.Reason != Cancelled || r.Attempts != 0 {
			t.Errorf("already cancelled: %+v", r)
		}
	})
}

func TestObserveSeesEveryWholeAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		Wait(t.Context(), names("db"), Options{
			probe:   after(200*time.Millisecond, errDown),
			Observe: func(i int, r TargetResult) { seen = append(seen, r.Target+" "+r.Last.String()) },
		})
		want := []string{"db connection refused", "db connection refused", "db "}
		if !slices.Equal(seen, want) {
			t.Errorf("seen %q, want %q", seen, want)
		}
	})
}

func TestRetryAfterIsHonoured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &fault{Cause: Cause{Kind: Status, Number: 503}, answered: true, retryAfter: 4 * time.Second}
		r := Wait(t.Context(), names("web"), Options{probe: after(time.Second, busy)})
		if r.Attempts != 2 || r.Waited != 4*time.Second {
			t.Errorf("result %+v", r)
		}
		if r = Wait(t.Context(), names("web"), Options{Timeout: time.Second, probe: after(time.Hour, busy)}); r.Waited != time.Second {
			t.Errorf("it outlived the time-out: %+v", r)
		}
	})
}

// TestLastLook: a service that came back while nobody was to look is found before the time is up.
func TestLastLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, took := range []time.Duration{0, 300 * time.Millisecond} {
			start := time.Now()
			var asked []time.Duration
			r := Wait(t.Context(), names("web"), Options{Timeout: 10 * time.Second, probe: func(context.Context, Target) error {
				asked = append(asked, time.Since(start))
				time.Sleep(took)
				if time.Since(start) > 5*time.Second {
					return nil
				}
				return &fault{Cause: Cause{Kind: Status, Number: 503}, answered: true, retryAfter: 20 * time.Second}
			}})
			if want := []time.Duration{0, 10*time.Second - took - lastAttempt}; !r.Healthy || !slices.Equal(asked, want) {
				t.Errorf("asked at %v, want %v: %+v", asked, want, r)
			}
		}
		// One that stays down is bothered once more, not all the time.
		busy := &fault{Cause: Cause{Kind: Status, Number: 503}, answered: true, retryAfter: 20 * time.Second}
		if r := Wait(t.Context(), names("web"), Options{Timeout: 10 * time.Second, probe: after(time.Hour, busy)}); r.Attempts != 2 {
			t.Errorf("got %+v", r)
		}
	})
}

func TestRace(t *testing.T) {
	v6, v4, third := netip.IPv6Loopback(), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	addrs := []netip.Addr{v6, v4, third}
	type peer struct {
		connect, answer time.Duration
		err             error
	}
	dead := peer{connect: time.Hour}
	for _, test := range []struct {
		name  string
		peers map[netip.Addr]peer
		tried int
		took  time.Duration
		err   string
	}{
		{"a quick first one gets no company", map[netip.Addr]peer{v6: {}}, 1, 0, ""},
		{"the next after a refusal", map[netip.Addr]peer{v6: {err: errDown}, v4: {}}, 2, 0, ""},
		{"the next beside one that does not connect", map[netip.Addr]peer{v6: dead, v4: {}}, 2, slowConnect, ""},
		{"the next beside one that is silent", map[netip.Addr]peer{v6: {answer: time.Hour}, v4: {}}, 2, slowAnswer, ""},
		{"a slow first one still wins", map[netip.Addr]peer{v6: {answer: 2 * time.Second}, v4: dead, third: dead}, 3, 2 * time.Second, ""},
		{"an answer settles it", map[netip.Addr]peer{v6: {err: errNever}, v4: {}}, 1, 0, "HTTP 401"},
		{"two dead ones", map[netip.Addr]peer{v6: dead, v4: dead, third: {}}, 3, 2 * slowConnect, ""},
		{"all fail: the most telling", map[netip.Addr]peer{
			v6: {err: &fault{Cause: newCause(Unreachable, "network unreachable"), rank: unreachable}}, v4: {err: &fault{Cause: Cause{Kind: Refused}, rank: refused}},
			third: {err: &fault{Cause: newCause(Unreachable, "host unreachable"), rank: unreachable}},
		}, 3, 0, "connection refused"},
		{"none connects", map[netip.Addr]peer{v6: dead, v4: dead, third: dead}, 3, 5 * time.Second, "no connection"},
		{"one connects, none answers", map[netip.Addr]peer{v6: dead, v4: {answer: time.Hour}, third: dead}, 3, 5 * time.Second, "no answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				sleep := func(ctx context.Context, d time.Duration) {
					select {
					case <-ctx.Done():
					case <-time.After(d):
					}
				}
				tried := make(chan netip.Addr, 10)
				start := time.Now()
				err := race(ctx, addrs, func(ctx context.Context, addr netip.Addr, at *progress) error {
					tried <- addr
					p := test.peers[addr]
					sleep(ctx, p.connect)
					if ctx.Err() == nil {
						at.reach(answering)
						sleep(ctx, p.answer)
					}
					return errors.Join(ctx.Err(), p.err)
				})
				took := time.Since(start)
				synctest.Wait()
				if len(tried) != test.tried || took != test.took {
					t.Errorf("tried %d in %v, want %d in %v", len(tried), took, test.tried, test.took)
				}
				if got := text(err); got != test.err {
					t.Errorf("fault %q, want %q", got, test.err)
				}
			})
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestAddressFamiliesTakeTurns(t *testing.T) {
	parse := func(texts ...string) (addrs []netip.Addr) {
		for _, text := range texts {
			addrs = append(addrs, netip.MustParseAddr(text))
		}
		return addrs
	}
	got := alternate(parse("2001:db8::1", "2001:db8::2", "2001:db8::3", "::ffff:192.0.2.1", "192.0.2.2"))
	want := parse("2001:db8::1", "192.0.2.1", "2001:db8::2", "192.0.2.2", "2001:db8::3")
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		5 * time.Second: "5s", 4999 * time.Millisecond: "5s", 2900 * time.Millisecond: "2.9s", 250 * time.Millisecond: "250ms",
		time.Microsecond: "1ms", 2 * time.Minute: "2m", 90 * time.Second: "1m30s", 3 * time.Hour: "3h",
	} {
		if got := short(d); got != want {
			t.Errorf("short(%v) = %q, want %q", d, got, want)
		}
	}
}
