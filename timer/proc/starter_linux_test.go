package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/proc/fusetest"
)

// slowly has every start go by way of a starter, while f runs.
func slowly(t *testing.T, f func(t *testing.T)) {
	defer everywhereRisky()()
	t.Run("slowly", f)
}

// everywhereRisky makes every folder of the root a risky mount point, until the function that it returns is called.
func everywhereRisky() (undo func()) {
	risky := map[string]bool{}
	for _, e := range must(os.ReadDir("/")) {
		risky["/"+e.Name()] = true
	}
	was := ownMounts.current()
	set := func(points map[string]bool) {
		ownMounts.mu.Lock()
		defer ownMounts.mu.Unlock()
		ownMounts.risky = points
		ownMounts.safe.clear()
	}
	set(risky)
	return func() { set(was) }
}

// TestStartedSlowly: what is started by way of a starter is as what is started at once, and fails
// with the same words.
func TestStartedSlowly(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"refuses": TestStartRefuses, "vanished": TestVanishedFolderIsErrNotExist, "environment": TestEnvironmentIsExact,
	} {
		t.Run(name, func(t *testing.T) { slowly(t, test) })
	}
	slowly(t, func(t *testing.T) {
		dir := t.TempDir()
		if err := writeProgram(filepath.Join(dir, "bare"), []byte("echo bare \"$@\"; exit 3\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		got, r := output(t, Spec{Argv: []string{"./bare", "a b", ""}, Env: testEnv, Dir: dir, Umask: -1})
		if got != "bare a b \n" || r.ExitCode != 3 {
			t.Errorf("a script without a first line of its kind: %q, %+v", got, r)
		}
		// All that a child inherits, as it says it itself.
		const look = `pwd; umask; ulimit -n; cat /proc/self/comm; ls -l /proc/self/fd | grep -c '[0-9] -> '; grep '^Sig[IB]' /proc/self/status; ps -o pgid=,pid=,ppid= -p $$ | awk '{print ($1 == $2)}'; kill -TERM $$`
		spec := Spec{Argv: ShellText("", look), Env: testEnv, Dir: dir, Umask: 0o027}
		slow, slowEnd := output(t, spec)
		ownMounts.risky = nil
		fast, fastEnd := output(t, spec)
		defer everywhereRisky()()
		if slow != fast || slow == "" || slowEnd.Signal != fastEnd.Signal || slowEnd.Signal != "SIGTERM" {
			t.Errorf("slowly: %+v\n%s\nat once: %+v\n%s", slowEnd, slow, fastEnd, fast)
		}
		large := strings.Repeat("x", 100<<10)
		if got, _ := output(t, Spec{Argv: []string{"echo", large, large}, Env: append(testEnv, "A="+large, "B="+large), Dir: dir, Umask: -1}); got != large+" "+large+"\n" {
			t.Errorf("many words: %d bytes", len(got))
		}
		p, err := Start(Spec{Argv: []string{"sleep", "1000"}, Env: testEnv, Dir: dir, Umask: -1})
		if err != nil {
			t.Fatal(err)
		}
		if id, err := Identify(p.PID()); err != nil || id != p.Identity() {
			t.Errorf("it is %+v, %v, and was said to be %+v", id, err, p.Identity())
		}
		if err := p.Stop(never{}, time.Hour); err != nil || p.Wait().Signal != "SIGTERM" {
			t.Errorf("stopped: %v, %+v", err, p.Wait())
		}
		// Nothing is started before it is allowed to.
		ran := filepath.Join(dir, "ran")
		refused := errors.New("not now")
		_, err = StartWhen(t.Context(), Spec{Argv: []string{"touch", ran}, Env: testEnv, Dir: dir, Umask: -1}, func() error { return refused })
		if _, gone := os.Stat(ran); err != refused || gone == nil {
			t.Errorf("%v, %v", err, gone)
		}
	})
}

// TestViaFinder: another process finds the program, and executes it in its own place.
func TestViaFinder(t *testing.T) {
	if _, _, ok := ViaFinder([]string{"sh"}, "/usr/bin:/bin"); ok {
		t.Skip("a program of the system is where somebody may not answer")
	}
	slowly(t, func(t *testing.T) {
		for _, c := range []struct {
			argv []string
			says string
			code int
		}{
			{[]string{"sh", "-c", "echo $0 $1 $GIVEN; exit 3", "a b", "c"}, "a b c yes\n", 3},
			{[]string{"no-such-program"}, "program \"no-such-program\" not found\n", 127},
			{[]string{"/etc/passwd"}, "program \"/etc/passwd\" cannot be executed: permission denied\n", 126},
		} {
			program, args, ok := ViaFinder(c.argv, "/usr/bin:/bin")
			if !ok {
				t.Fatalf("%q: no finder", c.argv)
			}
			cmd := exec.Command(program)
			cmd.Args, cmd.Env = args, []string{"GIVEN=yes"}
			out, _ := cmd.CombinedOutput() // the exit code says it
			if string(out) != c.says || cmd.ProcessState.ExitCode() != c.code {
				t.Errorf("%q: %d, %q", c.argv, cmd.ProcessState.ExitCode(), out)
			}
		}
	})
}

// TestAFileSystemThatDoesNotAnswer: it stops nothing of ours, neither the start of others nor a
// garbage collection, and is asked by few.
func TestAFileSystemThatDoesNotAnswer(t *testing.T) {
	silent := fusetest.Mount(t)
	defer func(d time.Duration) { answerTimeout = d }(answerTimeout)
	answerTimeout = 500 * time.Millisecond
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(silent.Dir, link); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := writeProgram(script, []byte("#!"+silent.Dir+"/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	specs := []Spec{
		{Argv: []string{"true"}, Dir: silent.Dir},
		{Argv: []string{"true"}, Dir: link + "/below"},
		{Argv: []string{silent.Dir + "/program"}, Dir: "/"},
		{Argv: []string{"program"}, Dir: "/", Env: []string{"PATH=" + silent.Dir + ":/bin"}},
		{Argv: []string{script}, Dir: "/"},
		{Argv: ShellText("", "echo a; echo b"), Dir: silent.Dir},
		{Argv: ShellText("", "true"), Dir: silent.Dir},
	}
	began := time.Now()
	for i, spec := range specs {
		if spec.Umask = -1; spec.Env == nil {
			spec.Env = testEnv
		}
		if !spec.MayHang() {
			t.Errorf("case %d: it is not known that it may hang", i)
			continue
		}
		done := make(chan error)
		go func() {
			_, err := Start(spec)
			done <- err
		}()
		runtime.GC()
		if got, r := sh(t, "echo goes on"); got != "goes on\n" || r.ExitCode != 0 {
			t.Errorf("another one: %q, %+v", got, r)
		}
		if err := <-done; !errors.Is(err, ErrNoAnswer) || !Passing(err) || Short(err) {
			t.Errorf("case %d: %v", i, err)
		}
	}
	stuck.mu.Lock()
	n := len(stuck.mount)
	stuck.mu.Unlock()
	if n > maxStuckPerMount {
		t.Errorf("%d starters wait, after %v", n, time.Since(began))
	}
	for _, spec := range []Spec{{Argv: []string{"true"}, Dir: "/"}, {Argv: []string{"true"}, Dir: filepath.Dir(silent.Dir)}} {
		if spec.Env = testEnv; spec.MayHang() {
			t.Errorf("%+v may hang", spec)
		}
	}
	// A deadline that comes sooner bounds the wait, and is not an end of the caller's.
	answerTimeout = time.Hour
	within, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Probe(within, Spec{Argv: []string{"true"}, Dir: silent.Dir, Env: testEnv}); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("a probe with a deadline: %v", err)
	}
	answerTimeout = 500 * time.Millisecond
	// What its end is asked of is given up at once.
	if Probe(t.Context(), Spec{Argv: []string{"true"}, Dir: silent.Dir, Env: testEnv}) == nil {
		t.Error("the probe has an answer")
	}

	// When it answers, all go on.
	silent.Answer(true)
	eventually(t, "no starter waits", func() bool {
		stuck.mu.Lock()
		defer stuck.mu.Unlock()
		return len(stuck.mount) == 0
	})
	answerTimeout = time.Minute
	if err := Probe(t.Context(), Spec{Argv: []string{"true"}, Dir: silent.Dir, Env: testEnv}); err != nil {
		t.Error(err)
	}
	if got, r := output(t, Spec{Argv: []string{"pwd"}, Dir: silent.Dir, Env: testEnv, Umask: -1}); got != silent.Dir+"\n" || r.ExitCode != 0 {
		t.Errorf("%q, %+v", got, r)
	}
	silent.Answer(false)
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, stop)
	if _, err := StartWhen(ctx, Spec{Argv: []string{"true"}, Dir: silent.Dir, Env: testEnv, Umask: -1}, func() error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("told to give up: %v", err)
	}
}

