package proc

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestPriorities(t *testing.T) {
	ours := strings.Fields(string(must(os.ReadFile("/proc/self/stat"))))[18]
	if ours != "0" {
		t.Skip("the tests are nice themselves")
	}
	text, r := output(t, Spec{Argv: []string{"cat", "/proc/self/stat"}, Dir: "/", Env: testEnv, Umask: -1, Limits: Limits{Nice: 5}})
	if fields := strings.Fields(text); r.ExitCode != 0 || len(fields) < 19 || fields[18] != "5" || fields[1] != "(cat)" {
		t.Errorf("%+v: %s", r, text)
	}
	if _, err := exec.LookPath("ionice"); err == nil {
		text, _ = output(t, Spec{Argv: []string{"sh", "-c", "exec ionice -p $$"}, Dir: "/", Env: testEnv, Umask: -1, Limits: Limits{IO: must(ParseIOPriority("best-effort:7"))}})
		if strings.TrimSpace(text) != "best-effort: prio 7" {
			t.Errorf("ionice says %q", text)
		}
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("echo \"$0 $*\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if text, r = output(t, Spec{Argv: []string{script, "a", "b c"}, Dir: "/", Env: testEnv, Umask: -1, Limits: Limits{Nice: 1}}); r.ExitCode != 0 || text != script+" a b c\n" {
		t.Errorf("%+v: %q", r, text)
	}
	_, err := Start(Spec{Argv: []string{"no-such-program"}, Dir: "/", Env: testEnv, Umask: -1, Limits: Limits{Nice: 1}})
	if se := new(StartError); !errors.As(err, &se) || se.ExitCode() != 127 {
		t.Errorf("a program that is not there: %v", err)
	}
}

func TestCgroupFolder(t *testing.T) {
	const unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
	const hybrid = "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n32 30 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	const below = "40 23 0:26 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup rw\n"
	for _, row := range []struct{ mounts, mine, want string }{
		{unified, "0::/system.slice/ouro-timer.service\n", "/sys/fs/cgroup/system.slice/ouro-timer.service"},
		{unified, "0::/\n", "/sys/fs/cgroup"},
		{hybrid, "4:memory:/x\n0::/user.slice\n", "/sys/fs/cgroup/unified/user.slice"},
		{below, "0::/docker/abc/ouro-runner\n", "/sys/fs/cgroup/ouro-runner"},
		{below, "0::/elsewhere\n", ""},
		{hybrid, "4:memory:/x\n", ""},
		{"", "0::/\n", ""},
	} {
		if got, err := cgroupIn(row.mounts, row.mine); got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%q in %q: %q, %v", row.mine, row.mounts, got, err)
		}
	}
}

