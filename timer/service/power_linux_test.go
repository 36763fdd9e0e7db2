package service

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// installIn names the folder in which the traced process installs a service.
const installIn = "OURO_TEST_INSTALL_IN"

// TestInstallWaitsForTheDisk: once an installation is confirmed, no loss of power takes it back or leaves an empty file. The disk has the file before it gets
// its name, and then the name, and those of the folders that were made for it.
func TestInstallWaitsForTheDisk(t *testing.T) {
	if home := os.Getenv(installIn); home != "" { // we are the traced process
		p := systemd(World{Program: "/bin/ouro-timer", State: filepath.Join(home, ".ouro"), Home: home, Config: filepath.Join(home, ".config")})
		p.On = nil
		if _, err := p.Install(Status{}).Do(t.Context(), Tools{}); err != nil {
			t.Fatal(err)
		}
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home, trace := t.TempDir(), filepath.Join(t.TempDir(), "trace")
	c := exec.Command(strace, "-f", "-y", "-o", trace, "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", self, "-test.run=^"+t.Name()+"$")
	c.Env = append(os.Environ(), installIn+"="+home)
	if out, err := c.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("nothing may be traced here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	text, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(home, ".config/systemd/user/ouro-timer.service")
	before, after, renamed := strings.Cut(string(text), `"`+unit+`"`)
	line := before[strings.LastIndexByte(before, '\n')+1:]
	_, temp, _ := strings.Cut(line, `"`)
	temp, _, _ = strings.Cut(temp, `"`)
	synced := func(calls, path string) bool {
		for line := range strings.Lines(calls) {
			if _, file, sync := strings.Cut(line, "sync("); sync && strings.Contains(file, "<"+path+">") {
				return true
			}
		}
		return false
	}
	if !renamed || !synced(before, temp) {
		t.Errorf("%q is not synced before it gets its name:\n%s", temp, text)
	}
	for dir := filepath.Dir(unit); len(dir) >= len(home); dir = filepath.Dir(dir) {
		if !synced(after, dir) {
			t.Errorf("the names in %s are not synced:\n%s", dir, text)
		}
	}
	if info, err := os.Stat(unit); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v", info, err)
	}
}
