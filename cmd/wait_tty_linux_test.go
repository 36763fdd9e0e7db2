package cmd

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/view"
)

// screen is a program on a terminal of its own, and what that terminal was sent.
type screen struct {
	t    *testing.T
	keys *os.File
	cmd  *exec.Cmd
	gone chan struct{} // closed at the terminal's end
	mu   sync.Mutex
	text bytes.Buffer
}

// newTerminal is a new terminal of 60 columns, and what is typed on it and shown by it.
func newTerminal(t *testing.T) (keys, tty *os.File) {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { keys.Close() })
	fd := int(keys.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 20, Col: 60})
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return keys, tty
}

// onTerminal starts bash on a new terminal of 60 columns, which it controls, to run the text.
func onTerminal(t *testing.T, text string) *screen {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	keys, tty := newTerminal(t)
	defer tty.Close()

	s := &screen{t: t, keys: keys, gone: make(chan struct{})}
	s.cmd = exec.Command(bash, "--norc", "--noprofile", "-c", text)
	s.cmd.Env = append(os.Environ(), "OURO_HOME="+t.TempDir()+"/home", "TZ=Europe/Warsaw", "TERM=xterm", "LC_ALL=C",
		"NO_COLOR=1")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	go func() {
		defer close(s.gone)
		b := make([]byte, 4096)
		for {
			n, err := keys.Read(b)
			s.mu.Lock()
			s.text.Write(b[:n])
			s.mu.Unlock()
			if err != nil {
				return // EIO: nobody has the terminal open any more
			}
		}
	}()
	return s
}

// sent is what the terminal was sent so far.
func (s *screen) sent() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// see waits until the terminal was sent the text.
func (s *screen) see(text string) {
	s.t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(s.sent(), text) {
			return
		}
	}
	s.t.Fatalf("%q never came: %q", text, s.sent())
}

// end waits for bash to end and returns how it did, and all that the terminal was sent.
func (s *screen) end() (*os.ProcessState, string) {
	s.t.Helper()
	late := time.AfterFunc(30*time.Second, func() { s.cmd.Process.Kill() })
	defer late.Stop()
	s.cmd.Wait()
	<-s.gone
	return s.cmd.ProcessState, s.sent()
}

func TestWaitOnTerminal(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, `ouro-timer wait 700ms check the oven; echo "ended with $?"`)
	_, text := s.end()
	if !regexp.MustCompile(`^\r\x1b\[C\x1b\[J\r\x1b\[Kcheck the oven   0\.\ds  #*\.+  \w+ \d+ \w+ [0-9:]+ CES?T\r`).MatchString(text) {
		t.Errorf("no countdown: %q", text)
	}
	i := strings.LastIndex(text, view.EraseBelow)
	want := regexp.MustCompile(`^Timer triggered\. Task to execute: check the oven\r\n0\.7 seconds are over, at \d\d:\d\d:\d\d\r\nended with 0\r\n$`)
	if got := text[i+len(view.EraseBelow):]; !want.MatchString(got) {
		t.Errorf("what stays is %q, want %s", got, want)
	}
}

// TestWaitControlC has a loop of bash around the wait: it goes on after a command that exits, whatever its code, and
// stops only after one that died of the signal.
func TestWaitControlC(t *testing.T) {
	s := onTerminal(t, `export OURO_AUTOSTART=0; for i in 1 2 3; do ouro-timer wait 1h tea; echo "lap $i"; done; echo after`)
	s.see(view.EraseBelow)
	if _, err := s.keys.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	how, text := s.end()
	if ws := how.Sys().(syscall.WaitStatus); !ws.Signaled() || ws.Signal() != syscall.SIGINT {
		t.Errorf("bash ended with %v", how)
	}
	if strings.Contains(text, "lap ") || strings.Contains(text, "after") {
		t.Errorf("the loop went on: %q", text)
	}
	if !regexp.MustCompile(regexp.QuoteMeta(view.EraseBelow) + `cancelled the wait \w{4}\r\n$`).MatchString(text) {
		t.Errorf("the countdown stayed: %q", text)
	}
}

// TestWaitEnds says in words that it is over, and rings, to somebody who looks on; a pipe gets what it always got.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ call, want string }{
		{`ouro-timer wait 1s --name tea`, `tea: 1 second is over, at \d\d:\d\d:\d\d\r\n`},
		{`ouro-timer wait 300ms --name tea --bell`, `\atea: 0\.3 seconds are over, at \d\d:\d\d:\d\d\r\n`},
		{`ouro-timer wait 50ms --bell -q`, `\a`},
		{`ouro-timer wait 50ms --bell --json >/dev/null`, `\a`},
		{`ouro-timer wait 50ms --bell 2>/dev/null`, `\a`},
		{`ouro-timer wait 50ms --name tea 2>/dev/null`, ``},
		{`ouro-timer wait 50ms --bell --name tea 2>&1 | cat`, ``},
		{`ouro-timer wait --until "$(date -d '+2 sec' +%Y-%m-%dT%H:%M:%S)" --name tea`, `tea: it is \d\d:\d\d:\d\d\r\n`},
		{`ouro-timer wait --every 1s --count 2 tick`, "Timer triggered. Task to execute: tick\r\n"},
	} {
		want := regexp.MustCompile("^" + c.want + "$")
		left := ""
		for range 3 { // a wait that a stalled machine ends late, or before it has drawn anything, leaves other words
			_, sent := onTerminal(t, c.call).end()
			left = sent[strings.LastIndex(sent, view.EraseBelow)+1:]
			left = strings.TrimPrefix(left, view.EraseBelow[1:])
			if want.MatchString(left) {
				break
			}
		}
		if !want.MatchString(left) {
			t.Errorf("%s left %q, want %q", c.call, left, c.want)
		}
	}
}

