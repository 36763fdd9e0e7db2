package notifier

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPausesBetweenAttempts(t *testing.T) {
	var got []string
	for n := 1; n <= 12; n++ {
		got = append(got, retryPause(n).String())
	}
	want := "10s 30s 1m0s 2m0s 4m0s 8m0s 16m0s 32m0s 1h0m0s 1h0m0s 1h0m0s 1h0m0s"
	if strings.Join(got, " ") != want {
		t.Errorf("%v, not %s", got, want)
	}
}

func TestHowLongItIsTried(t *testing.T) {
	queued := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	asked := func(after time.Duration) error {
		return &SendError{Err: errCut, RetryAfter: after}
	}
	for _, c := range []struct {
		name     string
		after    time.Duration // since it was queued
		attempts int
		err      error
		want     string // when it is tried again, after it was queued
	}{
		{"the first fault", time.Second, 1, errCut, "11s"},
		{"one that lasts", time.Second, 1, &SendError{Err: errCut, Permanent: true}, "never"},
		{"the other side asks for more", time.Second, 1, asked(10 * time.Minute), "10m1s"},
		{"the other side asks for less", time.Second, 3, asked(time.Second), "1m1s"},
		{"the last pause ends with the day", 23*time.Hour + 30*time.Minute, 30, errCut, "24h0m0s"},
		{"the day is over", 24 * time.Hour, 31, errCut, "never"},
		{"the other side asks for more than the day has", 20 * time.Hour, 20, asked(5 * time.Hour), "never"},
		{"the machine was off for days", 72 * time.Hour, 1, errCut, "72h0m10s"},
		{"the machine was off for days, and the other side is busy", 72 * time.Hour, 4, asked(30 * time.Minute), "72h30m0s"},
		{"the machine was off for days, and the network stays away", 72*time.Hour + 5*time.Minute, 5, errCut, "never"},
		{"the machine was off for days, and the other side asks for half a day", 72 * time.Hour, 1, asked(12 * time.Hour), "never"},
	} {
		got := "never"
		if to, again := retryAt(queued, queued.Add(c.after), c.attempts, c.err, TellFor); again {
			got = to.Sub(queued).String()
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
	// From the first attempt on there is an end, a day later at the most.
	now, attempts := queued, 0
	for again := true; again; {
		attempts++
		var to time.Time
		if to, again = retryAt(queued, now, attempts, errCut, TellFor); again {
			if !to.After(now) || to.After(queued.Add(TellFor)) {
				t.Fatalf("after attempt %d at %v: %v", attempts, now, to)
			}
			now = to
		}
	}
	if n := slices.Max([]int{attempts, 0}); n != 32 || !now.Equal(queued.Add(TellFor)) {
		t.Errorf("%d attempts, the last at %v", n, now)
	}
}

// TestGiveUp: the settings say how long, at each attempt, and nothing there is a day.
func TestGiveUp(t *testing.T) {
	queued := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		tellFor  time.Duration
		after    time.Duration
		attempts int
		want     string
	}{
		{"an hour is over", time.Hour, time.Hour, 12, "never"},
		{"the last one of an hour", time.Hour, 50 * time.Minute, 9, "1h0m0s"},
		{"a minute is five attempts", time.Minute, 2 * time.Minute, 4, "4m0s"},
		{"a week", 7 * 24 * time.Hour, 30 * time.Hour, 40, "31h0m0s"},
	} {
		got := "never"
		if at, again := retryAt(queued, queued.Add(c.after), c.attempts, errCut, c.tellFor); again {
			got = at.Sub(queued).String()
		}
		if got != c.want {
			t.Errorf("%s: %s, not %s", c.name, got, c.want)
		}
	}
	span := time.Duration(0)
	o := Options{GiveUp: func() time.Duration { return span }}
	if (Options{}).giveUp() != TellFor || o.giveUp() != TellFor {
		t.Error("without a setting it is not a day")
	}
	if span = time.Hour; o.giveUp() != time.Hour {
		t.Error("the setting is not asked again")
	}
}

// TestShown keeps what may be secret of a URL out of the log, and names the channel as everything else does.
func TestShown(t *testing.T) {
	t.Parallel()
	for channel, want := range map[string]string{
		"ops": "ops", "email:bob@example.org": "email:bob@example.org",
		"http://localhost:18475/hooks/secret": "http://localhost:18475/…", "slack://token@channel": "slack://…",
	} {
		if got := shown(channel); got != want {
			t.Errorf("%s is shown as %s, want %s", channel, got, want)
		}
	}
}
