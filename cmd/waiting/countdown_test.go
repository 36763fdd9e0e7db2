package waiting

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

func TestCountdownLine(t *testing.T) {
	due := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		left, total time.Duration
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
		c := countdown{total: tt.total, ascii: true}
		if got := c.line(frame{left: tt.left, due: due}, tt.width); got != tt.want {
			t.Errorf("%v of %v in %d columns: %q, want %q", tt.left, tt.total, tt.width, got, tt.want)
		}
	}
	// Every width holds, with colours and letters beyond ASCII not counted as columns.
	for width := range 200 {
		c := countdown{total: time.Hour, paint: true}
		line := c.line(frame{left: time.Minute, due: due}, width)
		for _, code := range []string{"\x1b[36m", "\x1b[2m", "\x1b[m"} {
			line = strings.ReplaceAll(line, code, "")
		}
		if n := len([]rune(line)); n > max(0, width-1) {
			t.Errorf("%d columns in a terminal of %d", n, width)
		}
	}
}

// TestCountdownLeavesNoTrace runs a countdown through a wait of ten seconds and one that is cut
// short.
func TestCountdownLeavesNoTrace(t *testing.T) {
	for _, cut := range []time.Duration{time.Hour, 3500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			end := time.Now().Add(10 * time.Second)
			c := countdown{
				out: &out, clock: clocktest.Bubble{}, size: func() (int, int) { return 40, 20 },
				foreground: func() bool { return true }, left: time.Until, progress: newProgress(end), zone: time.UTC,
				total: 10 * time.Second, ascii: true,
			}
			ctx, cancel := context.WithTimeout(t.Context(), cut)
			defer cancel()
			c.run(ctx)
			lines := strings.Split(out.String(), view.EraseBelow)
			// Nothing before the first piece, a line for each begun second, and nothing after the
			// last.
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

// TestCountdownNames has the name in the line as long as there is room for it, and never more
// columns than the terminal.
func TestCountdownNames(t *testing.T) {
	due := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		name  string
		width int
		want  string
	}{
		{"tea", 80, "tea  00:05  ####################....................  Mon 23 Nov 09:00:00 UTC"},
		{"tea", 60, "tea  00:05  ###########...........  Mon 23 Nov 09:00:00 UTC"},
		{"tea", 40, "tea  00:05  ########.........  09:00:00"},
		{"tea", 20, "00:05"},
		{"漢字 and so on, and on", 40, "漢字 and…  00:05  #####......  09:00:00"},
	} {
		c := countdown{total: 10 * time.Second, ascii: true, name: tt.name}
		at := frame{left: 5 * time.Second, due: due}
		if got := c.line(at, tt.width); got != tt.want {
			t.Errorf("%s in %d columns: %q, want %q", tt.name, tt.width, got, tt.want)
		}
		for width := range 200 {
			if n := cli.Columns(c.line(at, width)); n > max(0, width-1) {
				t.Errorf("%s: %d columns in a terminal of %d", tt.name, n, width)
			}
		}
	}
}

// TestCountdownHeld says that it is, and what the space bar does where there is room for it.
func TestCountdownHeld(t *testing.T) {
	due := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		held  bool
		width int
		want  string
	}{
		{false, 60, "tea  00:05  ###########...........  Mon 23 Nov 09:00:00 UTC"},
		{false, 80, "tea  00:05  ##############..............  Mon 23 Nov 09:00:00 UTC  space pauses"},
		{true, 80, "tea  00:05  ####################....................  paused  space resumes"},
		{true, 60, "tea  00:05  ############............  paused  space resumes"},
		{true, 40, "tea  00:05  #########..........  paused"},
		{true, 20, "00:05  paused"},
	} {
		c := countdown{total: 10 * time.Second, ascii: true, name: "tea", keys: true}
		if got := c.line(frame{5 * time.Second, due, tt.held}, tt.width); got != tt.want {
			t.Errorf("held %v in %d columns: %q, want %q", tt.held, tt.width, got, tt.want)
		}
	}
}

// TestCountdownLarge has the largest digits that there is room for, and none where there is not.
func TestCountdownLarge(t *testing.T) {
	due := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	c := countdown{total: 10 * time.Second, ascii: true, name: "tea"}
	want := []string{
		"tea",
		"",
		"### ###   ### ###",
		"# # # # # # # #  ",
		"# # # #   # # ###",
		"# # # # # # # # #",
		"### ###   ### ###",
		"",
		"###......  09:00:00",
	}
	if got := c.large(frame{left: 6 * time.Second, due: due}, 20, 20); !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, tt := range []struct {
		left          time.Duration
		width, height int
		lines, widest int // 0: none
	}{
		{time.Minute, 60, 24, 9, 34},
		{time.Minute, 80, 24, 14, 68},
		{time.Minute, 200, 50, 19, 102},
		{time.Minute, 200, 15, 14, 68},
		{time.Minute, 200, 10, 9, 40},
		{time.Minute, 200, 9, 0, 0},
		{time.Minute, 20, 24, 9, 18},
		{time.Minute, 15, 24, 0, 0},
		{50 * time.Hour, 60, 24, 9, 59},
		{50 * time.Hour, 80, 24, 9, 74},
	} {
		c.total = max(tt.left, 10*time.Second)
		lines := c.large(frame{left: tt.left, due: due}, tt.width, tt.height)
		widest := 0
		for _, line := range lines {
			widest = max(widest, cli.Columns(line))
		}
		if len(lines) != tt.lines || widest > tt.width-1 || tt.lines > 0 && widest < tt.widest {
			t.Errorf("%v at %d x %d: %d lines of %d columns, want %d of %d", tt.left, tt.width, tt.height, len(lines), widest, tt.lines, tt.widest)
		}
	}
	// Every letter that can be left is one that can be drawn, and is as wide in each row.
	for _, left := range []time.Duration{1234567890 * time.Millisecond, 98 * time.Hour, 3723 * time.Second, 1230 * time.Millisecond, 45 * time.Minute} {
		for _, total := range []time.Duration{left, left + time.Hour} {
			c.total = total
			for _, d := range c.digits(strings.TrimSpace(c.remains(left)), 2, 1) {
				if cli.Columns(d) != cli.Columns(c.digits(strings.TrimSpace(c.remains(left)), 2, 1)[0]) {
					t.Errorf("%v: a row of another width: %q", left, d)
				}
			}
		}
	}
}

func TestCountdownInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		end := time.Now().Add(5 * time.Second)
		c := countdown{
			out: &out, clock: clocktest.Bubble{}, size: func() (int, int) { return 40, 20 }, foreground: func() bool { return false },
			left: time.Until, progress: newProgress(end), zone: time.UTC, total: 5 * time.Second,
		}
		c.run(t.Context())
		if out.Len() > 0 {
			t.Errorf("drew on somebody else's line: %q", out.String())
		}
	})
}
