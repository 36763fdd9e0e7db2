package view

import (
	"runtime"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// EraseBelow clears from the line of the cursor to the end of the screen, as what was drawn may have wrapped, and leaves the cursor at the
// start of the line. It does not clear from the first column of the screen's first row: tmux(1) takes that for the clearing of the
// whole screen, and keeps what was there in its history.
const EraseBelow = "\r\x1b[C\x1b[J\r\x1b[K"

// Counts reports whether waits show a countdown: on a terminal that can move its cursor, for a person who wants to look.
func Counts(s *cli.Call, quiet bool) bool {
	kind := s.Getenv("TERM")
	if quiet || s.InJSON || kind == "dumb" || kind == "" && runtime.GOOS != "windows" {
		return false
	}
	_, terminal := cli.TerminalWidth(s.Err, s.Getenv)
	return terminal
}

// SpeaksUTF8 reports whether the locale's letters are UTF-8 (setlocale(3) looks in this order).
func SpeaksUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
