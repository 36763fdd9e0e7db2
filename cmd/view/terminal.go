package view

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// EraseBelow clears from the line of the cursor to the end of the screen, because drawn lines may
// have wrapped, and leaves the cursor at the start of the line. It does not clear from the first
// column of the first row, which tmux(1) takes for clearing the whole screen and keeps in its
// history.
const EraseBelow = "\r\x1b[C\x1b[J\r\x1b[K"

// Counts reports whether waits show a countdown: on a terminal that can move its cursor, and
// without --quiet.
func Counts(s *cli.Call, quiet bool) bool {
	kind := s.Getenv("TERM")
	if quiet || s.InJSON || kind == "dumb" || kind == "" && runtime.GOOS != "windows" {
		return false
	}
	_, terminal := cli.TerminalWidth(s.Err, s.Getenv)
	return terminal
}

// SpeaksUTF8 reports whether the locale uses UTF-8, by the variables in the order of setlocale(3).
func SpeaksUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// Beside draws on a terminal beside the wait, until stop, which may be called more than once.
func Beside(draw func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		draw(ctx)
	}()
	return func() {
		cancel()
		select {
		case <-gone:
		case <-time.After(200 * time.Millisecond):
			// A terminal that is stopped by Ctrl-S must not stop the wait.
		}
	}
}

// Frame draws lines over those before. It leaves the cursor at the start of the first, so that a
// window that is resized moves them along, and the next output replaces them. Each line clears the
// rest of the one before, the last one everything below. While it draws, the terminal cuts lines
// that are too wide, so that each stays one line.
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
