//go:build unix

package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() {
	// show prints what a program learns of how it was started.
	helpers["show"] = func([]string) int {
		for _, arg := range os.Args {
			fmt.Printf("argument %q\n", arg)
		}
		env := os.Environ()
		slices.Sort(env)
		for _, kv := range env {
			fmt.Printf("variable %q\n", kv)
		}
		here, err := syscall.Getwd() // asks the system, not PWD
		umask := syscall.Umask(0)
		mask, known := ignoredMask()
		fmt.Println(here, err, umask, mask, known)
		return 0
	}
	// ends ends with an exit code or by a signal.
	helpers["ends"] = func(args []string) int {
		n := must(strconv.Atoi(args[1]))
		if args[0] == "exit" {
			return n
		}
		// No trace of it on the disk. What would be made of a signal by the runtime is left to the system.
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
		_ = syscall.Exec("/bin/sh", []string{"sh", "-c", fmt.Sprintf("kill -%d $$", n)}, nil)
		return 1
	}
}

// needDash skips a test where the system's shell is no dash.
func needDash(t testing.TB) {
	t.Helper()
	if !isDash("/bin/sh") {
		t.Skip("/bin/sh is not dash here")
	}
}

// simpleSpec is a run of text by /bin/sh, in a folder of programs.
func simpleSpec(t *testing.T, text string) Spec {
	t.Helper()
	dir := t.TempDir()
	self := must(os.Executable())
	for _, err := range []error{
		os.Mkdir(dir+"/bin", 0o755),
		os.Mkdir(dir+"/here", 0o755),
		os.Symlink(self, dir+"/bin/show"),
		os.Symlink(self, dir+"/here/show.it"),
		writeProgram(dir+"/bin/script", []byte("#!"+self+"\n"), 0o755),
		writeProgram(dir+"/here/script", []byte("#!"+self+"\n"), 0o755),
		writeProgram(dir+"/bin/bare", []byte("echo bare $0 $*; exit 5\n"), 0o755),
		os.WriteFile(dir+"/bin/shut", nil, 0o600),
		os.Mkdir(dir+"/bin/folder", 0o755),
		os.Symlink(dir+"/here", dir+"/link"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return Spec{Argv: []string{"/bin/sh", "-c", text}, Dir: dir + "/here", Umask: 0o027,
		Env: []string{helperKey + "=show", "PATH=/nowhere:" + dir + "/bin//:/usr/bin:/bin", "HOME=" + dir, "OURO_TASK=", "LC_ALL=C",
			"GORACE=atexit_sleep_ms=0"}} // a second for each child, otherwise, under the race detector
}

// alike runs a spec with its shell and without, and reports whether it can be without.
func alike(t *testing.T, spec Spec) bool {
	t.Helper()
	direct, ok := spec.WithoutShell()
	if !ok {
		return false
	}
	got, how := output(t, direct)
	want, shells := output(t, spec)
	if got += how.LastWords; got != want || how.ExitCode != shells.ExitCode || how.Signal != shells.Signal {
		t.Errorf("%q without the shell: exit %d %s\n%swith it: exit %d %s\n%s", spec.Argv[2], how.ExitCode, how.Signal, got,
			shells.ExitCode, shells.Signal, want)
	}
	return true
}

func TestWithoutShellIsAlike(t *testing.T) {
	t.Parallel()
	needDash(t)
	for _, text := range []string{
		"show",
		" \tshow  a\tb ",
		"show a=b = =c d= -x +y -- - % @ , . .. / : %1 10 2 1,2 user@host:dir/ in do done",
		"./show.it x",
		"../bin/show",
		"../here/./show.it",
		"script a b",
		"./script a",
		"../link/script",
	} {
		if !alike(t, simpleSpec(t, text)) {
			t.Errorf("%q was left to the shell", text)
		}
	}
	spec := simpleSpec(t, "./script x")
	spec.Dir = filepath.Dir(spec.Dir) + "/link" // a link: PWD is where it leads
	if !alike(t, spec) {
		t.Error("a folder behind a link was left to the shell")
	}
	spec.Dir = "/"
	if spec.Argv[2] = "show"; !alike(t, spec) {
		t.Error("the root folder was left to the shell")
	}
}

func TestWithoutShellEndsAlike(t *testing.T) {
	t.Parallel()
	needDash(t)
	ends := []string{"exit 0", "exit 3", "exit 255"}
	for n := 1; n <= 40; n++ {
		switch syscall.Signal(n) {
		case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGSTOP, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGURG, syscall.SIGWINCH:
			continue // which end nothing
		case 32, 33:
			continue // the C library's own
		}
		ends = append(ends, fmt.Sprintf("signal %d", n))
	}
	for _, end := range ends {
		spec := simpleSpec(t, "show "+end)
		if spec.Env[0] = helperKey + "=ends"; !alike(t, spec) {
			t.Errorf("%s was left to the shell", end)
		}
	}
}

// Under a dash that gives its place to the last command the run dies of the signal.
func TestWithoutShellEndsAsItsShell(t *testing.T) {
	needDash(t)
	saved := shellForks
	t.Cleanup(func() { shellForks = saved })
	for _, tt := range []struct {
		forks  bool
		exit   int
		signal string
		words  string
	}{{true, 137, "", "Killed\n"}, {false, -1, "SIGKILL", ""}} {
		asked := 0
		shellForks = func() bool { asked++; return tt.forks }
		for _, end := range []string{"exit 3", "signal 9"} {
			spec := simpleSpec(t, "show "+end)
			spec.Env[0] = helperKey + "=ends"
			direct, ok := spec.WithoutShell()
			if !ok {
				t.Fatalf("%s was left to the shell", end)
			}
			_, r := output(t, direct)
			want := Result{ExitCode: tt.exit, Signal: tt.signal, LastWords: tt.words}
			if end == "exit 3" {
				want = Result{ExitCode: 3}
			}
			if got := (Result{ExitCode: r.ExitCode, Signal: r.Signal, LastWords: r.LastWords}); got != want {
				t.Errorf("the shell forks: %v; %s: %+v, want %+v", tt.forks, end, got, want)
			}
		}
		if asked != 1 {
			t.Errorf("it was asked %d times about one death", asked)
		}
	}
}

func TestForks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(0, writeProgram(dir+"/parent", []byte("#!/bin/sh\necho $PPID\n"), 0o755))
	must(0, writeProgram(dir+"/silent", []byte("#!/bin/sh\nsleep 1000\n"), 0o755))
	for _, shell := range shells() {
		out := must(os.Create(dir + "/out"))
		p := must(Start(Spec{Argv: []string{shell, "-c", "./parent"}, Dir: dir, Env: testEnv, Umask: -1, Stdout: out}))
		p.Wait()
		out.Close()
		parent := string(must(os.ReadFile(out.Name())))
		if got, want := forks(shell, patience), parent == fmt.Sprintln(p.PID()); got != want {
			t.Errorf("%s forks: %v, but the parent of its last command is %s", shell, got, parent)
		}
	}
	if !forks(dir+"/none", patience) || !forks(dir+"/silent", time.Millisecond) {
		t.Error("one that does not say is not taken to fork")
	}
}

// A signal of ours reaches the group, and so the shell where there is one.
func TestWithoutShellStopsAlike(t *testing.T) {
	t.Parallel()
	needDash(t)
	spec := simpleSpec(t, "sleep 1000")
	direct, ok := spec.WithoutShell()
	if !ok {
		t.Fatal("it was left to the shell")
	}
	for _, spec := range []Spec{spec, direct} {
		for grace, want := range map[time.Duration]string{0: "SIGKILL", time.Hour: "SIGTERM"} {
			p := must(Start(spec))
			if err := p.Stop(never{}, grace); err != nil {
				t.Fatal(err)
			}
			if r := p.Wait(); r.Signal != want || r.ExitCode != -1 || r.LastWords != "" {
				t.Errorf("%s ended by %q, exit %d, %q; want %s", spec.program, r.Signal, r.ExitCode, r.LastWords, want)
			}
		}
	}
}

// What variables there are: those that are passed on are the same, the others are the shell's.
func TestWithoutShellPassesVariablesOn(t *testing.T) {
	t.Parallel()
	needDash(t)
	r := rand.New(rand.NewPCG(1, 2))
	names := slices.Concat(shellVariables, []string{"TERM", "HOME", "A", "a", "_x", "LANG", "LC_CTYPE", "X1", "EDITOR", "COLUMNS", "RANDOM",
		"UID", "TZ", "MAILCHECK", "FUNCNAME", "SECONDS", "PROMPT", "1x", "a.b", "", "BASH_FUNC_f%%", "BASH_ENV", "POSIXLY_CORRECT"})
	passed := 0
	for range 40 {
		spec := simpleSpec(t, "show")
		for range r.IntN(4) {
			value := make([]byte, r.IntN(8))
			for i := range value {
				value[i] = byte(1 + r.IntN(255))
			}
			spec.Env = append(spec.Env, names[r.IntN(len(names))]+"="+string(value))
		}
		if alike(t, spec) {
			passed++
		}
	}
	if passed < 10 || passed > 35 {
		t.Errorf("%d of 40 environments did without the shell", passed)
	}
	for _, name := range []string{"TERM", "COLUMNS", "UID", "SECONDS", "MAILCHECK", "FUNCNAME"} {
		spec := simpleSpec(t, "show")
		if spec.Env = append(spec.Env, name+"=5"); !alike(t, spec) {
			t.Errorf("%s was left to the shell", name)
		}
	}
}

func TestWithoutShellRefuses(t *testing.T) {
	t.Parallel()
	needDash(t)
	env := func(kv string) func(*Spec) { return func(s *Spec) { s.Env = append(s.Env, kv) } }
	path := func(p string) func(*Spec) { return func(s *Spec) { s.Env[1] = "PATH=" + p } }
	text := func(text string) func(*Spec) { return func(s *Spec) { s.Argv[2] = text } }
	prog := func(prog string) func(*Spec) { return func(s *Spec) { s.Argv[0] = prog } }
	mode := func(word string, mode fs.FileMode) func(*Spec) {
		return func(s *Spec) {
			if s.Argv[2] = word; os.Chmod(filepath.Dir(s.Dir)+"/bin/script", mode) != nil {
				t.Fatalf("no mode %v", mode)
			}
		}
	}
	tests := map[string]func(*Spec){
		"bash":                prog("/bin/bash"),
		"zsh":                 prog("/usr/bin/zsh"),
		"no shell":            prog("/usr/bin/env"),
		"by name":             prog("sh"),
		"a program called sh": func(s *Spec) { s.Argv[0] = filepath.Dir(s.Dir) + "/bin/sh" },
		"an argument list":    func(s *Spec) { s.Argv = []string{"/bin/sh", "-c", "show", "x"} },
		"an option":           func(s *Spec) { s.Argv[1] = "-lc" },
		"a script":            func(s *Spec) { s.Argv = []string{"/bin/sh"} },
		"a relative folder":   func(s *Spec) { s.Dir = "here" },
		"no folder":           func(s *Spec) { s.Dir = "" },
		"a folder gone":       func(s *Spec) { s.Dir += "/gone" },
		"no PATH":             func(s *Spec) { s.Env[1] = "A=1" },
		"empty PATH":          path(""),
		"here in PATH":        path(":/usr/bin"),
		"relative PATH":       path("bin:/usr/bin"),
		"dash's own PATH":     path("/usr/bin%builtin:/usr/bin"),
		"nowhere in PATH":     path("/nowhere"),
		"twice":               env("OURO_TASK=x"),
		"PWD":                 env("PWD=/"),
		"OLDPWD":              env("OLDPWD=/"),
		"IFS":                 env("IFS=o"),
		"ENV":                 env("ENV=/etc/profile"),
		"BASH_ENV":            env("BASH_ENV=x"),
		"a function":          env("BASH_FUNC_show%%=() { :; }"),
		"POSIXLY_CORRECT":     env("POSIXLY_CORRECT=1"),
		"no variable":         env("X"),
		"no name":             env("=x"),
		"a name with a dot":   env("a.b=x"),
		"nothing":             text(""),
		"blanks":              text(" \t "),
		"no program":          text("no-such-program"),
		"not executable":      text("shut"),
		"a folder in PATH":    text("folder"),
		"a job":               text("%1"),
		"an option as text":   text("-x show"),
		"an assignment":       text("A=1 show"),
		"an assignment alone": text("A="),
		"equals alone":        text("= show"),
		"a keyword":           text("if show"),
		"exit":                text("exit 3"),
		"dot":                 text(". ./show"),
		"colon":               text(": show"),
		"newline":             text("show\n"),
		"carriage return":     text("show \r"),
		"vertical tab":        text("show\va"),
		"no-break space":      text("show\u00a0a"),
		"not ASCII":           text("show ä"),
		"NUL":                 text("show a\x00b"),
		"a descriptor":        text("show 2>x"),
		"in the background":   text("show&"),
		"setsid":              text("setsid show"),
		"setsid by another":   text("show /usr/bin/setsid show"),
		"another user":        text("show 5 sudo show"),
		"none by its path":    text("./none"),
		"shut by its path":    text("../bin/shut"),
		"a folder":            text("../bin/folder"),
		"a folder by a slash": text("../bin/"),
		"a program as folder": text("../bin/script/"),
		"setuid":              mode("script", fs.ModeSetuid|0o755),
		"setgid":              mode("script", fs.ModeSetgid|0o755),
		"setuid by its path":  mode("../bin/script", fs.ModeSetuid|0o755),
		"setgid by its path":  mode("../bin/script", fs.ModeSetgid|0o755),
		"the foreground":      func(s *Spec) { s.Foreground = true },
	}
	for c := range strings.SplitSeq("~ ^ ! { } [ ] ( ) * ? # $ ` ' \" \\ | & ; < >", " ") {
		tests["sign "+c] = text("show a" + c)
	}
	for name, change := range tests {
		spec := simpleSpec(t, "show")
		if _, ok := spec.WithoutShell(); !ok {
			t.Fatal("show alone is left to the shell")
		}
		change(&spec)
		if got, ok := spec.WithoutShell(); ok {
			t.Errorf("%s: %q would be executed as %q", name, spec.Argv, got.program)
		}
	}
}

// What cannot be executed is not started, so that the shell may say why.
func TestWithoutShellLeavesScriptsAlone(t *testing.T) {
	t.Parallel()
	needDash(t)
	for _, text := range []string{"bare x", "../bin/bare"} {
		direct, ok := simpleSpec(t, text).WithoutShell()
		if !ok {
			t.Errorf("%q was left to the shell at once", text)
			continue
		}
		var se *StartError
		if p, err := Start(direct); !errors.As(err, &se) {
			p.Wait()
			t.Errorf("%q was started", text)
		}
	}
	got, r := output(t, simpleSpec(t, "bare x"))
	if !strings.HasPrefix(got, "bare ") || r.ExitCode != 5 {
		t.Errorf("the shell runs the script as exit %d, %q", r.ExitCode, got)
	}
}

func TestSimpleMode(t *testing.T) {
	t.Parallel()
	for mode, want := range map[fs.FileMode]bool{
		0o755:                 true,
		0o111:                 true,
		0o644:                 false,
		0o755 | fs.ModeSticky: true,
		0o755 | fs.ModeSetuid: false,
		0o755 | fs.ModeSetgid: false,
		0o755 | fs.ModeDir:    false,
		0o755 | fs.ModeDevice: false,
	} {
		if simpleMode(mode) != want {
			t.Errorf("%v: %v, want %v", mode, !want, want)
		}
	}
}

func TestShellsOwnAreSorted(t *testing.T) {
	t.Parallel()
	for _, list := range [][]string{shellsOwn, shellVariables} {
		if !slices.IsSorted(list) {
			t.Errorf("not sorted: %q", list)
		}
	}
}

// No shell has a builtin that the list has not: asked of bash by its own list, of dash by all programs there are.
func TestShellsOwnAreAll(t *testing.T) {
	t.Parallel()
	if bash, err := exec.LookPath("bash"); err == nil {
		for name := range strings.FieldsSeq(string(must(exec.Command(bash, "-c", "compgen -bk").Output()))) {
			if words, ok := simpleWords(name); ok {
				t.Errorf("bash has its own %q", words)
			}
		}
	}
	if dash, err := exec.LookPath("dash"); err == nil {
		var names []string
		for _, folder := range []string{"/usr/bin", "/bin"} {
			entries, err := os.ReadDir(folder)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			for _, e := range entries {
				if _, ok := simpleWords(e.Name()); ok {
					names = append(names, e.Name())
				}
			}
		}
		ask := exec.Command(dash, append([]string{"-c", `type "$@"`, "dash"}, names...)...)
		ask.Env = []string{"PATH=/usr/bin:/bin"}
		told, _ := ask.Output() // fails when a name is a link to nothing
		for line := range strings.Lines(string(told)) {
			if strings.HasSuffix(line, " is a shell builtin\n") || strings.HasSuffix(line, " is a shell keyword\n") ||
				strings.HasSuffix(line, " is a special shell builtin\n") {
				t.Errorf("dash has its own: %s", line)
			}
		}
		if len(told) == 0 {
			t.Error("dash says nothing")
		}
	}
}

// splitBy is how a shell splits texts, each on a line of its own.
func splitBy(t testing.TB, shell string, texts ...string) [][]string {
	t.Helper()
	var script bytes.Buffer
	for _, text := range texts {
		fmt.Fprintf(&script, "printf '%%s\\0' %s\nprintf '\\1\\0'\n", text)
	}
	c := exec.Command(shell, "-c", script.String())
	c.Dir = t.TempDir()
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v of %q", shell, err, texts)
	}
	var split [][]string
	for words := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x01\x00"), "\x01\x00") {
		split = append(split, strings.Split(strings.TrimSuffix(words, "\x00"), "\x00"))
	}
	return split
}

