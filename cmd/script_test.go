package cmd

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

var update = flag.Bool("update", false, "rewrite the expectations of the scripts")

func TestMain(m *testing.M) {
	// Sessions mostly wait, for a runner or for a second to pass. -parallel says otherwise.
	flag.Set("test.parallel", strconv.Itoa(3*max(2, runtime.GOMAXPROCS(0))))
	program := func() {
		dawdle()
		world := cli.Real()
		world.Clock = wrongBy()
		os.Exit(proc.AsInit(func() int { return listedExit(os.Args, Main(os.Args, world)) }))
	}
	testscript.Main(m, map[string]func(){"ouro-timer": program, "ot": program}) // ot: a name that somebody gave it
}

// slow is how long a call of a session may take until it begins, by OURO_TEST_SLOW: on a busy machine each does, and no session may count
// on when a call begins. The runners that calls start are told by a file.
var slow = os.Getenv("OURO_TEST_SLOW")

const slowFile = ".slow"

// dawdle takes some of that time.
func dawdle() {
	text, _ := os.ReadFile(filepath.Join(os.Getenv("HOME"), slowFile))
	if most, err := time.ParseDuration(string(text)); err == nil {
		time.Sleep(rand.N(most))
	}
}

// exitsNoted names the file where the calls of a session note an exit code that is not among those of their command.
const exitsNoted = "SESSION_EXITS"

// listedExit is the exit code of a call, which is noted when the guide does not say that the command can end with it.
func listedExit(args []string, code int) int {
	words := commandFirst(args[min(1, len(args)):])
	if os.Getenv(exitsNoted) == "" || len(words) == 0 {
		return code
	}
	c := table.Find(words[0])
	known := c == nil || c.Hidden || c.Passes || slices.Contains(cli.ExitsOf(*c), code) ||
		slices.ContainsFunc(cli.Endings, func(s os.Signal) bool { return code == 128+int(s.(syscall.Signal)) })
	if !known {
		if f, err := os.OpenFile(os.Getenv(exitsNoted), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			fmt.Fprintf(f, "exit code %d of %q\n", code, args)
			f.Close()
		}
	}
	return code
}

// TestScript runs the sessions of testdata/script: the specification of the command line. Each has a home of its own and
// a real runner, which is stopped when the session ends.
func TestScript(t *testing.T) {
	t.Parallel()
	// What is started in the background of a script ignores INT and QUIT, and so does what that starts. Sessions send both. From here on it
	// is us who take no notice.
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	testscript.Run(t, session(t, sessions(t), nil))
}

// session is how sessions are run; further sets up what a few of them need.
func session(t *testing.T, files []string, further func(e *testscript.Env) error) testscript.Params {
	docs, err := filepath.Abs("../docs")
	if err != nil {
		t.Fatal(err)
	}
	return testscript.Params{
		Files:               files,
		UpdateScripts:       *update,
		RequireUniqueNames:  true,
		RequireExplicitExec: false,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("OURO_HOME", home)
			e.Setenv("TZ", "Europe/Warsaw")
			e.Setenv("LANG", "C.UTF-8")
			e.Setenv("SHELL", "/bin/sh")
			e.Setenv("DOCS", docs) // whose calls are run as they stand there
			e.Setenv(exitsNoted, filepath.Join(e.WorkDir, "unlisted"))
			e.Defer(func() {
				if odd, err := os.ReadFile(filepath.Join(e.WorkDir, "unlisted")); err == nil {
					t.Errorf("calls ended with exit codes that the guide does not have (see exitsOf):\n%s", odd)
				}
			})
			if slow != "" {
				if err := os.WriteFile(filepath.Join(e.WorkDir, slowFile), []byte(slow), 0o600); err != nil {
					return err
				}
			}
			e.Setenv("GORACE", "atexit_sleep_ms=0") // a second for each child, otherwise, under the race detector
			e.Defer(func() { endAll(t, 3*time.Second, home, e.WorkDir) })
			if further != nil {
				return further(e)
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "nats" {
				return false, fmt.Errorf("there is no condition %q", name)
			}
			_, err := natstest.Binary()
			return err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"await":  await,
			"enough": enough,
			"mode":   mode,
			"slay":   slay,
			"schema": schemaCheck,
			"servers": func(ts *testscript.TestScript, _ bool, files []string) {
				var settings []string // further lines of their configuration
				for _, name := range files {
					settings = append(settings, ts.ReadFile(name))
				}
				servers, err := natstest.Begin(ts.MkAbs("servers"), 1, settings...)
				ts.Check(err)
				ts.Defer(servers.End)
				ts.Setenv("OURO_STORE", servers.URL())
			},
		},
	}
}