// TestTeaTimer counts down in windows of three widths: with its name, in a line or in big digits, and what is there fits when the window
// gets another size. In the end nothing of it is left but its words.
func TestTeaTimer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width, height int
		words, shown  []string
	}{
		{60, 20, nil, []string{"green tea  ", "─", ":0"}},
		{80, 24, nil, []string{"green tea  ", "─", ":0"}},
		{200, 50, nil, []string{"green tea  ", "─", ":0"}},
		{60, 20, []string{"--big"}, []string{"green tea\n\n██████  ██████      ", "\n██  ██  ██  ██", "─"}},
		{80, 24, []string{"--big"}, []string{"green tea\n\n████████████    ████████████ ", "\n████    ████    ████    ████", "─"}},
		{200, 50, []string{"--big"}, []string{"green tea\n\n██████████████████      ██████████████████ ", "─"}},
		{60, 8, []string{"--big"}, []string{"green tea  ", "─"}},
	} {
		t.Run(fmt.Sprint(c.width, " x ", c.height, c.words), func(t *testing.T) {
			t.Parallel()
			p := flying(t, c.width, c.height, "trap : INT; echo before; ouro-timer wait 8m --name 'green tea' --no-autostart "+strings.Join(c.words, " ")+" 2>&1 || echo broken", "TERM=xterm")
			p.until(append(c.shown, "before", "to resume: ")...)
			p.ask("resize-window", "-x", "58", "-y", "15")
			seen := p.until("green tea", "─")
			for _, line := range strings.Split(seen, "\n") {
				if cli.Columns(line) > 58 {
					t.Errorf("a line of %d columns:\n%s", cli.Columns(line), seen)
				}
			}
			p.press("C-c")
			seen = p.until("cancelled the wait ")
			if strings.Contains(seen, "─") || strings.Contains(seen, "█") {
				t.Errorf("the countdown stayed:\n%s", seen)
			}
		})
	}
}

// TestTeaTimerPauses has space hold a wait, which others see, and go on, also after Ctrl-Z, and leaves the terminal as it was.
func TestTeaTimerPauses(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			bash, err := exec.LookPath("bash")
			if err != nil {
				t.Skip("there is no bash")
			}
			p := flying(t, width, 24, "OURO_AUTOSTART=0 PS1='> ' "+bash+" --norc --noprofile -i", "TERM=xterm")
			p.until(">")
			p.press("=stty -a >before; sh -c 'echo $$ >pid; exec ouro-timer wait 50m --name tea'", "Enter")
			p.until("tea  ", "─")
			p.press("Space")
			p.until("paused  space resumes")
			p.press("C-z")
			p.until("Stopped")
			p.press("=clear; stty -a | cmp - before && echo unchanged; ouro-timer ls --format calendar", "Enter")
			p.until("unchanged", "Paused", "tea (wait --resume ")
			p.press("=clear; fg", "Enter")
			p.until("paused  space resumes")
			p.press("Space")
			p.until("─", ":")
			for strings.Contains(p.screen(), "paused") {
				time.Sleep(20 * time.Millisecond)
			}
			p.press("Space")
			p.until("paused  space resumes")
			p.ask("run-shell", "kill -TERM $(cat "+p.folder+"/pid)")
			p.until("Terminated")
			p.press("=clear; stty -a | cmp - before && echo unchanged; ouro-timer ls --format calendar", "Enter")
			p.until("unchanged", "Paused", "tea (wait --resume ")
		})
	}
}

// TestWaitNoCountdown has nothing drawn where it would not be welcome.
func TestWaitNoCountdown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`ouro-timer wait 50ms -q`,
		`ouro-timer wait 50ms --json >/dev/null`,
		`ouro-timer wait 50ms 2>/dev/null`,
		`TERM=dumb ouro-timer wait 50ms`,
		`TERM=dumb ouro-timer wait 50ms --big --name tea`,
		`ouro-timer wait 50ms --big --name tea 2>/dev/null`,
		`set -m; ouro-timer wait 50ms & wait`, // a job in the background
	} {
		_, sent := onTerminal(t, text).end()
		if strings.Contains(sent, "\x1b") {
			t.Errorf("%s: drew %q", text, sent)
		}
	}
}

// TestWaitTaskOnTerminal keeps control characters of a task off the terminal, and only off the terminal.
func TestWaitTaskOnTerminal(t *testing.T) {
	_, text := onTerminal(t, `task=$'a\e[31mb'
		ouro-timer wait 0 -q "$task"
		ouro-timer wait 0 --raw "$task" | od -An -c`).end()
	if want := "Timer triggered. Task to execute: a\\x1b[31mb\r\n   a 033   [   3   1   m   b  \\n\r\n"; text != want {
		t.Errorf("said %q, want %q", text, want)
	}
}

// TestWaitResized makes the window narrower: from then on the line fits it.
func TestWaitResized(t *testing.T) {
	t.Parallel()
	s := onTerminal(t, `ouro-timer wait 9s`)
	s.see(":") // the instant it is due
	if err := unix.IoctlSetWinsize(int(s.keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 20, Col: 16}); err != nil {
		t.Fatal(err)
	}
	s.see("s\r" + view.EraseBelow) // a line that is only what is left
	if _, err := s.keys.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	s.end()
}