// shells are those that a text is split by in tests.
func shells() (list []string) {
	for _, name := range []string{"dash", "bash"} {
		if path, err := exec.LookPath(name); err == nil {
			list = append(list, path)
		}
	}
	return list
}

func TestSimpleWordsAreTheShells(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "Z", "0", "9", "_", ".", "/", ",", ":", "@", "%", "+", "=", "-", " ", "\t", "  ", "word", "a=b", "..", "then",
		"~", "*", "$", "'", ";", "{", "#", "!", "\n"}
	r := rand.New(rand.NewPCG(3, 4))
	var texts []string
	var words [][]string
	for range 4000 {
		var text strings.Builder
		for range 1 + r.IntN(12) {
			text.WriteString(pieces[min(r.IntN(len(pieces)), r.IntN(len(pieces)))])
		}
		if w, ok := simpleWords(text.String()); ok {
			texts, words = append(texts, text.String()), append(words, w)
		}
	}
	if len(texts) < 200 {
		t.Fatalf("only %d of the texts are simple", len(texts))
	}
	for _, shell := range shells() {
		for i, got := range splitBy(t, shell, texts...) {
			if !slices.Equal(got, words[i]) {
				t.Errorf("%q is %q to %s, not %q", texts[i], got, shell, words[i])
			}
		}
	}
}

func FuzzSimpleWords(f *testing.F) {
	for _, text := range []string{"true", "sleep 0.05", " make\t-C /x all ", "a=b c", "rsync -a x/ user@host:y", "x ~", "x=~", "a:~b", "-x", "%1 =", ": a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words, ok := simpleWords(text)
		if !ok {
			return
		}
		for _, shell := range shells() {
			if got := splitBy(t, shell, text)[0]; !slices.Equal(got, words) {
				t.Errorf("%q is %q to %s, not %q", text, got, shell, words)
			}
		}
	})
}