// concurrent are the sessions in which one process does several things at a time: a runner with its commands and its courier, a follower,
// a server. Only they are repeated under the race detector, which is in their processes, too.
var concurrent = []string{"at_agent*", "agent*", "at_key_race", "at_stdin_stream", "fire*", "health_wait", "health_wait_task", "health_wait_stable",
	"inbox_wait", "log_follow*", "mcp*", "notify", "notify_exec", "notify_smtp", "notify_webhook", "pause_running", "run*", "stop", "tell*", "wait*"}

// sessions are the files of those that are run.
func sessions(t *testing.T) []string {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no sessions: ", err)
	}
	if !clocktest.Raced {
		return files
	}
	return slices.DeleteFunc(files, func(file string) bool {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		return !slices.ContainsFunc(concurrent, func(pattern string) bool { ok, _ := filepath.Match(pattern, name); return ok })
	})
}

// stopRunner ends the runner that a session left behind, as a user would. See endAll for what that leaves.
func stopRunner(t testing.TB, home string) {
	var out bytes.Buffer
	w := cli.Real()
	w.Out, w.Err = &out, &out
	w.Getenv = func(name string) string {
		switch name {
		case "OURO_HOME":
			return home
		case "TZ":
			return "UTC"
		}
		return ""
	}
	if code := Main([]string{"ouro-timer", "run", "--stop", "--kill"}, w); code != cli.ExitOK && code != cli.ExitNotFound {
		t.Logf("stopping the runner of %s: exit %d: %s", home, code, out.String()) // on a slow machine it goes on for longer than that waits
	}
}

// await waits until a file exists and has something in it: await FILE [TEXT]. With TEXT, until the file contains it. With
// "!", until the file is gone. It gives up after two minutes; how long it took decides nothing.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: [!] await FILE [TEXT]")
	}
	path := ts.MkAbs(args[0])
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		b, err := os.ReadFile(path)
		switch {
		case neg && os.IsNotExist(err):
			return
		case neg || err != nil:
		case len(args) == 2 && bytes.Contains(b, []byte(args[1])):
			return
		case len(args) == 1:
			return
		}
	}
	b, _ := os.ReadFile(path)
	ts.Fatalf("waited in vain for %s; it holds %q", args[0], b)
}

// enough runs a command that is granted a time: [!] enough PATTERN COMMAND [ARG...]. MOST in its words is that time: 0.3s, and where the output
// has not what PATTERN says, as on a busy machine, again with 3s, and with 30s. The output of the last call is what it leaves.
func enough(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: [!] enough PATTERN COMMAND [ARG...]")
	}
	said, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for _, most := range []string{"0.3s", "3s", "30s"} {
		words := slices.Clone(args[1:])
		for i := range words {
			words[i] = strings.ReplaceAll(words[i], "MOST", most)
		}
		err = ts.Exec(words[0], words[1:]...)
		if out := ts.ReadFile("stdout") + ts.ReadFile("stderr"); said.MatchString(out) {
			break
		}
	}
	switch {
	case err != nil && !neg:
		ts.Fatalf("%v", err)
	case err == nil && neg:
		ts.Fatalf("it succeeded")
	}
}

// slay kills processes with KILL and returns when they are gone: slay FILE..., of which each has a number, or is runs/runner.toml.
func slay(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: slay FILE...")
	}
	end := time.Now().Add(2 * time.Minute)
	for _, name := range args {
		for pid := 0; pid == 0; time.Sleep(10 * time.Millisecond) {
			text, _ := os.ReadFile(ts.MkAbs(name)) // a file that is just being written may be empty
			if found := processNumber.FindSubmatch(text); found != nil {
				pid, _ = strconv.Atoi(string(found[1]))
			}
			if time.Now().After(end) {
				ts.Fatalf("waited in vain for a number in %s; it holds %q", name, text)
			}
			if pid == 0 {
				continue
			}
			id, err := proc.Identify(pid)
			if err != nil {
				ts.Fatalf("%s: %v", name, err)
			}
			sendTo(id, syscall.SIGKILL)
			for id.Alive() {
				if time.Now().After(end) {
					ts.Fatalf("process %d goes on", pid)
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
}

var processNumber = regexp.MustCompile(`(?m)^\s*(?:pid = )?(\d+)\n`)

// mode checks the permissions of files: mode 0700 DIR...
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mode PERM FILE...")
	}
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if got := "0" + itoa8(info.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s has mode %s, not %s", name, got, args[0])
		}
	}
}

func itoa8(m os.FileMode) string {
	digits := []byte{}
	for ; m > 0; m /= 8 {
		digits = append([]byte{byte('0' + m%8)}, digits...)
	}
	return string(digits)
}
