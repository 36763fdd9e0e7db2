package waiting

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// countdown is one line of a terminal that shows what is left of a wait, drawn anew each second. It decides nothing: the
// wait beside it ends by its own clock, whatever the terminal does. The cursor stays visible, at the start of the line,
// so that there is nothing to restore, a terminal made narrower wraps the line behind it, and whatever is printed next
// replaces it.
type countdown struct {
	out    io.Writer
	clock  clock.Clock
	width  func() int  // columns, asked before each drawing: the window may have been resized
	ours   func() bool // the terminal is ours to draw on; not while a job in the background
	left   func() time.Duration
	whole  time.Duration // of which left is a part
	due    time.Time     // in the zone to show it in
	plain  bool          // no colour
	narrow bool          // no letters but ASCII
}

// countDown starts to draw. stop erases the line and may be called again; it never waits long for a terminal that takes
// nothing.
func countDown(s *cli.Call, left func() time.Duration, whole time.Duration, due time.Time) (stop func()) {
	c := countdown{
		out: s.Err, clock: s.Clock, left: left, whole: whole, due: due,
		width: func() int {
			n, _ := cli.TerminalWidth(s.Err, s.Getenv)
			return n
		},
		ours:   func() bool { return cli.Foreground(s.Err) },
		plain:  !bool(cli.PaintOn(s.Err, s.Getenv)),
		narrow: !view.SpeaksUTF8(s.Getenv),
	}
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		c.run(ctx)
		close(gone)
	}()
	return func() {
		cancel()
		select {
		case <-gone:
		case <-time.After(200 * time.Millisecond): // a terminal held by Ctrl-S must not hold what waits for us
		}
	}
}

// run draws until the time has come or ctx ends, and leaves no trace.
func (c countdown) run(ctx context.Context) {
	drawn := false
	for ctx.Err() == nil {
		left := c.left()
		if left <= 0 {
			break
		}
		if c.ours() {
			fmt.Fprint(c.out, view.EraseBelow+c.line(left, c.width())+"\r")
			drawn = true
		}
		if c.clock.For(ctx, c.pause(left)) != nil {
			break
		}
	}
	if drawn && c.ours() {
		fmt.Fprint(c.out, view.EraseBelow)
	}
}

// unit is what is counted down: seconds, or tenths of them in a short wait.
func (c countdown) unit() time.Duration {
	if c.whole < 10*time.Second {
		return 100 * time.Millisecond
	}
	return time.Second
}

// pause is how long the line is true: until what is left is a whole unit. It is taken from what is left, so that
// lateness does not add up.
func (c countdown) pause(left time.Duration) time.Duration {
	if part := left % c.unit(); part > 0 {
		return part
	}
	return c.unit()
}

// line is the countdown in fewer than width columns: what is left, a bar and the instant, and of these what there is
// room for.
func (c countdown) line(left time.Duration, width int) string {
	const least, most = 8, 40
	room := width - 1 // the last column stays free: some terminals wrap when it is written
	remains := c.remains(left)
	for _, due := range []string{c.due.Format("Mon 2 Jan 15:04:05 MST"), c.due.Format("15:04:05")} {
		if bar := room - len(remains) - 2 - 2 - utf8.RuneCountInString(due); bar >= least {
			return remains + "  " + c.bar(left, min(bar, most)) + "  " + due
		}
	}
	return cli.Fit(remains, room)
}

// remains writes what is left, a begun unit in full: 2d 03:04:05, 03:04:05, 04:05, 5.3s.
func (c countdown) remains(left time.Duration) string {
	unit := c.unit()
	left = (left + unit - 1).Truncate(unit)
	if unit < time.Second {
		return fmt.Sprintf("%4.1fs", left.Seconds())
	}
	n := int64(left / time.Second)
	days, h, m, s := n/86400, n/3600%24, n/60%60, n%60
	switch {
	case days > 0:
		return fmt.Sprintf("%dd %02d:%02d:%02d", days, h, m, s)
	case c.whole >= time.Hour:
		return fmt.Sprintf("%02d:%02d:%02d", h, m, s)
	}
	return fmt.Sprintf("%02d:%02d", m, s)
}

// bar is size columns, full when nothing is left.
func (c countdown) bar(left time.Duration, size int) string {
	full := 0
	if c.whole > 0 {
		full = int(float64(size) * (1 - float64(left)/float64(c.whole)))
	}
	full = max(0, min(full, size))
	on, off := "━", "─"
	if c.narrow {
		on, off = "#", "."
	}
	on, off = strings.Repeat(on, full), strings.Repeat(off, size-full)
	if c.plain {
		return on + off
	}
	return "\x1b[36m" + on + "\x1b[0;2m" + off + "\x1b[0m"
}
