package view

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// EraseBelow clears the line of the cursor and everything below, because drawn lines may have
// wrapped, and leaves the cursor at the start of the line. It does not clear from the first column
// of the first row, because tmux(1) takes that for clearing the whole screen, and keeps what was
// there in its history.
const EraseBelow = "\r\x1b[C\x1b[J\r\x1b[K"

// ShowsCountdown reports whether waits show a countdown: on a terminal that can move its cursor,
// and without --quiet.
func ShowsCountdown(s *cli.Call, quiet bool) bool {
	kind := s.Getenv("TERM")
	if quiet || s.InJSON || kind == "dumb" || kind == "" && runtime.GOOS != "windows" {
		return false
	}
	_, terminal := cli.TerminalWidth(s.Err, s.Getenv)
	return terminal
}

// UsesUTF8 reports whether the locale uses UTF-8, by the variables in the order of setlocale(3).
func UsesUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// DrawBeside draws in a goroutine beside the wait until stop is called, which may be called again.
func DrawBeside(draw func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		draw(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-done:
		case <-time.After(200 * time.Millisecond):
			// A terminal that Ctrl-S has stopped must not stop the wait.
		}
	}
}

// Frame returns text that draws lines over those drawn before. It leaves the cursor at the start of
// the first line, so that the lines move along when the window is resized, and the next output
// replaces them. Each line clears what is left of the one before it, and the last clears everything
// below. Wrapping is off while it draws, so that a line that is too wide stays one line.
func Frame(lines []string, width int) string {
	const cut, wrapped, clear, below = "\x1b[?7l", "\x1b[?7h", "\x1b[K", "\x1b[J"
	for i := range lines {
		lines[i] = cli.Fit(lines[i], width-1)
	}
	text := "\r" + cut + strings.Join(lines, clear+"\r\n") + below + wrapped + "\r"
	if n := len(lines) - 1; n > 0 {
		text += fmt.Sprintf("\x1b[%dA", n)
	}
	return text
}
