//go:build unix

package cmd

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
)

// TestAgentConnectGoesOn: when its server was away, a connected agent is told again by itself, and
// hears of what it asked that nobody can answer any more.
func TestAgentConnectGoesOn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts and kills a server")
	}
	servers := natstest.Start(t, 1)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(t.TempDir(), "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Args = []string{"ouro-timer", "agent", "connect", "helper"}
	c.Env = append(os.Environ(), "OURO_HOME="+home, "OURO_STORE="+servers.URL(), "TZ=UTC", "GORACE=atexit_sleep_ms=0")
	in, _ := c.StdinPipe()
	out, _ := c.StdoutPipe()
	talk, _ := c.StderrPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	said, told := linesOf(talk), linesOf(out)
	until := func(from <-chan string, part string) string {
		t.Helper()
		for {
			select {
			case line, more := <-from:
				if !more {
					t.Fatalf("it has ended before it said %q", part)
				}
				if strings.Contains(line, part) {
					return line
				}
			case <-time.After(5 * time.Minute):
				t.Fatalf("it does not say %q", part)
			}
		}
	}
	// tell is what a relay does
	tell := func(id string) (*jet.Port, *jet.KV) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			k, err := jet.Open(t.Context(), jet.Options{URL: servers.URL()})
			var p *jet.Port
			if err == nil {
				p, err = k.Port(t.Context(), "helper", "r.AAAAAAAAAAAAAAAAAAAAAAAAAA", false)
			}
			if err == nil {
				err = p.Send("c", "r.AAAAAAAAAAAAAAAAAAAAAAAAAA", []byte(`{"jsonrpc":"2.0","method":"reminder.fire","id":"AAAAAAAAAAAAAAAAAAAAAAAAAA.`+id+`"}`))
			}
			if err == nil {
				return p, k
			}
			if time.Now().After(end) {
				t.Fatal(err)
			}
		}
	}
	heard := func(p *jet.Port, part string) {
		t.Helper()
		limited, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if l, err := p.Next(limited); err != nil || !strings.Contains(string(l.Text), part) {
			t.Fatalf("%s, %v", l.Text, err)
		}
	}
	write := func(line string) {
		t.Helper()
		if _, err := io.WriteString(in, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	until(said, "Connected as the agent helper")
	p, k := tell("1")
	until(told, `"id":"AAAAAAAAAAAAAAAAAAAAAAAAAA.1"`)
	write(`{"jsonrpc":"2.0","result":"ok","id":"AAAAAAAAAAAAAAAAAAAAAAAAAA.1"}`)
	heard(p, `"result":"ok"`)
	write(`{"jsonrpc":"2.0","method":"reminders.list","id":7}`)
	heard(p, `"reminders.list"`)
	servers.Kill(0)
	k.Close()
	until(said, "trying again until they do")
	if line := until(told, `"id":7`); !strings.Contains(line, "the connection broke") || !json.Valid([]byte(line)) {
		t.Error(line)
	}
	if err := servers.Up(0); err != nil {
		t.Fatal(err)
	}
	until(said, "Connected as the agent helper")
	write(`{"jsonrpc":"2.0","method":"reminders.list","id":8}`)
	if line := until(told, `"id":8`); !strings.Contains(line, "no reminder has come yet") {
		t.Error(line)
	}
	p, k = tell("2")
	defer k.Close()
	until(told, `"id":"AAAAAAAAAAAAAAAAAAAAAAAAAA.2"`)
	write(`{"jsonrpc":"2.0","result":"ok","id":"AAAAAAAAAAAAAAAAAAAAAAAAAA.2"}`)
	heard(p, `"result":"ok"`)
	// whoever told is gone: what is asked then is refused, and not waited for
	k.Close()
	p.Close()
	for gone := false; !gone; { // the server may know of it only later
		write(`{"jsonrpc":"2.0","method":"reminders.list","id":9}`)
		select {
		case line := <-told:
			gone = strings.Contains(line, "has gone")
			if !gone {
				t.Fatal(line)
			}
		case <-time.After(time.Second):
		}
	}
	in.Close()
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// linesOf are the lines that are read.
func linesOf(r io.Reader) <-chan string {
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(r); s.Scan(); {
			lines <- s.Text()
		}
	}()
	return lines
}
