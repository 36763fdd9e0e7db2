package waiting

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

func TestCountdownLine(t *testing.T) {
	due := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		left, whole time.Duration
		width       int
		want        string
	}{
		{5 * time.Second, 10 * time.Second, 60, "00:05  #############..............  Mon 23 Nov 09:00:00 UTC"},
		{4001 * time.Millisecond, 10 * time.Second, 40, "00:05  #############.........  09:00:00"},
		{90 * time.Minute, 3 * time.Hour, 30, "01:30:00  ####.....  09:00:00"},
		{90 * time.Minute, 3 * time.Hour, 20, "01:30:00"},
		{90 * time.Minute, 3 * time.Hour, 6, "01:3…"},
		{1234 * time.Millisecond, 2 * time.Second, 0, ""},
		{1234 * time.Millisecond, 2 * time.Second, 10, " 1.3s"},
		{50 * time.Hour, 100 * time.Hour, 15, "2d 02:00:00"},
		{59*time.Minute + 59*time.Second + 1, 2 * time.Hour, 10, "01:00:00"},
	} {
		c := countdown{whole: tt.whole, due: due, plain: true, narrow: true}
		if got := c.line(tt.left, tt.width); got != tt.want {
			t.Errorf("%v of %v in %d columns: %q, want %q", tt.left, tt.whole, tt.width, got, tt.want)
		}
	}
	// Every width holds, with colours and letters beyond ASCII not counted as columns.
	for width := range 200 {
		c := countdown{whole: time.Hour, due: due}
		line := c.line(time.Minute, width)
		for _, code := range []string{"\x1b[36m", "\x1b[0;2m", "\x1b[0m"} {
			line = strings.ReplaceAll(line, code, "")
		}
		if n := len([]rune(line)); n > max(0, width-1) {
			t.Errorf("%d columns in a terminal of %d", n, width)
		}
	}
}

// TestCountdownLeavesNoTrace runs a countdown through a wait of ten seconds and one that is cut short.
func TestCountdownLeavesNoTrace(t *testing.T) {
	for _, cut := range []time.Duration{time.Hour, 3500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			end := time.Now().Add(10 * time.Second)
			c := countdown{
				out: &out, clock: clocktest.Bubble{}, width: func() int { return 40 },
				ours: func() bool { return true }, left: func() time.Duration { return time.Until(end) },
				whole: 10 * time.Second, due: end, plain: true, narrow: true,
			}
			ctx, cancel := context.WithTimeout(t.Context(), cut)
			defer cancel()
			c.run(ctx)
			lines := strings.Split(out.String(), view.EraseBelow)
			// Nothing before the first piece, a line for each begun second, and nothing after the last.
			want := 1 + int((min(cut, 10*time.Second)+time.Second-1)/time.Second) + 1
			if len(lines) != want || lines[0] != "" || lines[len(lines)-1] != "" {
				t.Errorf("%d pieces, want %d: %q", len(lines), want, lines)
			}
			for i, l := range lines[1 : len(lines)-1] {
				if want := fmt.Sprintf("00:%02d  ", 10-i); !strings.HasPrefix(l, want) || !strings.HasSuffix(l, "\r") {
					t.Errorf("line %d is %q, want %q", i, l, want)
				}
			}
		})
	}
}

func TestCountdownInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		end := time.Now().Add(5 * time.Second)
		c := countdown{
			out: &out, clock: clocktest.Bubble{}, width: func() int { return 40 }, ours: func() bool { return false },
			left: func() time.Duration { return time.Until(end) }, whole: 5 * time.Second, due: end,
		}
		c.run(t.Context())
		if out.Len() > 0 {
			t.Errorf("drew on somebody else's line: %q", out.String())
		}
	})
}
