package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func init() {
	helpers["child-of-nohup"] = childOfNohup
}

// childOfNohup starts a program as a child, detached or in the foreground, and lets it write to a file.
func childOfNohup(args []string) int {
	way, path, argv := args[0], args[1], args[2:]
	out := must(os.Create(path))
	if way == "detached" {
		id := must(Detach(argv, testEnv, out))
		must(0, WaitGone(ctxWithPatience(), id))
		return 0
	}
	if way == "child without a thread for it" {
		spawner = func() chan<- spawnRequest { return nil }
	}
	spec := Spec{Argv: argv, Env: testEnv, Stdout: out, Umask: -1, Foreground: way == "foreground"}
	must(Start(spec)).Wait()
	return 0
}

// afterNohup runs the helper in a process that has signals ignored and blocked, and descriptors 9 and 251 open, and
// returns what the program it started wrote.
func afterNohup(t *testing.T, way string, argv ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	cmd := helper(t, "child-of-nohup", append([]string{way, path}, argv...)...)
	cmd.Args = append([]string{"sh", "-c", `trap "" HUP INT QUIT TERM USR1 TSTP TTIN PIPE; exec "$0" "$@"`, cmd.Path},
		cmd.Args[1:]...)
	cmd.Path = shell
	lock := must(os.Create(filepath.Join(t.TempDir(), "lock")))
	defer lock.Close()
	cmd.ExtraFiles = make([]*os.File, 249)
	cmd.ExtraFiles[9-3], cmd.ExtraFiles[251-3] = lock, lock

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var block, old unix.Sigset_t
	for _, sig := range []unix.Signal{unix.SIGTERM, unix.SIGUSR2, unix.SIGCHLD} {
		block.Val[0] |= 1 << (sig - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &block, &old); err != nil {
		t.Fatal(err)
	}
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return string(must(os.ReadFile(path)))
}

func TestSignalsAreNotInherited(t *testing.T) {
	for _, way := range []string{"child", "child without a thread for it", "detached"} {
		status := afterNohup(t, way, "/bin/cat", "/proc/self/status")
		ignored := regexp.MustCompile(`SigIgn:\t(\w+)`).FindStringSubmatch(status)
		blocked := regexp.MustCompile(`SigBlk:\t(\w+)`).FindStringSubmatch(status)
		if ignored == nil || blocked == nil {
			t.Fatalf("%s: no signals in %q", way, status)
		}
		if strings.Trim(ignored[1], "0") != "" {
			t.Errorf("%s: ignored signals are inherited: %s", way, ignored[1])
		}
		if strings.Trim(blocked[1], "0") != "" {
			t.Errorf("%s: blocked signals are inherited: %s", way, blocked[1])
		}
	}
}

// TestForegroundKeepsIgnoredSignals: nohup in front of a command that runs another in the foreground reaches that one.
func TestForegroundKeepsIgnoredSignals(t *testing.T) {
	status := afterNohup(t, "foreground", "/bin/cat", "/proc/self/status")
	var mask uint64
	for _, line := range strings.Split(status, "\n") {
		if rest, found := strings.CutPrefix(line, "SigIgn:"); found {
			must(fmt.Sscanf(rest, "%x", &mask))
		}
	}
	if mask&(1<<(unix.SIGHUP-1)) == 0 {
		t.Errorf("HUP is not ignored any more: %x", mask)
	}
}

func TestDescriptorsAreNotInherited(t *testing.T) {
	for way, want := range map[string]bool{"child": false, "detached": false, "foreground": true} {
		open := strings.Fields(afterNohup(t, way, "/bin/ls", "/proc/self/fd"))
		got := map[string]bool{}
		for _, fd := range open {
			got[fd] = true
		}
		for _, fd := range []string{"9", "251"} {
			if got[fd] != want {
				t.Errorf("%s: descriptor %s open is %v, want %v: %v", way, fd, got[fd], want, open)
			}
		}
		// ls itself has the folder open.
		if !want && len(open) != 4 {
			t.Errorf("%s: the child has %v open, want 0 to 2 and one of its own", way, open)
		}
	}
}

func TestMarkDescriptors(t *testing.T) {
	fd := must(unix.Dup(1)) // without close-on-exec
	defer unix.Close(fd)
	if err := markDescriptors(); err != nil {
		t.Fatal(err)
	}
	if flags := must(unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)); flags&unix.FD_CLOEXEC == 0 {
		t.Error("the descriptor would be inherited")
	}
}

// TestChildrenHoldNoThread: waiting for many children takes none of the process's threads.
func TestChildrenHoldNoThread(t *testing.T) {
	threads := func() int { return len(must(os.ReadDir("/proc/self/task"))) }
	before := threads()
	const children = 60
	for range children {
		p, err := Start(Spec{Argv: []string{"sleep", "300"}, Env: testEnv, Umask: -1})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Stop(never{}, 0)
		if p.child.pidfd < 0 {
			t.Skip("this kernel has no pidfd")
		}
	}
	if after := threads(); after-before > children/2 {
		t.Errorf("%d threads, and %d with %d children", before, after, children)
	}
}

func TestWaitWithoutPidfd(t *testing.T) {
	p := newProcess(t.Context())
	cmd := exec.Command("sh", "-c", "exit 6")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.pid, p.child.pidfd = cmd.Process.Pid, -1
	go p.watch()
	if r := p.Wait(); r.ExitCode != 6 {
		t.Errorf("ended with %+v, want 6", r)
	}
}
