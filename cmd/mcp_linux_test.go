package cmd

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMCPSignals ends the server by a signal while a call waits and the client has stopped to read.
func TestMCPSignals(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "ouro-timer") // the name by which this program is ours, as in the sessions
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		cmd := exec.Command(program, "mcp")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "OURO_HOME=" + filepath.Join(dir, "home"), "OURO_AUTOSTART=0", "TZ=UTC", "GORACE=atexit_sleep_ms=0"}
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"inbox","arguments":{"wait":true}}}
{"jsonrpc":"2.0","id":3,"method":"ping"}`)
		for answers := bufio.NewScanner(out); answers.Scan() && !strings.Contains(answers.Text(), `"id":3`); {
		}
		go func() { // more than the pipe of the answers takes
			for id := 4; ; id++ {
				if _, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", id); err != nil {
					return
				}
			}
		}()
		begun := time.Now()
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		state, err := cmd.Process.Wait() // while the pipes are open: their end would end it, too
		if err != nil {
			t.Fatal(err)
		}
		if by := state.Sys().(syscall.WaitStatus); !by.Signaled() || by.Signal() != sig {
			t.Errorf("%v: it ended with %v", sig, state)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("%v: it ended after %v", sig, took)
		}
		in.Close()
		_, _ = io.Copy(io.Discard, out)
	}
}