// TestRiskyMounts are read from the kernel's table.
func TestRiskyMounts(t *testing.T) {
	got := riskyMounts(`24 1 0:22 / / rw - nfs4 server:/root rw
25 24 0:23 / /proc rw,nosuid shared:5 - proc proc rw
26 24 8:1 / /home rw - ext4 /dev/sda1 rw
27 26 0:40 / /home/me/with\040a\040space rw,relatime shared:1 master:2 - fuse.sshfs me@host: rw
28 24 0:41 / /mnt/share rw - cifs //host/share rw
29 24 0:42 / /net rw - autofs auto.net rw
30 24 0:43 / /odd\134 rw - somethingnew x rw
broken
`)
	if fmt.Sprint(got) != `map[/home/me/with a space:true /mnt/share:true /net:true /odd\:true]` {
		t.Error(got)
	}
}

// TestStartersAreLeftAlone: who calls this program by the name of the starter starts nothing.
func TestStartersAreLeftAlone(t *testing.T) {
	for _, say := range []string{"", "\x00\x00\x00\x05a", "\x00\x00\x00\x04a\x009\x00"} {
		r, w := must2(os.Pipe())
		w.WriteString(say)
		w.Close()
		p, err := os.StartProcess("/proc/self/exe", []string{starterName}, &os.ProcAttr{Files: []*os.File{nil, nil, nil, r}})
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		if s := must(p.Wait()); s.ExitCode() != 126 {
			t.Errorf("%q: %v", say, s)
		}
	}
	for _, want := range []*StartError{{"chdir", "/x", syscall.EACCES}, {"start", "/x", missingInterpreter("/bin/sh")}, {"find", "x", errors.New("something")}} {
		if got := failureOf(want).failure(); got.Error() != want.Error() {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func must2[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}
