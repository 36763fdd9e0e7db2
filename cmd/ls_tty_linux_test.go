package cmd

import (
	"fmt"
	"strings"
	"testing"
)

// TestLsOnTerminal is cut to the screen, which has 20 lines, with what leads to the rest; in a pipe and with --limit it is not.
func TestLsOnTerminal(t *testing.T) {
	add := func(n int) string {
		return fmt.Sprintf(`seq %d | sed 's/^/echo /' | ouro-timer at 2031-01-01T10:00 --stdin lines --spread 9d -q --no-autostart >/dev/null 2>&1; `, n)
	}
	ls := func(text string) []string {
		t.Helper()
		_, said := onTerminal(t, text).end()
		_, said, _ = strings.Cut(said, "---\r\n")
		return strings.Split(strings.TrimSuffix(said, "\r\n"), "\r\n")
	}
	l := ls(add(45) + `id=$(ouro-timer ls 2>/dev/null | head -n 1 | cut -f 1); ouro-timer pause "$id" -q 2>/dev/null; echo ---; ouro-timer ls 2>/dev/null`)
	last := l[len(l)-1]
	rows := 0
	for _, line := range l {
		if strings.Contains(line, " echo ") {
			rows++
		}
	}
	if len(l) > 19 || len(l) < 15 || rows == 0 || last != fmt.Sprintf("… and %d more; ouro-timer ls --limit N, or ls | less", 45-rows) || strings.Contains(strings.Join(l, ""), "Paused") {
		t.Errorf("%d lines, %d tasks, last %q:\n%s", len(l), rows, last, strings.Join(l, "\n"))
	}
	if l := ls(add(45) + `echo ---; ouro-timer ls --limit 40 2>/dev/null`); len(l) < 40 || l[len(l)-1] != "… and 5 more" {
		t.Errorf("with --limit: %d lines, last %q", len(l), l[len(l)-1])
	}
	if l := ls(add(25) + `echo ---; ouro-timer ls 2>/dev/null | cat`); len(l) != 25 {
		t.Errorf("in a pipe: %d lines", len(l))
	}
	// What fits is shown whole, the paused below the others.
	l = ls(add(3) + `id=$(ouro-timer ls 2>/dev/null | head -n 1 | cut -f 1); ouro-timer pause "$id" -q 2>/dev/null; echo ---; ouro-timer ls 2>/dev/null`)
	if len(l) != 8 || l[6] != "Paused" || !strings.Contains(l[7], "paused") || strings.Contains(strings.Join(l, ""), "more") {
		t.Errorf("of three:\n%s", strings.Join(l, "\n"))
	}
}

// TestAtOnTerminal promises a terminal only what it takes: where messages are off, as mesg(1) has it of a shell of root's, the answer
// says so, and what to type.
func TestAtOnTerminal(t *testing.T) {
	t.Parallel()
	_, said := onTerminal(t, `chmod 620 "$(tty)"; stty cols 200; ouro-timer at 9d --task Bob --no-autostart; chmod 600 "$(tty)"; echo ---; ouro-timer at 9d --task Bob --no-autostart`).end()
	open, shut, _ := strings.Cut(said, "---\r\n")
	if !strings.Contains(open, "It will be told on this terminal (/dev/pts/") || strings.Contains(open, "mesg y") {
		t.Errorf("with messages on: %q", open)
	}
	if !strings.Contains(shut, "It will wait in the inbox: this terminal (/dev/pts/") || strings.Contains(shut, "will be told") ||
		!strings.Contains(shut, "takes no messages; mesg y there allows them") {
		t.Errorf("with messages off: %q", shut)
	}
}
