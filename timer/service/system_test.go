package service

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestPackaged: the units of the packages are those that service install writes. A user's file says also
// who wrote it, which of a package would be wrong.
func TestPackaged(t *testing.T) {
	system, _ := ForSystem("systemd", "/usr/bin/ouro-timer", SystemUser, "")
	_, user, _ := strings.Cut(systemd(World{Program: "/usr/bin/ouro-timer", State: "/home/ann/.ouro", Home: "/home/ann", Config: "/home/ann/.config"}).Text, "\n")
	for path, want := range map[string]string{"system.service": system.Text, "user.service": user} {
		got, err := os.ReadFile(filepath.Join("..", "..", ".ci", "package", path))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf(".ci/package/%s differs; service writes:\n%s", path, want)
		}
	}
	who, err := os.ReadFile("../../.ci/package/sysusers.conf")
	if err != nil || !strings.HasPrefix(string(who), "u "+SystemUser+" ") || !strings.Contains(string(who), " "+SystemState+" ") {
		t.Errorf("the package makes another user: %s%v", who, err)
	}
}

// TestSystemUnit has systemd's own opinion, where it is there: it takes the unit, and says that little
// is exposed.
func TestSystemUnit(t *testing.T) {
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze")
	}
	program := filepath.Join(t.TempDir(), `a b%h`)
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p, _ := ForSystem("systemd", program, "root", "")
	unit := filepath.Join(t.TempDir(), "ouro-timer.service")
	if err := os.WriteFile(unit, []byte(p.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(verify, "verify", unit).CombinedOutput()
	switch {
	case strings.Contains(string(out), "Failed to initialize manager"):
		t.Skipf("systemd-analyze cannot be used here: %s", out)
	case err != nil || strings.Contains(string(out), unit):
		t.Errorf("systemd-analyze verify: %v: %s", err, out)
	}
	out, err = exec.Command(verify, "security", "--offline=yes", "--threshold=40", unit).CombinedOutput()
	if strings.Contains(string(out), "unrecognized option") {
		t.Skip("this systemd-analyze looks at running units alone")
	}
	if err != nil {
		t.Errorf("systemd-analyze security: %v: %s", err, out)
	}
	t.Log(regexp.MustCompile(`(?m)^.*Overall exposure.*$`).FindString(string(out)))
}

// TestScripts: sh takes the scripts of OpenRC and runit, whatever the program's path, and they start it as
// the user, in the system's state.
func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no sh")
	}
	for _, init := range []string{"openrc", "runit"} {
		p, ok := ForSystem(init, odd, "ann", "/etc/service")
		if !ok || !p.System || !p.script {
			t.Fatalf("%s: %+v", init, p)
		}
		if says, refused := p.Check(t.Context(), Tools{Path: os.Getenv("PATH")}); says != "" || refused != "" {
			t.Errorf("%s: sh says %q, refuses %q", init, says, refused)
		}
		for _, want := range []string{"OURO_HOME=" + SystemState, "run --standby"} {
			if !strings.Contains(p.Text, want) {
				t.Errorf("%s lacks %s:\n%s", init, want, p.Text)
			}
		}
	}
	if _, ok := ForSystem("upstart", odd, "ann", ""); ok {
		t.Error("upstart is not known here")
	}

	// What OpenRC's script sets, with a supervise-daemon like that of 0.45, which has the option and is asked by its service. Debian
	// has no localmount, which so must not be needed.
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "supervise-daemon"), []byte("#!/bin/sh\n[ \"$*\" = 'ouro --help' ] && echo '  --no-new-privs  Set the flag' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	script, _ := ForSystem("openrc", odd, "ann", "")
	asked := exec.Command("/bin/sh", "-c", "use() { :; }; after() { :; }\n"+script.Text+"depend && echo \"$supervise_daemon_args$no_new_privs\"")
	asked.Env = []string{"PATH=" + bin, "RC_SVCNAME=ouro"}
	if out, err := asked.CombinedOutput(); err != nil || string(out) != "--no-new-privs\n" {
		t.Errorf("the script of OpenRC: %s, %v", out, err)
	}

	// What runit's script does, with other programs in the place of those that need root.
	dir := t.TempDir()
	for name, text := range map[string]string{"install": `printf "%s\\n" "install $*"`, "chpst": `printf "%s\\n" "chpst $* in $OURO_HOME"`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p, _ := ForSystem("runit", odd, "ann", "/etc/service")
	c := exec.Command("/bin/sh", "-c", p.Text)
	c.Env = []string{"PATH=" + dir}
	out, err := c.CombinedOutput()
	if want := "install -d -m 0700 -o ann " + SystemState + "\nchpst -u ann " + odd + " run --standby --output in " + SystemState + "\n"; err != nil || string(out) != want {
		t.Errorf("%v: %s, not %s", err, out, want)
	}
}

// TestSystemInstalls: an installation writes what may be executed, calls what starts it, and is taken
// back whole.
func TestSystemInstalls(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no scripts")
	}
	root, tools := t.TempDir(), t.TempDir()
	level := filepath.Join(root, "level")
	for name, text := range map[string]string{
		"rc-status":  "",
		"rc-update":  `case $1 in add) touch ` + level + `;; del) rm ` + level + `;; esac`,
		"rc-service": `case $2 in start) touch ` + root + `/up;; stop) rm ` + root + `/up;; status) test -e ` + root + `/up;; esac`,
	} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+text+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p, _ := ForSystem("openrc", "/usr/bin/ouro-timer", "ann", "")
	p.Path, p.proof = filepath.Join(root, "init.d", "ouro-timer"), []string{level}
	all := Tools{Path: tools}
	if _, err := p.Install(p.Look(t.Context(), all)).Do(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if is := p.Look(t.Context(), all); !is.Current || !is.Enabled || !is.Runs() {
		t.Errorf("installed: %+v", is)
	}
	if info, err := os.Stat(p.Path); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("the script cannot be executed: %v, %v", info, err)
	}
	if c := p.Install(p.Look(t.Context(), all)); c.Write != "" {
		t.Errorf("installed twice: %+v", c)
	}
	if _, err := p.Uninstall(p.Look(t.Context(), all)).Do(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	if is := p.Look(t.Context(), all); is.Installed || is.Enabled || is.Runs() {
		t.Errorf("removed: %+v", is)
	}
}

// TestInitOf: what manages the machine is known by the folder that it makes.
// TestInstalledUser: a service is looked at, brought up to date and removed with the user that it was installed for.
func TestInstalledUser(t *testing.T) {
	for _, init := range Inits {
		p, _ := ForSystem(init, "/usr/bin/ouro-timer", "backup", "/etc/service")
		p.Path = filepath.Join(t.TempDir(), init)
		if got := p.InstalledUser(); got != "" {
			t.Errorf("%s, not installed: %q", init, got)
		}
		if err := os.WriteFile(p.Path, []byte(p.Text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := p.InstalledUser(); got != "backup" {
			t.Errorf("%s: %q", init, got)
		}
	}
}

func TestInitOf(t *testing.T) {
	for is, want := range map[string]string{"/run/systemd/system": "systemd", "/run/openrc": "openrc", "/run/runit": "runit", "": "systemd"} {
		if got := InitOf(func(path string) bool { return path == is }); got != want {
			t.Errorf("%q: %s", is, got)
		}
	}
}
