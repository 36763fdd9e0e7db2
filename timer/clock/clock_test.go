package clock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
)

func TestNowHasNoMonotonicPart(t *testing.T) {
	for _, c := range []clock.Clock{clock.System, clock.Awake} {
		if now := c.Now(); now != now.Round(0) {
			t.Errorf("%v has a monotonic part", now)
		}
	}
}

// TestNeverEarly is for what a machine must not do even once, so it asks often. It says nothing about lateness.
func TestNeverEarly(t *testing.T) { neverEarly(t, 400) }

func neverEarly(t *testing.T, waits int) {
	ctx := t.Context()
	for i := range waits {
		d := time.Duration(i%40)*37*time.Microsecond + time.Duration(i)
		target := clock.System.Now().Add(d)
		if err := clock.System.Until(ctx, target); err != nil {
			t.Fatal(err)
		}
		if now := clock.System.Now(); now.Before(target) {
			t.Fatalf("%v ended %v early", d, target.Sub(now))
		}
		start := clock.System.Boot()
		if err := clock.System.For(ctx, d); err != nil {
			t.Fatal(err)
		}
		if took := clock.System.Boot() - start; took < d {
			t.Fatalf("%v took %v", d, took)
		}
		began := time.Now()
		if err := clock.Awake.For(ctx, d); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < d {
			t.Fatalf("%v awake took %v", d, took)
		}
	}
}

func TestManyWaitAtOnce(t *testing.T) {
	const waits = 500
	target := clock.System.Now().Add(30 * time.Millisecond)
	early := make(chan error, waits)
	for range waits {
		go func() {
			err := clock.System.Until(t.Context(), target)
			if now := clock.System.Now(); err == nil && now.Before(target) {
				err = fmt.Errorf("ended %v early", target.Sub(now))
			}
			early <- err
		}()
	}
	for range waits {
		if err := <-early; err != nil {
			t.Fatal(err)
		}
	}
}

// waits are the ways to wait for d from now.
var waits = map[string]func(ctx context.Context, d time.Duration) error{
	"Until": func(ctx context.Context, d time.Duration) error {
		return clock.System.Until(ctx, clock.System.Now().Add(d))
	},
	"UntilBoot": func(ctx context.Context, d time.Duration) error {
		return clock.System.UntilBoot(ctx, clock.System.Boot()+d)
	},
	"For":       clock.System.For,
	"Awake.For": clock.Awake.For,
}

func TestPastIsOverAtOnce(t *testing.T) { pastIsOverAtOnce(t) }

func pastIsOverAtOnce(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, wait := range waits {
		for _, d := range []time.Duration{0, -1, -time.Hour, -200 * 365 * 24 * time.Hour} {
			if err := wait(t.Context(), d); err != nil {
				t.Errorf("%s %v: %v", name, d, err)
			}
			if err := wait(ended, d); err != context.Canceled {
				t.Errorf("%s %v with a context that has ended: %v, want %v", name, d, err, context.Canceled)
			}
		}
	}
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		if err := clock.System.Until(t.Context(), at); err != nil {
			t.Errorf("until %v: %v", at, err)
		}
	}
}

// TestFarFutureEndsWithItsContext: instants beyond what a kernel can count to are waited for like others.
func TestFarFutureEndsWithItsContext(t *testing.T) { farFuture(t) }

// farFuture tries it again when it took long, for the machine may be busy: waits that nap would take as long each time.
func farFuture(t *testing.T) {
	const nap = 900 * time.Millisecond // a nap is longer
	var took time.Duration
	for range 5 {
		if took = cancelled(t); took < nap {
			return
		}
	}
	t.Errorf("cancelling took %v", took)
}

// cancelled cancels waits of all kinds for what is far away, and says how long that took.
func cancelled(t *testing.T) time.Duration {
	type wait struct {
		name string
		run  func(ctx context.Context) error
	}
	var all []wait
	for name, w := range waits {
		for _, d := range []time.Duration{time.Hour, 400 * 24 * time.Hour, 1<<63 - 1} {
			all = append(all, wait{fmt.Sprint(name, " ", d), func(ctx context.Context) error { return w(ctx, d) }})
		}
	}
	for _, at := range []time.Time{
		time.Date(2262, 4, 12, 0, 0, 0, 0, time.UTC), // beyond 2^63 ns
		time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
		time.Unix(1<<55, 0),
	} {
		all = append(all, wait{fmt.Sprint("until ", at), func(ctx context.Context) error {
			return clock.System.Until(ctx, at)
		}})
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	over := make(chan string, len(all))
	for _, w := range all {
		go func() {
			if err := w.run(ctx); err != context.Canceled {
				over <- fmt.Sprintf("%s: %v, want %v", w.name, err, context.Canceled)
				return
			}
			over <- ""
		}()
	}
	select {
	case early := <-over:
		t.Fatalf("a wait was over before its time: %s", early)
	case <-time.After(50 * time.Millisecond): // a wait that ends wrongly ends at once
	}
	began := time.Now()
	cancel(cause)
	for range all {
		if wrong := <-over; wrong != "" {
			t.Error(wrong)
		}
	}
	return time.Since(began)
}

func TestDeadlineEndsWait(t *testing.T) {
	for name, wait := range waits {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		if err := wait(ctx, time.Hour); err != context.DeadlineExceeded {
			t.Errorf("%s: %v, want %v", name, err, context.DeadlineExceeded)
		}
		cancel()
	}
}

// BenchmarkLateness reports how late waits of 2 ms end, beside time.Sleep.
func BenchmarkLateness(b *testing.B) {
	const d = 2 * time.Millisecond
	ways := []struct {
		name string
		wait func() error
	}{
		{"Until", func() error { return waits["Until"](b.Context(), d) }},
		{"For", func() error { return waits["For"](b.Context(), d) }},
		{"Sleep", func() error { time.Sleep(d); return nil }},
	}
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			var late []time.Duration
			for b.Loop() {
				start := time.Now()
				if err := way.wait(); err != nil {
					b.Fatal(err)
				}
				late = append(late, time.Since(start)-d)
			}
			slices.Sort(late)
			b.ReportMetric(float64(late[len(late)/2].Microseconds()), "p50-µs-late")
			b.ReportMetric(float64(late[len(late)*99/100].Microseconds()), "p99-µs-late")
		})
	}
}
