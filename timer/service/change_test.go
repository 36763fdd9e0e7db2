package service

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
)

// TestChanges: what it takes depends on how the service stands, and nothing is done twice.
func TestChanges(t *testing.T) {
	p := systemd(World{Program: "/bin/ouro-timer", State: "/home/ann/.ouro", Home: "/home/ann", Config: "/home/ann/.config"})
	yes, no := true, false
	for _, c := range []struct {
		name               string
		is                 Status
		install, uninstall [][]string // what is called; nil: nothing is to be done
	}{
		{"not there", Status{Active: &no}, p.On, nil},
		{"it runs", Status{Installed: true, Current: true, Enabled: true, Active: &yes}, nil, p.Off},
		{"it has ended", Status{Installed: true, Current: true, Enabled: true, Active: &no}, append(append([][]string{}, p.Off...), p.On...), p.Off},
		{"an older file", Status{Installed: true, Enabled: true, Active: &yes}, append(append([][]string{}, p.Off...), p.On...), p.Off},
		{"not at login", Status{Installed: true, Current: true, Active: &yes}, append(append([][]string{}, p.Off...), p.On...), p.Off},
		{"a trace of it", Status{Enabled: true, Active: &no}, p.On, p.Off},
	} {
		if got := p.Install(c.is); !reflect.DeepEqual(got.Calls, c.install) || (got.Write == p.Path) != (c.install != nil) || got.Remove != "" {
			t.Errorf("%s: install: %+v", c.name, got)
		}
		if got := p.Uninstall(c.is); !reflect.DeepEqual(got.Calls, c.uninstall) || (got.Remove == p.Path) != (c.uninstall != nil) || got.Write != "" {
			t.Errorf("%s: uninstall: %+v", c.name, got)
		}
	}
	if got := p.Uninstall(Status{Installed: true}); got.Remove != p.Path || got.Calls != nil {
		t.Errorf("where the manager cannot be asked: %+v", got)
	}
}

// TestTakenBack: of an installation that fails nothing is left, not even a folder of systemd's.
func TestTakenBack(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no scripts")
	}
	home, tools := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\n[ \"$2\" = enable ] && { echo no such bus >&2; exit 1; }\nexit 0\n"
	if err := os.WriteFile(filepath.Join(tools, "systemctl"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	p := systemd(World{Program: "/bin/ouro-timer", State: filepath.Join(home, ".ouro"), Home: home, Config: filepath.Join(home, ".config")})
	all := Tools{Path: tools}
	is := p.Look(t.Context(), all)
	if is.Installed || is.Active == nil || is.Silent != nil {
		t.Fatalf("%+v", is)
	}
	_, err := p.Install(is).Do(t.Context(), all)
	var call *CallError
	if !errors.As(err, &call) || !reflect.DeepEqual(call.Argv, p.On[1]) || call.Err.Error() != "no such bus" {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(filepath.Join(home, ".config")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	config := filepath.Join(home, ".config")
	if err := errors.Join(os.RemoveAll(config), os.WriteFile(config, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Install(is).Do(t.Context(), all); !errors.Is(err, ErrUnwritten) {
		t.Errorf("where no file can be written: %v", err)
	}
	if silent := p.Look(t.Context(), Tools{Path: home}); silent.Silent == nil || silent.Active != nil {
		t.Errorf("without a manager: %+v", silent)
	}
}
