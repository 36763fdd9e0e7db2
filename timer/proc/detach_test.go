//go:build unix

package proc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	helpers["starter"] = starter
	helpers["detacher"] = detacher
	helpers["deleted"] = deleted
	helpers["hello"] = func([]string) int { fmt.Println("hello"); return 0 }
}

func ctxWithPatience() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	context.AfterFunc(ctx, cancel)
	return ctx
}

// starter starts shell text in a folder, says who it is, and stays until it is killed.
func starter(args []string) int {
	out := must(os.Create(filepath.Join(args[0], "out")))
	p := must(Start(Spec{Argv: ShellText("", args[1]), Dir: args[0], Env: testEnv, Stdout: out, Stderr: out, Umask: -1}))
	must(0, json.NewEncoder(os.Stdout).Encode(p.Identity()))
	os.Stdout.Close()
	select {}
}

// TestChildOutlivesItsStarter kills the starter, lets the child write more than a pipe holds and end.
func TestChildOutlivesItsStarter(t *testing.T) {
	dir := t.TempDir()
	cmd := helper(t, "starter", dir, `while ! [ -e go ]; do sleep 0.02; done
		i=0; while [ $i -lt 2000 ]; do echo "a line that is long enough to fill a pipe when repeated often: $i"; i=$((i+1)); done
		echo survived`)
	stdout := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var child Identity
	if err := json.NewDecoder(stdout).Decode(&child); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if !child.Alive() {
		t.Fatal("the child died with its starter")
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WaitGone(ctxWithPatience(), child); err != nil {
		t.Fatal(err)
	}
	got := lines(t, filepath.Join(dir, "out"), 2001)
	if got[len(got)-1] != "survived" {
		t.Errorf("the last line is %q", got[len(got)-1])
	}
}

// detacher detaches shell text, says who it is, and ends.
func detacher(args []string) int {
	log := must(os.OpenFile(args[0], os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600))
	id := must(Detach(ShellText("", args[1]), []string{"PATH=/usr/bin:/bin", "ONLY=this"}, log))
	must(0, json.NewEncoder(os.Stdout).Encode(id))
	return 0
}

func TestDetach(t *testing.T) {
	dir := t.TempDir()
	log, stop := filepath.Join(dir, "log"), filepath.Join(dir, "stop")
	cmd := helper(t, "detacher", log, `
		echo $$; ps -o sid= -p $$; pwd; cat; env | grep -c .; echo talk >&2
		while ! [ -e `+stop+` ]; do sleep 0.02; done`)
	cmd.Dir = dir
	stdin := must(cmd.StdinPipe()) // stays open: the detached process must not read from it
	stdout := must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var id Identity
	reader := bufio.NewReader(stdout)
	if err := json.Unmarshal(must(reader.ReadBytes('\n')), &id); err != nil {
		t.Fatal(err)
	}
	// As $(...) does: the end of the pipe comes although the detached process lives.
	if rest, err := io.ReadAll(reader); err != nil || len(rest) != 0 {
		t.Errorf("after the answer: %q, %v", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	got := lines(t, log, 5)
	if !id.Alive() {
		t.Error("it is not alive")
	}
	pid := fmt.Sprint(id.PID)
	if got[0] != pid || strings.TrimSpace(got[1]) != pid {
		t.Errorf("pid %s, session %s, want %s for both", got[0], got[1], pid)
	}
	if got[2] != "/" {
		t.Errorf("it is in %s, want /", got[2])
	}
	// PATH, ONLY, and what the shell adds itself: PWD, and "_" or SHLVL in some.
	if n := got[3]; n != "2" && n != "3" && n != "4" && n != "5" {
		t.Errorf("it has %s variables", n)
	}
	if got[4] != "talk" {
		t.Errorf("the log has %q", got)
	}
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WaitGone(ctxWithPatience(), id); err != nil {
		t.Error(err)
	}
	stdin.Close()
}

func TestDetachLeavesNoZombie(t *testing.T) {
	id, err := Detach([]string{"/bin/true"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the pid is given back", func() bool { return unix.Kill(id.PID, 0) == unix.ESRCH || identify(id.PID) != id })
}

func TestDetachRefuses(t *testing.T) {
	if _, err := Detach([]string{"/no/such/program"}, nil, nil); err == nil || !strings.Contains(err.Error(), "/no/such") {
		t.Errorf("got %v", err)
	}
	if _, err := Detach(nil, nil, nil); err == nil {
		t.Error("nothing was started without an error")
	}
}

// deleted removes its own file and runs it again.
func deleted([]string) int {
	must(0, os.Remove(must(os.Executable())))
	self, err := Executable()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	id := must(Detach([]string{self}, []string{helperKey + "=hello"}, os.Stdout))
	must(0, WaitGone(ctxWithPatience(), id))
	return 0
}

func TestExecutableWorksAfterItsFileIsGone(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux keeps a way to a program whose file is gone")
	}
	path := filepath.Join(t.TempDir(), "copy")
	program := must(os.ReadFile(must(os.Executable())))
	if err := writeProgram(path, program, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := helper(t, "deleted")
	cmd.Path, cmd.Args[0] = path, path
	out, err := cmd.Output()
	if err != nil || !strings.HasPrefix(string(out), "hello\n") { // a covered binary adds a warning
		t.Errorf("it wrote %q: %v", out, err)
	}
}

func TestWaitGone(t *testing.T) {
	p, dir := startShell(t, "while ! [ -e go ]; do sleep 0.02; done")
	id := p.Identity()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := WaitGone(ctx, id); err != context.DeadlineExceeded {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	if err := WaitGone(ctx, id); err != context.DeadlineExceeded {
		t.Errorf("with a context that has ended: got %v, want %v", err, context.DeadlineExceeded)
	}
	gone := make(chan error)
	go func() { gone <- WaitGone(ctxWithPatience(), id) }()
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-gone; err != nil {
		t.Error(err)
	}
	if id.Alive() {
		t.Error("it is still alive")
	}
	if err := WaitGone(t.Context(), id); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
