package service

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
	w := World{Program: odd, State: "/home/ann/.ouro", Home: "/home/ann", Config: "/home/ann/.config", UID: 1000}
	p := systemd(w)
	if p.Path != "/home/ann/.config/systemd/user/ouro-timer.service" {
		t.Errorf("the unit of the usual folder is %s", p.Path)
	}
	if want := `ExecStart="/opt/a \"b\" $$HOME %%h <c>&'d'\\e/ouro-timer" run --standby --output` + "\nExecReload=/bin/kill -HUP $MAINPID\n"; !strings.Contains(p.Text, want) {
		t.Errorf("the unit lacks %s:\n%s", want, p.Text)
	}
	if strings.Contains(p.Text, "OURO_HOME") {
		t.Error("the usual folder needs no OURO_HOME")
	}
	w.State = "/srv/100%"
	other := systemd(w)
	if other.Path == p.Path || !strings.Contains(other.Text, `Environment="OURO_HOME=/srv/100%%"`+"\n") {
		t.Errorf("the unit of another folder, %s:\n%s", other.Path, other.Text)
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
	w.Program = program
	unit := filepath.Join(t.TempDir(), "ouro-timer.service")
	if err := os.WriteFile(unit, []byte(systemd(w).Text), 0o600); err != nil {
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
	w := World{Program: odd, State: "/Users/ann/<state>", Home: "/Users/ann", UID: 501}
	p := launchd(w)
	if filepath.Dir(p.Path) != "/Users/ann/Library/LaunchAgents" || !strings.HasPrefix(filepath.Base(p.Path), "ouro-timer-") {
		t.Errorf("the agent is %s", p.Path)
	}
	var texts []string
	for d := xml.NewDecoder(strings.NewReader(p.Text)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the agent is no XML: %v:\n%s", err, p.Text)
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
