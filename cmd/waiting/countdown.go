package waiting

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// countdown is a line of a terminal that shows what is left of a wait, or big digits with such a
// line below. It is drawn anew each second. It decides nothing: the wait ends by its own clock,
// whatever the terminal does. The cursor stays visible at the start of the first line, so nothing
// has to be restored: a terminal that gets narrower wraps only what stands after the cursor, and
// the next output replaces it.
type countdown struct {
	out        io.Writer
	clock      clock.Clock
	size       func() (width, height int) // called before each drawing, because it may change
	foreground func() bool                // whether the call may draw: not as a background job
	progress   *progress
	left       func(due time.Time) time.Duration
	total      time.Duration // the whole time of the wait
	zone       *time.Location
	keys       bool   // space pauses and resumes the wait
	name       string // what is waited for, made safe for a terminal; may be empty
	big        bool   // draw digits, as large as there is room for
	paint      cli.Paint
	ascii      bool // draw only ASCII
	times      cli.Locale
}

// countDown starts to draw. stop erases what was drawn, and may be called more than once. It does
// not wait long for a terminal that accepts no output.
func (o *waitOptions) countDown(s *cli.Call, along *progress, total time.Duration, keys bool) (stop func()) {
	c := countdown{
		out: s.Err, clock: s.Clock, progress: along, total: total, zone: o.zone, keys: keys,
		name: cli.Visible(o.label()), big: o.big,
		size: func() (width, height int) {
			width, _ = cli.TerminalWidth(s.Err, s.Getenv)
			height, _ = cli.TerminalHeight(s.Err, s.Getenv)
			return width, height
		},
		left:       func(due time.Time) time.Duration { return -o.late(s.Clock, due) },
		foreground: func() bool { return cli.Foreground(s.Err) },
		paint:      cli.PaintOn(s.Err, s.Getenv),
		ascii:      !view.UsesUTF8(s.Getenv),
		times:      cli.LocaleOn(context.Background(), s.Err, s.Getenv),
	}
	return view.DrawBeside(c.run)
}

// run draws until the time has come or ctx ends, and then erases what it drew.
func (c countdown) run(ctx context.Context) {
	drawn := false
	for ctx.Err() == nil {
		due, left, held, changed := c.progress.state()
		if !held {
			left = c.left(due)
		}
		if left <= 0 && !held {
			break
		}
		if c.foreground() {
			fmt.Fprint(c.out, c.drawing(frame{left, due.In(c.zone), held}))
			drawn = true
		}
		pause := c.pause(left)
		if held {
			pause = time.Second // redraw for a window whose size changed
		}
		lap, over := untilChanged(ctx, changed)
		_ = c.clock.For(lap, pause)
		over()
	}
	if drawn && c.foreground() {
		fmt.Fprint(c.out, view.EraseBelow)
	}
}

// unit is the unit of the countdown: seconds, or tenths of a second in a short wait.
func (c countdown) unit() time.Duration {
	if c.total < 10*time.Second {
		return 100 * time.Millisecond
	}
	return time.Second
}

// pause returns how long a drawing is right: until the rest is a whole number of units. It follows
// from the rest, so that delays do not add up.
func (c countdown) pause(left time.Duration) time.Duration {
	if part := left % c.unit(); part > 0 {
		return part
	}
	return c.unit()
}

// frame is what one drawing shows: how much is left, and until when unless the wait is paused.
type frame struct {
	left time.Duration
	due  time.Time
	held bool
}

// drawing returns the text that is sent to the terminal for a frame.
func (c countdown) drawing(at frame) string {
	width, height := c.size()
	if c.big {
		if lines := c.large(at, width, height); lines != nil {
			return view.Frame(lines, width)
		}
	}
	return view.EraseBelow + c.line(at, width) + "\r"
}

// line returns the countdown in fewer than width columns: the name, the rest, a bar and the
// instant. What does not fit is left out.
func (c countdown) line(at frame, width int) string {
	space := width - 1 // the last column stays free: some terminals wrap when it is written
	remains := c.remains(at.left)
	heads := []string{remains + "  "}
	if c.name != "" {
		heads = []string{cli.Fit(c.name, 30) + "  " + heads[0],
			cli.Fit(c.name, max(space/4, 8)) + "  " + heads[0], heads[0]}
	}
	for _, head := range heads {
		if line, ok := c.row(head, at, space); ok {
			return line
		}
	}
	if at.held {
		remains += "  paused"
	}
	return cli.Fit(remains, space)
}

// row returns a line of a head, a bar and the instant, and what the space bar does if that fits. It
// returns false when the others do not fit.
func (c countdown) row(head string, at frame, space int) (string, bool) {
	const minBar, goodBar, maxBar = 8, 16, 40 // columns
	tails := []string{c.times.Format(at.due, "Mon 2 Jan 15:04:05 MST"), c.times.Format(at.due, "15:04:05")}
	keys := "  space pauses"
	if at.held {
		tails, keys = []string{"paused"}, "  space resumes"
	}
	for _, tail := range tails {
		bar := space - cli.Columns(head) - 2 - cli.Columns(tail)
		if bar < minBar {
			continue
		}
		if c.keys && (bar-len(keys) >= goodBar || at.held && bar-len(keys) >= minBar) {
			bar -= len(keys)
			tail += c.paint.As(cli.Minor, keys)
		}
		return head + c.bar(at.left, min(bar, maxBar)) + "  " + tail, true
	}
	return "", false
}

// remains returns how much is left, rounded up to a unit: 2d 03:04:05, 03:04:05, 04:05, 5.3s.
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
	case c.total >= time.Hour:
		return fmt.Sprintf("%02d:%02d:%02d", h, m, s)
	}
	return fmt.Sprintf("%02d:%02d", m, s)
}

// bar returns a bar of size columns. It is full when nothing is left.
func (c countdown) bar(left time.Duration, size int) string {
	full := 0
	if c.total > 0 {
		full = int(float64(size) * (1 - float64(left)/float64(c.total)))
	}
	full = max(0, min(full, size))
	on, off := "━", "─"
	if c.ascii {
		on, off = "#", "."
	}
	return c.paint.As(cli.Going, strings.Repeat(on, full)) + c.paint.As(cli.Minor, strings.Repeat(off, size-full))
}
