package cmd

import (
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNotifiesSystemd: a runner tells systemd when it leads, or stands by, tells the watchdog only while its loop turns, and says when it ends;
// by a socket that is a file, and by one that is none.
func TestNotifiesSystemd(t *testing.T) {
	t.Parallel()
	for name, socket := range map[string]func(dir string) string{
		"a file":  func(dir string) string { return filepath.Join(dir, "notify") },
		"no file": func(dir string) string { return "@ouro-timer-test" + strings.ReplaceAll(dir, "/", "-") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, dir := newCaller(t)
			address := socket(dir)
			heard, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
			if err != nil {
				t.Skip("no such socket can be had: ", err) // its path is too long
			}
			defer heard.Close()
			c.wants(0, "", "at", "2099-01-01", "-q", "--task", "later")
			start := func(args ...string) *exec.Cmd {
				cmd := exec.Command(c.self)
				cmd.Args = append([]string{"ouro-timer", "run", "-q"}, args...)
				cmd.Dir, cmd.Env = "/", append(c.env(), "NOTIFY_SOCKET="+address, "WATCHDOG_USEC=200000")
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				return cmd
			}
			// hears returns what is told next, but for the watchdog, or with the watchdog.
			hears := func(watchdog bool) string {
				room := make([]byte, 4096)
				_ = heard.SetReadDeadline(time.Now().Add(2 * time.Minute))
				for {
					n, err := heard.Read(room)
					if err != nil {
						t.Fatal(err)
					}
					if text := string(room[:n]); watchdog == (text == "WATCHDOG=1") {
						return text
					}
				}
			}
			first := start()
			if said := hears(false); !strings.HasPrefix(said, "READY=1\nSTATUS=does what is due") {
				t.Errorf("the first says %q", said)
			}
			hears(true)
			second := start("--standby")
			if said := hears(false); !strings.HasPrefix(said, "READY=1\nSTATUS=standing by: pid ") {
				t.Errorf("the second says %q", said)
			}
			for _, cmd := range []*exec.Cmd{first, second} {
				_ = cmd.Process.Signal(syscall.SIGTERM)
				if said := hears(false); said != "STOPPING=1\nSTATUS=ending" {
					t.Errorf("at its end it says %q", said)
				}
				_ = cmd.Wait()
				if cmd == first {
					if said := hears(false); !strings.HasPrefix(said, "READY=1\nSTATUS=does what is due") {
						t.Errorf("the second, when it leads, says %q", said)
					}
				}
			}
		})
	}
}
