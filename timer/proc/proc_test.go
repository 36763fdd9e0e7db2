//go:build unix

package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestResult(t *testing.T) {
	tests := []struct {
		text   string
		code   int
		signal string
	}{
		{"true", 0, ""},
		{"exit 1", 1, ""},
		{"exit 75", 75, ""},
		{"exit 255", 255, ""},
		{"no-such-command", 127, ""},
		{"kill -TERM $$", -1, "SIGTERM"},
		{"kill -KILL $$", -1, "SIGKILL"},
		{"kill -USR1 $$", -1, "SIGUSR1"},
		{"kill -40 $$", -1, "signal 40"}, // a real-time signal
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			before := time.Now()
			_, r := sh(t, tt.text)
			if r.ExitCode != tt.code || r.Signal != tt.signal {
				t.Errorf("ended with code %d, signal %q; want %d, %q", r.ExitCode, r.Signal, tt.code, tt.signal)
			}
			if r.Started.Before(before) || r.Ended.Before(r.Started) || r.Ended.After(time.Now()) {
				t.Errorf("from %v to %v does not lie within the test", r.Started, r.Ended)
			}
		})
	}
}

func TestResultCountsResources(t *testing.T) {
	_, r := sh(t, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done")
	if busy := r.User + r.System; busy < time.Millisecond || busy > 10*time.Minute {
		t.Errorf("100,000 rounds of a shell took %v of processor time", busy)
	}
	if runtime.GOOS == "linux" { // it holds less than a test does, which the system counts as its own
		if r.MaxRSS != 0 {
			t.Errorf("a shell held %d bytes, and up to %d are ours", r.MaxRSS, rssFloor())
		}
	} else if r.MaxRSS < 100<<10 || r.MaxRSS > 1<<40 {
		t.Errorf("a shell held %d bytes", r.MaxRSS)
	}
	large := 2*rssFloor() + 10<<20
	if _, r = sh(t, fmt.Sprintf("exec dd if=/dev/zero of=/dev/null bs=%d count=1", large)); r.ExitCode != 0 || r.MaxRSS < large || r.MaxRSS > 2*large {
		t.Errorf("dd with %d bytes ended with %d and held %d", large, r.ExitCode, r.MaxRSS)
	}
}

func TestStartRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) {
		if err := writeProgram(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	file("plain", "echo never", 0o644)
	file("lost", "#!/no/such/interpreter\n", 0o755)
	file("binary", "\x7fELF\x00nothing", 0o755)
	gone := filepath.Join(dir, "gone")

	tests := []struct {
		name string
		spec Spec
		op   string
		code int
		says string
	}{
		{"nothing", Spec{}, "find", 127, `program "" not found`},
		{"no such program in PATH", Spec{Argv: []string{"no-such-program"}}, "find", 127,
			`program "no-such-program" not found`},
		{"no such file", Spec{Argv: []string{"./none"}}, "find", 127, `program "./none" not found`},
		{"no permission", Spec{Argv: []string{"./plain"}}, "find", 126,
			`program "./plain" cannot be executed: permission denied`},
		{"a folder", Spec{Argv: []string{dir}}, "find", 126,
			fmt.Sprintf("program %q cannot be executed: is a directory", dir)},
		{"no interpreter", Spec{Argv: []string{"./lost"}}, "start", 127, "its interpreter /no/such/interpreter does not exist"},
		{"not a program", Spec{Argv: []string{"./binary"}}, "start", 126, "exec format error"},
		{"a folder that has vanished", Spec{Argv: []string{"true"}, Dir: gone}, "chdir", 126,
			fmt.Sprintf("folder %q does not exist any more", gone)},
		{"a folder that is a file", Spec{Argv: []string{"true"}, Dir: dir + "/plain"}, "chdir", 126, "not a directory"},
		{"a relative folder", Spec{Argv: []string{"true"}, Dir: "tmp"}, "chdir", 126, "not an absolute path"},
		{"a NUL byte", Spec{Argv: []string{"true", "a\x00b"}}, "start", 126, "invalid argument"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.spec.Env, tt.spec.Umask = testEnv, -1
			if tt.spec.Dir == "" {
				tt.spec.Dir = dir
			}
			p, err := Start(tt.spec)
			if err == nil {
				p.Stop(never{}, 0)
				t.Fatal("it started")
			}
			var se *StartError
			if !errors.As(err, &se) {
				t.Fatalf("a %T: %v", err, err)
			}
			if se.Op != tt.op || se.ExitCode() != tt.code || !strings.Contains(se.Error(), tt.says) {
				t.Errorf("got op %q, code %d, %q; want %q, %d, %q", se.Op, se.ExitCode(), se, tt.op, tt.code, tt.says)
			}
		})
	}
}

