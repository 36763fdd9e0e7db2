package cmd

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// caller runs the real program with a state folder, as some user.
type caller struct {
	t    *testing.T
	self string
	home string
	uid  uint32 // 0: whoever runs the test

	autostart bool
}

// env are the variables of its calls.
func (c caller) env() []string {
	env := []string{"OURO_HOME=" + c.home, "TZ=UTC", "PATH=/usr/bin:/bin", "HOME=/", "GORACE=atexit_sleep_ms=0"}
	if !c.autostart {
		env = append(env, "OURO_AUTOSTART=0")
	}
	return env
}

// call returns what it said and how it ended.
func (c caller) call(args ...string) (stdout, stderr string, code int) {
	c.t.Helper()
	cmd := exec.Command(c.self)
	cmd.Args = append([]string{"ouro-timer"}, args...)
	cmd.Dir = "/"
	cmd.Env = c.env()
	if c.uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: c.uid}}
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// wants calls and looks for the exit code and for words in what was said, on either stream.
func (c caller) wants(code int, words string, args ...string) string {
	c.t.Helper()
	out, errs, got := c.call(args...)
	if got != code || !strings.Contains(out+errs, words) {
		c.t.Errorf("ouro-timer %s: exit %d, want %d and %q:\n%s%s", strings.Join(args, " "), got, code, words, out, errs)
	}
	return out
}

// asRoot is a caller whose folder is on a small file system of its own.
func asRoot(t *testing.T, size string) (c caller, mount string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small file system")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mount = t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		t.Skipf("no small file system can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return caller{t: t, self: self, home: filepath.Join(mount, "ouro")}, mount
}

// TestFullDiskToUsers: what at has confirmed is there, what it could not keep is not, and it says what to do.
func TestFullDiskToUsers(t *testing.T) {
	clocktest.Alone(t)
	t.Parallel()
	c, mount := asRoot(t, "192k")
	kept := map[string]bool{}
	text := strings.Repeat("x", 3000)
	full := false
	for range 500 {
		out, errs, code := c.call("at", "2030-01-01T00:00:00Z", "-q", "--task", text, "--", "true")
		if code == cli.ExitOK {
			kept[strings.TrimSpace(out)] = true
			continue
		}
		if code != cli.ExitState || !strings.Contains(errs, "no space left on device") || !strings.Contains(errs, "hint: free space on the disk") {
			t.Fatalf("exit %d: %s", code, errs)
		}
		full = true
		break
	}
	if !full || len(kept) < 3 {
		t.Fatalf("full: %v after %d tasks", full, len(kept))
	}
	found := 0
	for line := range strings.Lines(c.wants(cli.ExitOK, "", "ls")) {
		id, _, _ := strings.Cut(line, "\t")
		if !kept[id] {
			t.Errorf("%s was never confirmed", id)
		}
		found++
	}
	if found != len(kept) {
		t.Errorf("%d of %d are there", found, len(kept))
	}
	c.wants(cli.ExitFailed, "bad\tdisk\tthe disk is full", "doctor")
	// to the last byte, so that not even the log can say why a runner ends
	_ = os.WriteFile(filepath.Join(mount, "rest"), make([]byte, 1<<20), 0o600)
	c.wants(cli.ExitFailed, "the runner that was started has ended", "run", "--background")
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT, "size=4m"); err != nil {
		t.Fatal(err)
	}
	c.wants(cli.ExitOK, "", "at", "2030-01-01T00:00:00Z", "-q", "--", "true")
	c.wants(cli.ExitFailed, "warn\tdisk\tthe disk is nearly full", "doctor") // bad is that no runner lives
}

// TestReadOnlyDiskToUsers: all can be read, nothing written, and it is said why.
func TestReadOnlyDiskToUsers(t *testing.T) {
	clocktest.Alone(t)
	c, mount := asRoot(t, "1m")
	id := strings.TrimSpace(c.wants(cli.ExitOK, "", "at", "2030-01-01T00:00:00Z", "-q", "--", "true"))
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	const hint = "hint: make the file system writable, or set OURO_HOME"
	for _, args := range [][]string{{"at", "1h", "--", "true"}, {"rm", id}, {"run", "--once"}} {
		c.wants(cli.ExitState, "read-only file system", args...)
		c.wants(cli.ExitState, hint, args...)
	}
	c.wants(cli.ExitOK, id, "ls")
	c.wants(cli.ExitOK, id, "show", id)
	c.wants(cli.ExitOK, "created", "log", "--json")
	c.wants(cli.ExitFailed, "cannot be written: read-only file system\tmake the file system writable", "doctor", "--fix")
	if err := syscall.Mount("tmpfs", mount, "tmpfs", syscall.MS_REMOUNT, ""); err != nil {
		t.Fatal(err)
	}
	c.wants(cli.ExitOK, "removed "+id, "rm", id)
}

