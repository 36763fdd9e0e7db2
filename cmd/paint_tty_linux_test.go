package cmd

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// TestPaintOnTerminal has colour where it tells something, and none where a variable speaks against it.
func TestPaintOnTerminal(t *testing.T) {
	t.Parallel()
	const calls = `id=$(ouro-timer at 1s -q --no-autostart -- false 2>/dev/null); ouro-timer wait 1100ms -q; ouro-timer run --once >/dev/null 2>&1; ouro-timer log "$id"; ouro-timer inbox; ouro-timer at banana`
	for _, c := range []struct {
		env  string
		want bool
	}{
		{"unset NO_COLOR", true},
		{"NO_COLOR=1", false},
		{"unset NO_COLOR; export CLICOLOR=0", false},
		{"unset NO_COLOR; export TERM=dumb", false},
		{"unset NO_COLOR; export TERM=dumb CLICOLOR_FORCE=1", true},
	} {
		_, said := onTerminal(t, c.env+"; "+calls).end()
		for _, painted := range []string{"\x1b[31mfailed (exit code 1", "\x1b[31mfailure\x1b[m", "\x1b[31mouro-timer:\x1b[m could not", "\x1b[2mhint:\x1b[m"} {
			if strings.Contains(said, painted) != c.want {
				t.Errorf("%s: %q is there: %v\n%q", c.env, painted, !c.want, said)
			}
		}
		if !c.want && strings.Contains(said, "\x1b") {
			t.Errorf("%s: %q", c.env, said)
		}
	}
}

// TestWidthOnTerminal has no line of help and no row of a list that is wider than the terminal, whatever letters are in it.
func TestWidthOnTerminal(t *testing.T) {
	t.Parallel()
	const calls = `ouro-timer at 1h -q --no-autostart --task "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 👩‍👩‍👧👩‍👩‍👧 $(seq -s " " 90)" >/dev/null 2>&1; unset NO_COLOR
		ouro-timer ls 2>/dev/null; ouro-timer ls --format table 2>/dev/null; echo ---; ouro-timer help; ouro-timer help ls`
	painted := regexp.MustCompile(`\x1b\[\d*m`)
	for _, columns := range []int{60, 80, 200} {
		_, said := onTerminal(t, fmt.Sprintf("stty cols %d; ", columns)+calls).end()
		list, help, _ := strings.Cut(said, "---\r\n")
		if strings.Count(list, "漢字") < 2 || !strings.Contains(help, "health-wait") {
			t.Fatalf("%d columns: %q", columns, said)
		}
		for _, line := range strings.Split(list, "\r\n") {
			if n := cli.Columns(painted.ReplaceAllString(line, "")); n > columns || strings.Contains(line, "漢字") && n < columns-1 {
				t.Errorf("%d columns: a row of %d: %q", columns, n, line)
			}
		}
		for _, line := range strings.Split(help, "\r\n") {
			if n := cli.Columns(line); n > min(columns, 100) && !strings.HasPrefix(line, "  ouro-timer ") { // an example is there to be typed
				t.Errorf("%d columns: a line of help of %d: %q", columns, n, line)
			}
		}
	}
}

// TestOverviewOnTerminal has what is to be typed on lines of its own, and what goes on of the usage below its beginning.
func TestOverviewOnTerminal(t *testing.T) {
	t.Parallel()
	_, said := onTerminal(t, `stty cols 60; ouro-timer help; ouro-timer help at`).end()
	for _, want := range []string{
		"\r\n  ouro-timer when \"next Friday at noon\"\r\n      how one is read\r\n\r\n",
		"\r\n\r\nState is kept in ~/.ouro (OURO_HOME moves it).\r\n\r\n",
		"\r\n  ouro-timer help --man <command> | man -l -\r\n",
		"Usage: ouro-timer at <when>... [--task <text>] [-c\r\n       <shell text>",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not there: %q", want, said)
		}
	}
}
