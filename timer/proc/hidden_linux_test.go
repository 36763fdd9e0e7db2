package proc

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process that /proc does not show is dead only when its number is nobody's.
func TestHiddenProcessIsAlive(t *testing.T) {
	p, _ := startShell(t, "sleep 1000")
	id := p.Identity()
	if id.Start == 0 {
		t.Fatal("its start is not known")
	}
	hideProcesses(t)
	if _, err := readStat(id.PID); err == nil {
		t.Fatal("it is not hidden")
	}
	if !id.Alive() {
		t.Fatal("it is taken for dead")
	}
	for name, change := range map[string]func(*Identity){
		"another boot":        func(id *Identity) { id.Boot = "0" },
		"another namespace":   func(id *Identity) { id.PIDNS = "1" },
		"a number nobody has": func(id *Identity) { id.PID = 1 << 30 },
		"a group":             func(id *Identity) { id.PID = -id.PID },
	} {
		other := id
		if change(&other); other.Alive() {
			t.Errorf("%s: alive", name)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := WaitGone(ctx, id); err != context.DeadlineExceeded {
		t.Errorf("waiting for its end: %v", err)
	}
	if err := EndGroup(ctxWithPatience(), id, never{}, time.Hour); err != nil {
		t.Error(err)
	}
	if r := p.Wait(); r.Signal != "SIGTERM" {
		t.Errorf("it ended with %+v", r)
	}
	if id.Alive() {
		t.Error("it is alive after its end")
	}
}

func init() {
	// hidden starts the program it is given as nobody, behind hidepid, and prints what is known of it.
	helpers["hidden"] = func(args []string) int {
		if err := unix.Mount("proc", "/proc", "proc", 0, "hidepid=2"); err != nil {
			fmt.Println("skip:", err)
			return 0
		}
		for _, err := range []error{syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)} {
			if err != nil {
				fmt.Println("skip:", err)
				return 0
			}
		}
		init := identify(1)
		fmt.Println("init", init.Start != 0, init.Alive())
		p, err := Start(Spec{Argv: []string{args[0], "1000"}, Env: testEnv, Dir: "/", Umask: -1})
		if err != nil {
			fmt.Println(err)
			return 1
		}
		id := p.Identity()
		fmt.Println("started", id.Start != 0, id.Alive())
		id.Start = 4242 // as noted by a runner who could see it, or had a clock for it
		fmt.Println("noted", id.Alive())
		err = p.Stop(never{}, 0)
		fmt.Println("ended", err, id.Alive())
		return 0
	}
}

// The kernel itself hides a program that we may not read.
func TestHidepid(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only the superuser mounts /proc")
	}
	dir := t.TempDir()
	sleep := dir + "/sleep"
	for _, err := range []error{
		writeProgram(sleep, must(os.ReadFile("/bin/sleep")), 0o700),
		os.Chmod(sleep, 0o711),
		os.Chmod(filepath.Dir(dir), 0o711),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := helper(t, "hidden", sleep)
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := c.Output()
	if err != nil && len(out) == 0 {
		t.Skipf("no mount namespace: %v", err)
	}
	got := string(out)
	if strings.HasPrefix(got, "skip:") {
		t.Skip(strings.TrimSpace(got))
	}
	if want := "init false true\nstarted false true\nnoted true\nended <nil> false\n"; err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("it says\n%s%v\nwant\n%s", got, err, want)
	}
}

// hideProcesses makes /proc show these alone, for the time of a test.
func hideProcesses(t *testing.T, shown ...int) {
	t.Helper()
	dir := t.TempDir()
	for _, pid := range shown {
		if err := os.Symlink("/proc/"+strconv.Itoa(pid), dir+"/"+strconv.Itoa(pid)); err != nil {
			t.Fatal(err)
		}
	}
	saved := procDir
	t.Cleanup(func() { procDir = saved })
	procDir = dir
}
