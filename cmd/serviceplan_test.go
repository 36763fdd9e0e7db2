package cmd

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// odd is a path with what has a meaning in unit files and in XML.
const odd = `/opt/a "b" $HOME %h <c>&'d'\e/ouro-timer`

func TestSystemdUnit(t *testing.T) {
	w := serviceWorld{program: odd, state: "/home/ann/.ouro", user: "/home/ann", config: "/home/ann/.config", uid: 1000}
	p := systemdPlan(w)
	if p.path != "/home/ann/.config/systemd/user/ouro-timer.service" {
		t.Errorf("the unit of the usual folder is %s", p.path)
	}
	if want := `ExecStart="/opt/a \"b\" $$HOME %%h <c>&'d'\\e/ouro-timer" run --standby --output` + "\nExecReload=/bin/kill -HUP $MAINPID\n"; !strings.Contains(p.text, want) {
		t.Errorf("the unit lacks %s:\n%s", want, p.text)
	}
	if strings.Contains(p.text, "OURO_HOME") {
		t.Error("the usual folder needs no OURO_HOME")
	}
	w.state = "/srv/100%"
	other := systemdPlan(w)
	if other.path == p.path || !strings.Contains(other.text, `Environment="OURO_HOME=/srv/100%%"`+"\n") {
		t.Errorf("the unit of another folder, %s:\n%s", other.path, other.text)
	}
	// systemd's own opinion, where it is there.
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze")
	}
	program := filepath.Join(t.TempDir(), `a b%h`)
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.program = program
	unit := filepath.Join(t.TempDir(), "ouro-timer.service")
	if err := os.WriteFile(unit, []byte(systemdPlan(w).text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(verify, "--user", "verify", unit)
	c.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir())
	switch out, err := c.CombinedOutput(); {
	case strings.Contains(string(out), "Failed to initialize manager"):
		t.Skipf("systemd-analyze cannot be used here: %s", out)
	case err != nil || strings.Contains(string(out), unit):
		t.Errorf("systemd-analyze verify: %v: %s", err, out)
	}
}

func TestLaunchdAgent(t *testing.T) {
	w := serviceWorld{program: odd, state: "/Users/ann/<state>", user: "/Users/ann", uid: 501}
	p := launchdPlan(w)
	if filepath.Dir(p.path) != "/Users/ann/Library/LaunchAgents" || !strings.HasPrefix(filepath.Base(p.path), "ouro-timer-") {
		t.Errorf("the agent is %s", p.path)
	}
	var texts []string
	for d := xml.NewDecoder(strings.NewReader(p.text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the agent is no XML: %v:\n%s", err, p.text)
		}
		if c, ok := token.(xml.CharData); ok && strings.TrimSpace(string(c)) != "" {
			texts = append(texts, string(c))
		}
	}
	all := strings.Join(texts, "|")
	for _, want := range []string{"ProgramArguments|" + odd + "|run|--standby|", "OURO_HOME|/Users/ann/<state>|"} {
		if !strings.Contains(all, want) {
			t.Errorf("the agent lacks %s: %s", want, all)
		}
	}
}