// TestBounds writes into a folder that stands for a cgroup: which controllers there are is the machine's business.
func TestBounds(t *testing.T) {
	root := t.TempDir()
	s := Spec{Cgroups: &Cgroups{root}, Unit: "ouro-k7m2-1-1", Limits: Limits{Memory: 64 << 20, CPU: 150}}
	_, err := s.makeCgroup()
	if le := new(LimitError); !errors.As(err, &le) || !strings.Contains(err.Error(), "no controller memory") {
		t.Errorf("without controllers: %v", err)
	}
	if _, err := os.Stat(filepath.Join(root, s.Unit)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left there: %v", err)
	}
	if err := os.Mkdir(filepath.Join(root, s.Unit), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"memory.max", "memory.oom.group", "cpu.max"} {
		if err := os.WriteFile(filepath.Join(root, s.Unit, file), []byte("max"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g := cgroup{filepath.Join(root, s.Unit), true}
	if err := g.setLimits(s.Limits); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"memory.max": "67108864", "memory.oom.group": "1", "cpu.max": "150000 100000"} {
		if got := string(must(os.ReadFile(filepath.Join(g.path, file)))); got != want {
			t.Errorf("%s has %q, and not %q", file, got, want)
		}
	}
	for text, want := range map[string]bool{"low 0\noom 1\noom_kill 1\n": true, "oom 3\noom_kill 0\n": false, "": false} {
		if err := os.WriteFile(filepath.Join(g.path, "memory.events"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := g.remove(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// testCgroup makes a cgroup below that of the tests.
func testCgroup(t *testing.T) string {
	t.Helper()
	own, err := cgroupFolder("/proc/self")
	if err != nil {
		t.Skip(err)
	}
	root := filepath.Join(own, "test-"+filepath.Base(t.TempDir())+strings.ReplaceAll(time.Now().Format("150405.000000"), ".", ""))
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Skip("no cgroup can be made here: ", err)
	}
	t.Cleanup(func() { os.Remove(root) })
	return root
}

// TestCloneRefused: as in a unit of systemd with RestrictNamespaces=, no process can be started in a cgroup.
func TestCloneRefused(t *testing.T) {
	root := testCgroup(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("umask\ncat /proc/self/cgroup\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	text, err := helper(t, "cloneRefused", root, script).Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Skip("the helper can do nothing here: ", string(text))
	}
	if err != nil || !strings.HasPrefix(string(text), "0051\n") || !strings.HasSuffix(string(text), filepath.Base(root)+"/ouro-k7m2-1-1\n") {
		t.Errorf("%q, %v", text, err)
	}
}

func init() {
	helpers["cloneRefused"] = func(args []string) int {
		runtime.LockOSThread()
		filter := []unix.SockFilter{
			{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the system call
			{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_CLONE3},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
			{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		}
		program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		_, _, refused := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
		if err != nil || refused != 0 {
			os.Stdout.WriteString(refused.Error())
			return 77
		}
		spec := Spec{Argv: args[1:], Dir: "/", Env: testEnv, Umask: 0o051, Stdout: os.Stdout, Cgroups: &Cgroups{args[0]}, Unit: "ouro-k7m2-1-1"}
		p, err := Start(spec)
		if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EOPNOTSUPP) {
			os.Stdout.WriteString(err.Error())
			return 77
		}
		if err != nil {
			os.Stdout.WriteString(err.Error())
			return 1
		}
		code := p.Wait().ExitCode
		spec.Argv, spec.Dir = []string{"true"}, "/no/such/folder"
		if _, err := Start(spec); err == nil || !strings.Contains(err.Error(), "/no/such/folder") {
			os.Stdout.WriteString("no error of the folder: " + err.Error())
			return 1
		}
		return code
	}
}

// TestStopReachesTheCgroup: what has made a session of its own is ended with the child, whoever started that.
func TestStopReachesTheCgroup(t *testing.T) {
	root := testCgroup(t)
	for _, adopted := range []bool{false, true} {
		dir := t.TempDir()
		p, err := Start(Spec{Argv: []string{"sh", "-c", "setsid sh -c 'trap \"echo asked >>asked\" TERM; echo $$ >>pids; while :; do sleep 0.02; done' & wait"}, Dir: dir,
			Env: testEnv, Umask: -1, Cgroups: &Cgroups{root}, Unit: "ouro-k7m2-1-1"})
		if errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EBUSY) || errors.Is(err, syscall.EOPNOTSUPP) {
			t.Skip("no process can be started in a cgroup here: ", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		detached := identities(t, filepath.Join(dir, "pids"), 1)[0]
		stopped := p
		if adopted {
			stopped = Adopt(t.Context(), p.Identity())
		}
		grace, over := make(gate), make(chan error)
		go func() { over <- stopped.Stop(grace, 10*time.Second) }()
		lines(t, filepath.Join(dir, "asked"), 1)
		close(grace)
		if err := <-over; err != nil {
			t.Fatal(err)
		}
		p.Wait()
		for detached.Alive() {
			time.Sleep(time.Millisecond)
		}
	}
	for { // a cgroup can be dropped when the last of its processes is gone, which takes a moment
		c := must(claimCgroup(root))
		entries := must(filepath.Glob(filepath.Join(c.root, "ouro-k7m2*")))
		if len(entries) == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	os.Remove(filepath.Join(root, runnerCgroup))
}

// TestScope starts a command by a stand-in for systemd-run, which executes it in its own place.
func TestScope(t *testing.T) {
	bin := t.TempDir()
	systemdRuns = bin
	defer func() { systemdRuns = "/run/systemd/system" }()
	script := "#!/bin/sh\nfor w; do shift; case $w in --) exec \"$@\" ;; *) echo \"$w\" ;; esac; done\n"
	if err := os.WriteFile(filepath.Join(bin, "systemd-run"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	text, r := output(t, Spec{Argv: []string{"sh", "-c", "echo ran"}, Dir: "/", Env: append(testEnv, "XDG_RUNTIME_DIR=/run"), Umask: -1,
		Unit: "ouro-k7m2-1-1", Limits: Limits{Memory: 1 << 30, CPU: 50}})
	for _, want := range []string{"--scope\n", "--unit=ouro-k7m2-1-1\n", "--property=MemoryMax=1073741824\n", "--property=CPUQuota=50%\n", "ran\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing: %+v: %s", want, r, text)
		}
	}
}

func TestOfRun(t *testing.T) {
	for name, want := range map[string]bool{
		"ouro-k7m2-1-1": true, "ouro-k7m2-12-3.1": true, "ouro-k7m2-1-1.scope": true,
		"ouro-timer.service": false, "ouro-timer-srv-1-2.service": false, runnerCgroup: false, "k7m2-1-1": false, "ouro-.scope": false,
	} {
		if got := ofRun(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestDelegated asks a stand-in for systemctl.
func TestDelegated(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	const app = "/user.slice/user@1000.service/app.slice/"
	for _, row := range []struct {
		answer string
		main   bool // systemd started this process
		want   bool
	}{
		{"Delegate=yes\nControlGroup=" + app + "ouro-timer.service", true, true},
		{"ControlGroup=" + app + "ouro-timer.service\nDelegate=yes", true, true},
		{"Delegate=no\nControlGroup=" + app + "ouro-timer.service", true, false},
		{"Delegate=yes\nControlGroup=/elsewhere/ouro-timer.service", true, false},
		{"Delegate=yes\nControlGroup=", true, false},
		{"", true, false},
		{"Delegate=yes\nControlGroup=" + app + "ouro-timer.service", false, false},
	} {
		script := "#!/bin/sh\ntest \"$*\" = '--user show --property=Delegate,ControlGroup -- ouro-timer.service' && echo '" + row.answer + "'\n"
		if err := os.WriteFile(filepath.Join(bin, "systemctl"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("SYSTEMD_EXEC_PID", "1")
		if row.main {
			t.Setenv("SYSTEMD_EXEC_PID", strconv.Itoa(os.Getpid()))
		}
		if got := delegated("/sys/fs/cgroup" + app + "ouro-timer.service"); got != row.want {
			t.Errorf("%+v: %v", row, got)
		}
	}
}