func TestVanishedFolderIsErrNotExist(t *testing.T) {
	_, err := Start(Spec{Argv: []string{"true"}, Env: testEnv, Dir: filepath.Join(t.TempDir(), "gone"), Umask: -1})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want one that is fs.ErrNotExist", err)
	}
}

func TestEnvironmentIsExact(t *testing.T) {
	t.Setenv("OURS", "must not pass")
	tests := [][]string{
		{},
		{"ONLY=this"},
		{"B=2", "A=1", "PATH=/nowhere", "SPACE=a b\tc", "UMLAUT=ü", "EMPTY="},
	}
	for _, env := range tests {
		got, _ := output(t, Spec{Argv: []string{"/usr/bin/env"}, Env: env, Umask: -1})
		want := strings.Join(append(slices.Clone(env), ""), "\n")
		if got != want {
			t.Errorf("the child saw\n%swant\n%s", got, want)
		}
	}
	if got, _ := output(t, Spec{Argv: []string{"/usr/bin/env"}, Umask: -1}); got != "" {
		t.Errorf("without an environment the child saw\n%s", got)
	}
}

func TestArgumentsAreUntouched(t *testing.T) {
	argv := []string{"printf", "%s|", "", "a b", "$HOME", "*", `"'\`, "--", "-n", "new\nline"}
	got, _ := output(t, Spec{Argv: argv, Env: testEnv, Umask: -1})
	if want := strings.Join(argv[2:], "|") + "|"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestScriptWithoutInterpreterRunsInShell(t *testing.T) {
	dir := t.TempDir()
	if err := writeProgram(filepath.Join(dir, "script"), []byte("echo $0 $1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, _ := output(t, Spec{Argv: []string{"./script", "word"}, Env: testEnv, Dir: dir, Umask: -1})
	if want := filepath.Join(dir, "script") + " word\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFolder(t *testing.T) {
	dir := must(filepath.EvalSymlinks(t.TempDir()))
	if got, _ := output(t, Spec{Argv: []string{"/bin/pwd"}, Dir: dir, Umask: -1}); got != dir+"\n" {
		t.Errorf("in %q, want %q", got, dir)
	}
	t.Chdir(dir)
	if got, _ := output(t, Spec{Argv: []string{"/bin/pwd"}, Umask: -1}); got != dir+"\n" {
		t.Errorf("without a folder in %q, want ours, %q", got, dir)
	}
}

func TestUmask(t *testing.T) {
	ways := []struct {
		name    string
		arrange func(t *testing.T)
	}{
		{"as it is", func(*testing.T) {}},
		{"without a thread for it", withoutSpawner},
	}
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			way.arrange(t)
			ours := Umask()
			for _, m := range []int{0, 0o22, 0o27, 0o77, 0o777, -1} {
				got, _ := output(t, Spec{Argv: ShellText("", "umask"), Umask: m})
				want := m
				if m < 0 {
					want = ours
				}
				if got != fmt.Sprintf("%04o\n", want) {
					t.Errorf("the child of %04o has %s", want, got)
				}
			}
			if now := Umask(); now != ours {
				t.Errorf("our own umask was %04o and is %04o", ours, now)
			}
		})
	}
}

func TestUmaskIsReadRight(t *testing.T) {
	old := syscall.Umask(0o31)
	defer syscall.Umask(old)
	saved := threadStatus
	defer func() { threadStatus = saved }()
	for _, status := range []string{saved, "/no/such/file", os.DevNull} {
		threadStatus = status
		for range 2 { // reading must not change it
			if m := Umask(); m != 0o31 {
				t.Errorf("by %s: got %04o, want 0031", status, m)
			}
		}
	}
	if got, _ := output(t, Spec{Argv: ShellText("", "umask"), Umask: -1}); got != "0031\n" {
		t.Errorf("a child that keeps our umask has %swant 0031", got)
	}
}

func TestStdin(t *testing.T) {
	if got, r := sh(t, "cat; echo end"); got != "end\n" || r.ExitCode != 0 {
		t.Errorf("standard input was not empty: %q, %+v", got, r)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("echo one\nexit 4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := must(os.Open(script))
	defer f.Close()
	got, r := output(t, Spec{Argv: []string{shell}, Env: testEnv, Stdin: f, Umask: -1})
	if got != "one\n" || r.ExitCode != 4 {
		t.Errorf("the script ended with %d and wrote %q", r.ExitCode, got)
	}
}

// TestShellText: text is text, also where it begins like an option, in each of the shells that this machine has.
func TestShellText(t *testing.T) {
	for _, prog := range []string{"", "sh", "dash", "bash", "ksh", "mksh", "zsh", "yash", "fish", "tcsh"} {
		path := ""
		if prog != "" {
			var err error
			if path, err = exec.LookPath(prog); err != nil {
				continue // not on this machine
			}
		}
		for text, want := range map[string]string{
			"echo 'a  b'":     "a  b\n",
			"-e echo hi":      "",
			"+e echo hi":      "",
			"-x; pwd":         "/\n",
			"+x; pwd":         "/\n",
			"--; pwd":         "/\n",
			"--help; pwd":     "/\n",
			"-c 'echo never'": "",
		} {
			out := must(os.Create(filepath.Join(t.TempDir(), "out")))
			p, err := Start(Spec{Argv: ShellText(path, text), Env: testEnv, Dir: "/", Stdout: out, Umask: -1})
			if err != nil {
				t.Fatal(err)
			}
			r := p.Wait()
			out.Close()
			if got := string(must(os.ReadFile(out.Name()))); got != want || (want == "") != (r.ExitCode != 0) {
				t.Errorf("%s: %q wrote %q and ended with %d, want %q", prog, text, got, r.ExitCode, want)
			}
		}
	}
}

func TestOutputsApart(t *testing.T) {
	dir := t.TempDir()
	out, errs := must(os.Create(filepath.Join(dir, "out"))), must(os.Create(filepath.Join(dir, "err")))
	p, err := Start(Spec{Argv: ShellText("", "echo answer; echo talk >&2"), Stdout: out, Stderr: errs, Umask: -1})
	out.Close() // ours to close at once
	errs.Close()
	if err != nil {
		t.Fatal(err)
	}
	p.Wait()
	if got := string(must(os.ReadFile(out.Name()))); got != "answer\n" {
		t.Errorf("stdout has %q", got)
	}
	if got := string(must(os.ReadFile(errs.Name()))); got != "talk\n" {
		t.Errorf("stderr has %q", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			p, err := Start(Spec{Argv: ShellText("", fmt.Sprintf("exit %d", i)), Umask: i})
			if err != nil {
				t.Error(err)
				return
			}
			for range 2 {
				if r := p.Wait(); r.ExitCode != i {
					t.Errorf("child %d ended with %+v", i, r)
				}
			}
		})
	}
	all.Wait()
}

func TestOurFilesKeepOurUmask(t *testing.T) {
	if !threadsHaveUmask() {
		t.Skip("this system gives no thread a umask of its own (unshare is refused)")
	}
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := t.TempDir()
	stop := make(chan struct{})
	var starters sync.WaitGroup
	starters.Go(func() {
		for range 30 {
			if p, err := Start(Spec{Argv: []string{"/bin/true"}, Umask: 0o777}); err == nil {
				p.Wait()
			}
		}
		close(stop)
	})
	for i := 0; ; i++ {
		select {
		case <-stop:
			starters.Wait()
			return
		default:
		}
		name := filepath.Join(dir, fmt.Sprint(i%8))
		os.Remove(name)
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if mode := must(os.Stat(name)).Mode().Perm(); mode != 0o666 {
			t.Fatalf("a file of ours has mode %v while children start", mode)
		}
	}
}

// BenchmarkStart runs /bin/true to its end, beside the standard library.
func BenchmarkStart(b *testing.B) {
	b.Run("proc", func(b *testing.B) {
		for b.Loop() {
			p, err := Start(Spec{Argv: []string{"/bin/true"}, Env: testEnv, Dir: "/", Umask: 0o22})
			if err != nil {
				b.Fatal(err)
			}
			p.Wait()
		}
	})
	b.Run("os-exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
