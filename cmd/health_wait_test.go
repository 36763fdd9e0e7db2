package cmd

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// healthWait runs the command in this process, in a world of its own.
func healthWait(words ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	w := cli.Real()
	w.In, w.Out, w.Err = strings.NewReader(""), &out, &errs
	w.Getenv = func(name string) string {
		return map[string]string{"TZ": "Europe/Warsaw", "HOME": "/nonexistent"}[name]
	}
	code = Main(append([]string{"ouro-timer", "health-wait"}, words...), w)
	return code, out.String(), errs.String()
}

// TestHealthWaitForAnOutageToEnd is the call of an agent: one for each outage, answered with a record.
func TestHealthWaitForAnOutageToEnd(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer server.Close()
	code, out, errs := healthWait("--json", server.URL)
	var answer struct {
		Healthy       bool
		WaitedSeconds float64 `json:"waited_seconds"`
		Attempts      int
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	if code != cli.ExitOK || errs != "" || !answer.Healthy || answer.Attempts != 3 || answer.WaitedSeconds < 0.2 {
		t.Errorf("exit %d, stdout %s, stderr %s", code, out, errs)
	}
}

func TestHealthWaitGivesUpOnWhatDoesNotMend(t *testing.T) {
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer locked.Close()
	code, out, errs := healthWait(locked.URL)
	if code != cli.ExitFailed || !strings.Contains(out, "is not healthy: HTTP 403 (1 attempt") || !strings.Contains(errs, "waiting does not mend this\nhint: ") {
		t.Errorf("exit %d, stdout %s, stderr %s", code, out, errs)
	}
	code, out, errs = healthWait("--quiet", "file:/nonexistent", locked.URL)
	if want := "ouro-timer: waiting does not mend this: " + locked.URL + ": HTTP 403\n"; code != cli.ExitFailed || out != "" || !strings.HasPrefix(errs, want) {
		t.Errorf("exit %d, stdout %s, stderr %s", code, out, errs)
	}
	code, out, _ = healthWait("--json", "--any", locked.URL, "file:/")
	if code != cli.ExitOK || !strings.Contains(out, `"healthy":true`) || strings.Contains(out, `"reason"`) {
		t.Errorf("exit %d, stdout %s", code, out)
	}
}

// TestHealthWaitUntilHoldsWhenTheClockIsSet has an hour pass on the wall that no time-out of the wait's own has seen.
func TestHealthWaitUntilHoldsWhenTheClockIsSet(t *testing.T) {
	var out, errs bytes.Buffer
	w := cli.Real()
	wall := clocktest.NewManual(clitest.Noon)
	w.Clock, w.In, w.Out, w.Err = wall, strings.NewReader(""), &out, &errs
	home := t.TempDir()
	w.Getenv = func(name string) string { return map[string]string{"TZ": "UTC", "HOME": home}[name] }
	ended := make(chan int, 1)
	go func() {
		ended <- Main([]string{"ouro-timer", "health-wait", "file:/nonexistent", "--until", clitest.Noon.Add(time.Hour).Format(time.RFC3339)}, w)
	}()
	if err := wall.BlockUntil(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	wall.Step(2 * time.Hour)
	select {
	case code := <-ended:
		if code != cli.ExitTimedOut || !strings.Contains(errs.String(), "not healthy by ") {
			t.Errorf("exit %d, stdout %s, stderr %s", code, &out, &errs)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("it waits on")
	}
}

// TestHealthWaitGoesOnWithItself is called in various ways, by names that find this program and by others.
func TestHealthWaitGoesOnWithItself(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(program, filepath.Join(folder, "ouro")); err != nil {
		t.Skip(err)
	}
	if err := os.WriteFile(filepath.Join(other, "ouro"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ called, path, want string }{
		{"ouro", folder, "ouro"},
		{"ouro", other + string(filepath.ListSeparator) + folder, program},
		{"ouro", other, program},
		{"ouro", "", program},
		{"/opt/ouro", folder, "/opt/ouro"},
		{"./bin/ouro", folder, filepath.FromSlash("/srv/here/bin/ouro")},
		{"../ouro", folder, filepath.FromSlash("/srv/ouro")},
	} {
		var out, errs bytes.Buffer
		w := cli.Real()
		w.In, w.Out, w.Err = strings.NewReader(""), &out, &errs
		w.Getwd = func() (string, error) { return "/srv/here", nil }
		w.Getenv = func(name string) string {
			return map[string]string{"TZ": "UTC", "HOME": "/nonexistent", "PATH": c.path}[name]
		}
		code := Main([]string{c.called, "health-wait", "file:/nonexistent", "--json", "--max", "10ms"}, w)
		var answer struct{ Continue []string }
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil || code != cli.ExitMax || len(answer.Continue) < 2 {
			t.Errorf("%s: exit %d, %v in %s %s", c.called, code, err, &out, &errs)
			continue
		}
		if answer.Continue[0] != c.want || answer.Continue[1] != "health-wait" {
			t.Errorf("called as %s with PATH=%s it goes on with %q, want %s", c.called, c.path, answer.Continue, c.want)
		}
	}
}