// TestOthersFolderToUsers: a folder of another user is refused, also to root, and nothing in it is changed.
func TestOthersFolderToUsers(t *testing.T) {
	clocktest.Alone(t)
	c, _ := asRoot(t, "1m")
	c.wants(cli.ExitOK, "", "at", "2030-01-01T00:00:00Z", "-q", "--", "true")
	for _, place := range []string{"", "timers", "runs/open"} {
		path := filepath.Join(c.home, place)
		if err := os.Chown(path, 4711, 4711); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"at", "1h", "--", "true"}, {"ls"}, {"run", "--once"}} {
			c.wants(cli.ExitState, path+" belongs to user 4711 and this is user 0\nhint: run it as that user", args...)
		}
		c.wants(cli.ExitFailed, "bad\tfolder\t"+path+" belongs to user 4711", "doctor", "--fix")
		if err := os.Chown(path, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	c.wants(cli.ExitOK, "pending", "ls")
}

// TestNoPermissionToUsers: what may not be read is an error that says so, never an empty answer.
func TestNoPermissionToUsers(t *testing.T) {
	clocktest.Alone(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	const nobody = 65534
	dir, err := os.MkdirTemp("", "ouro-nobody-") // the test's own folder is closed to others
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := caller{t: t, self: filepath.Join(dir, "ouro-timer"), home: filepath.Join(dir, "nobodys", "home"), uid: nobody}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(own)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(c.self, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	nobodys := filepath.Join(dir, "nobodys")
	if err := errors.Join(err, to.Close(), os.Chmod(dir, 0o755), os.Mkdir(nobodys, 0o700), os.Chown(nobodys, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(c.wants(cli.ExitOK, "", "at", "2030-01-01T00:00:00Z", "-q", "--", "true"))
	tasks, err := filepath.Glob(filepath.Join(c.home, "timers", "*.toml"))
	if err != nil || len(tasks) != 1 {
		t.Fatal(tasks, err)
	}
	for _, place := range []string{"timers", "runs/open", "timers/paused", ""} {
		path := filepath.Join(c.home, place)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		c.wants(cli.ExitState, "permission denied", "ls")
		if place == "" || place == "timers" { // the others it has no use for
			c.wants(cli.ExitState, "permission denied", "at", "1h", "--", "true")
		}
		c.wants(cli.ExitFailed, path+" has the permissions 0000: its owner cannot use it\tchmod u+rwx "+path, "doctor")
		c.wants(cli.ExitFailed, "fixed\tfolder\t"+path, "doctor", "--fix")
		c.wants(cli.ExitOK, id, "ls")
	}
	if err := os.Chmod(tasks[0], 0); err != nil {
		t.Fatal(err)
	}
	c.wants(cli.ExitState, "permission denied", "ls")
	c.wants(cli.ExitFailed, "bad\tfiles\t"+tasks[0]+" may not be read; its task does not run\tchmod u+rw ", "doctor")
	c.wants(cli.ExitFailed, "fixed\tfiles\t"+tasks[0], "doctor", "--fix")
	c.wants(cli.ExitOK, id, "ls")
	if err := os.Chmod(nobodys, 0); err != nil { // a folder above
		t.Fatal(err)
	}
	c.wants(cli.ExitState, "permission denied", "ls")
	c.wants(cli.ExitFailed, "bad\tfolder\t", "doctor", "--fix")
}

// TestDoctorAndTheClock: a clock that is long past or behind the ledger is told, one that was moved a little is not.
func TestDoctorAndTheClock(t *testing.T) {
	home := filepath.Join(t.TempDir(), "home")
	at := func(now time.Time, args ...string) (string, int) {
		var out bytes.Buffer
		w := cli.Real()
		w.Out, w.Err, w.Clock = &out, &out, clocktest.NewManual(now)
		w.Environ = func() []string { return nil }
		w.Getenv = func(name string) string {
			return map[string]string{"OURO_HOME": home, "TZ": "UTC", "OURO_AUTOSTART": "0", "PATH": "/usr/bin:/bin"}[name]
		}
		code := Main(append([]string{"ouro-timer"}, args...), w)
		return out.String(), code
	}
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	if out, code := at(now, "at", "2030-01-01T00:00:00Z", "-q", "--task", "tea"); code != cli.ExitOK {
		t.Fatal(out)
	}
	for _, c := range []struct {
		now  time.Time
		want string
	}{
		{now.Add(time.Minute), "ok\tclock\tit is Mon 23 Nov 2026 09:01:00 UTC"},
		{now.Add(-2 * time.Hour), "ok\tclock\t"},
		{now.Add(-4 * time.Hour), "bad\tclock\tthe clock says Mon 23 Nov 2026 05:00:00 UTC, and the last line of the ledger was written at Mon 23 Nov 2026 09:00:00 UTC"},
		{time.Date(1970, 1, 1, 0, 5, 0, 0, time.UTC), "bad\tclock\tthe clock says Thu 1 Jan 1970 00:05:00 UTC, which is long past"},
		{now.Add(10 * 365 * 24 * time.Hour), "bad\toverdue\t"},
	} {
		if out, _ := at(c.now, "doctor"); !strings.Contains(out, c.want) {
			t.Errorf("at %v: want %q in\n%s", c.now, c.want, out)
		}
	}
	if out, code := at(now.Add(-4*time.Hour), "run", "--once"); code != cli.ExitOK {
		t.Fatal(out)
	}
	if out, _ := at(now.Add(-4*time.Hour), "doctor"); !strings.Contains(out, "and has shown Mon 23 Nov 2026 09:00:00 UTC, 4 hours later; a runner has seen it stay so for 0s\t") {
		t.Errorf("after a runner has seen it:\n%s", out)
	}
}
