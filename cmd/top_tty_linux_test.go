package cmd

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// pilot has the view on a terminal of tmux, sends keys to it and looks at what it shows.
type pilot struct {
	*testing.T
	folder, tmux string
}

// flying starts a shell line in a terminal of so many columns and rows.
func flying(t *testing.T, width, height int, line string, environ ...string) *pilot {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("there is no tmux")
	}
	p := &pilot{t, t.TempDir(), tmux}
	tidyUp(t, p.folder+"/home", p.folder)
	words := []string{"new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height)}
	for _, pair := range append([]string{"OURO_HOME=" + p.folder + "/home", "HOME=" + p.folder, "TZ=UTC", "LC_ALL=C.UTF-8", "NO_COLOR=" + os.Getenv("NO_COLOR")}, environ...) {
		words = append(words, "-e", pair)
	}
	p.ask(append(append(words, "-c", p.folder), line+`; echo "ended $?"; exec sleep 1000`)...)
	t.Cleanup(func() { p.ask("kill-server") })
	return p
}

func (p *pilot) ask(words ...string) string {
	p.Helper()
	c := exec.Command(p.tmux, append([]string{"-S", p.folder + "/socket", "-f", "/dev/null"}, words...)...)
	c.Env = append(os.Environ(), "OURO_HOME="+p.folder+"/home", "TERM=xterm-256color", "TMUX=", "LC_ALL=C.UTF-8")
	said, err := c.CombinedOutput()
	if err != nil {
		p.Fatalf("tmux %s: %v: %s", words[0], err, said)
	}
	return string(said)
}

func (p *pilot) screen() string { return p.ask("capture-pane", "-p") }

// until waits until the screen has all the texts.
func (p *pilot) until(texts ...string) string {
	p.Helper()
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		seen, all := p.screen(), true
		for _, text := range texts {
			all = all && strings.Contains(seen, text)
		}
		switch {
		case all:
			return seen
		case time.Now().After(end):
			p.Fatalf("%q never came:\n%s", texts, seen)
		}
	}
}

// press sends keys by the names that tmux gives them; one that begins with = is text.
func (p *pilot) press(keys ...string) {
	p.Helper()
	for _, k := range keys {
		if text, ok := strings.CutPrefix(k, "="); ok {
			p.ask("send-keys", "-l", text)
			continue
		}
		p.ask("send-keys", k)
	}
}

// TestTop uses the view as a person would: it adds, edits, pauses, removes and restores a task, fires and stops another, and
// acknowledges what is in the inbox, in windows of three widths.
func TestTop(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 200} {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			t.Parallel()
			p := flying(t, width, 30, "ouro-timer top")
			p.until("nothing is due")
			p.press("a", "=in 2 hours")
			p.until("in 2 hours", "UTC", "nothing to do at that time")
			p.press(`= --task "bring the bins out"`)
			p.until(`bins out"`)
			p.press("Enter")
			p.until("scheduled ", "01:59:", "bring the bins out")
			p.press("e", "=banana")
			p.until("could not understand")
			p.press("C-u", "=+1h")
			p.until("; ch")
			p.press("Enter")
			p.until("changed ", "02:59:")
			p.press("p")
			p.until("  paused ")
			p.press("p")
			p.until("resumed ", "02:59:")
			p.press("d")
			p.until("removed ", "nothing is due")
			p.press("u")
			p.until("restored ", "02:59:")
			p.press("a", `=now -c 'echo begun; sleep 1000'`, "Enter")
			p.until("scheduled ", "1 running")
			p.press("2")
			p.until("  begun")
			p.press("s")
			p.until("ended ", "nothing is running")
			p.press("a", `=now -c 'echo all is well; exit 3'`, "Enter")
			p.until("1 unread")
			p.press("3")
			p.until("failure", "failed (exit code 3", "all is well")
			p.press("c")
			p.until("acknowledged ", "nothing is unread")
			p.press("4")
			p.until("failed (exit code 3", "removed", "restored", "paused")
			p.press("/", "=bins")
			p.until("filter: bins")
			p.press("Enter", "1")
			p.until("only rows with", "02:5")
			p.press("?")
			p.until("add a task", "quit")
			p.press("Escape")
			p.until("only rows with")
			p.ask("resize-window", "-x", "50", "-y", "12")
			p.until("is too small", "60 x 15 is needed")
			p.ask("resize-window", "-x", strconv.Itoa(width), "-y", "15")
			p.until("only rows with")
			p.press("q")
			p.until("ended 0")
		})
	}
}

// TestTopFollows shows what other calls change.
func TestTopFollows(t *testing.T) {
	t.Parallel()
	p := flying(t, 80, 24, "ouro-timer at 3h --task first -q; ouro-timer top")
	p.until("first", "1 due")
	p.ask("new-window", "-d", "ouro-timer at 1h --task second -q")
	seen := p.until("first", "second", "2 due")
	if strings.Index(seen, "second") > strings.Index(seen, "first") {
		t.Errorf("what is due first stands below:\n%s", seen)
	}
	p.ask("new-window", "-d", "ouro-timer rm --match first")
	p.until("1 due", "second")
	p.ask("send-keys", "C-c")
	p.until("ended 0")
}

// TestTopRefuses where nothing can be drawn, before anything is: the exit code is that of a wrong call.
func TestTopRefuses(t *testing.T) {
	t.Parallel()
	p := flying(t, 80, 24, "TERM=dumb ouro-timer top")
	p.until(`TERM is "dumb"`, "hint: ouro-timer ls", "ended 2")
}

// TestTopLeavesTheTerminal as it was when a signal ends it: what stood on the screen is there again, and letters are echoed.
func TestTopLeavesTheTerminal(t *testing.T) {
	t.Parallel()
	p := flying(t, 80, 24, `echo before; sh -c 'echo $$ >pid; exec ouro-timer top'`)
	p.until("nothing is due")
	p.ask("run-shell", "kill -TERM $(cat "+p.folder+"/pid)")
	p.until("before", "ended 143")
	p.press("=echoed")
	p.until("echoed")
}

// coloured is what tmux writes for a letter with a colour. It writes 39 for one that has none any more.
var coloured = regexp.MustCompile(`\x1b\[[0-9;]*3[0-7]`)

// TestTopColours has none where NO_COLOR says so.
func TestTopColours(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pair string
		some bool
	}{{"NO_COLOR=1", false}, {"NO_COLOR=", true}} {
		p := flying(t, 80, 24, "ouro-timer at 3h --task first -q; ouro-timer at 4h --task second -q; ouro-timer top", c.pair)
		p.until("first", "second", "2 due")
		if has := coloured.MatchString(p.ask("capture-pane", "-p", "-e")); has != c.some {
			t.Errorf("with %s there is colour: %v", c.pair, has)
		}
	}
}
