//go:build unix

package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// identities reads pids that a shell wrote, one a line.
func identities(t *testing.T, path string, n int) []Identity {
	t.Helper()
	var ids []Identity
	for _, line := range lines(t, path, n) {
		ids = append(ids, identify(must(strconv.Atoi(line))))
	}
	return ids
}

func TestStopEndsTheWholeGroup(t *testing.T) {
	p, dir := startShell(t, `sleep 300 & echo $! >>pids
		sh -c 'sleep 300 & echo $! >>pids; echo $$ >>pids; wait' &
		wait`)
	group := identities(t, filepath.Join(dir, "pids"), 3)
	if err := p.Stop(never{}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if r := p.Wait(); r.ExitCode != -1 || r.Signal != "SIGTERM" {
		t.Errorf("ended with %+v, want SIGTERM", r)
	}
	for _, id := range append(group, p.Identity()) {
		if id.Alive() {
			t.Errorf("%+v is alive", id)
		}
	}
}

func TestStopKillsWhenGraceIsOver(t *testing.T) {
	p, dir := startShell(t, `trap "echo asked >>asked" TERM; echo $$ >pid; while :; do sleep 0.02; done`)
	lines(t, filepath.Join(dir, "pid"), 1)
	grace, stopped := make(gate), make(chan error)
	go func() { stopped <- p.Stop(grace, 10*time.Second) }()
	lines(t, filepath.Join(dir, "asked"), 1)
	select {
	case <-p.Done():
		t.Fatal("it ended although it ignored the signal and the grace was not over")
	default:
	}
	close(grace)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if r := p.Wait(); r.Signal != "SIGKILL" {
		t.Errorf("ended with %+v, want SIGKILL", r)
	}
}

// stubborn leaves a grandchild in the group when the signal ends the child itself. The grandchild does what its TERM
// trap says.
func stubborn(trap string) string {
	return `(trap '` + trap + `' TERM; sh -c 'echo $PPID' >pid; while :; do sleep 0.02; done) & wait`
}

func TestStopKillsWhatIsLeftBehind(t *testing.T) {
	p, dir := startShell(t, stubborn(""))
	left := identities(t, filepath.Join(dir, "pid"), 1)[0]
	grace, stopped := make(gate), make(chan error)
	go func() { stopped <- p.Stop(grace, 10*time.Second) }()
	<-p.exited
	if !left.Alive() {
		t.Error("the grandchild had no grace")
	}
	close(grace)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	eventually(t, "the grandchild is killed", func() bool { return !left.Alive() })
	if r := p.Wait(); r.Signal != "SIGTERM" {
		t.Errorf("the child ended with %+v, want SIGTERM", r)
	}
}

func TestWhatIsLeftBehindMayEndByItself(t *testing.T) {
	p, dir := startShell(t, stubborn("echo bye >bye; exit"))
	left := identities(t, filepath.Join(dir, "pid"), 1)[0]
	if err := p.Stop(never{}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if left.Alive() {
		t.Error("the grandchild is alive")
	}
	if got := lines(t, filepath.Join(dir, "bye"), 1); got[0] != "bye" {
		t.Errorf("it wrote %q", got)
	}
}

func TestStopWithoutGraceKillsAtOnce(t *testing.T) {
	p, dir := startShell(t, `trap "" TERM; echo $$ >pid; while :; do sleep 0.02; done`)
	lines(t, filepath.Join(dir, "pid"), 1)
	first := make(chan error)
	go func() { first <- p.Stop(never{}, time.Hour) }()
	if err := p.Stop(never{}, 0); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Error("the patient Stop:", err)
	}
	if r := p.Wait(); r.Signal != "SIGKILL" {
		t.Errorf("ended with %+v, want SIGKILL", r)
	}
	if err := p.Stop(never{}, time.Hour); err != nil {
		t.Error("after the end:", err)
	}
}

func TestStopWakesAStoppedGroup(t *testing.T) {
	p, dir := startShell(t, `echo $$ >pid; while :; do sleep 0.02; done`)
	lines(t, filepath.Join(dir, "pid"), 1)
	if err := p.SignalGroup(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(never{}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if r := p.Wait(); r.Signal != "SIGTERM" {
		t.Errorf("ended with %+v, want SIGTERM", r)
	}
}

// TestWhatAChildLeavesBehindLivesOn: only Stop kills it. A command that starts a daemon may end.
func TestWhatAChildLeavesBehindLivesOn(t *testing.T) {
	p, dir := startShell(t, `while ! [ -e go ]; do sleep 0.02; done >/dev/null & echo $! >pid`)
	if r := p.Wait(); r.ExitCode != 0 {
		t.Fatalf("ended with %+v", r)
	}
	left := identities(t, filepath.Join(dir, "pid"), 1)[0]
	if err := p.SignalGroup(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if err := p.Stop(never{}, 0); err != nil {
		t.Error(err)
	}
	if !left.Alive() {
		t.Error("it was killed")
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it ends by itself", func() bool { return !left.Alive() })
}

func TestSignalGroup(t *testing.T) {
	p, dir := startShell(t, `trap "echo one >>got" USR1; sh -c 'trap "echo two >>got" USR1; echo $$ >>pids
		while :; do sleep 0.02; done' & echo $$ >>pids; while :; do sleep 0.02; done`)
	lines(t, filepath.Join(dir, "pids"), 2)
	if err := p.SignalGroup(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(lines(t, filepath.Join(dir, "got"), 2), " ")
	if got != "one two" && got != "two one" {
		t.Errorf("the signal reached %q", got)
	}
}

// TestNoSignalAfterTheEnd plants the pid of somebody else where the child's was, as if the number had been given away.
func TestNoSignalAfterTheEnd(t *testing.T) {
	ended, _ := startShell(t, "exit 0")
	ended.Wait()
	other, _ := startShell(t, "while :; do sleep 0.02; done")
	ended.pid = other.pid
	if err := ended.SignalGroup(syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	if err := ended.Stop(never{}, 0); err != nil {
		t.Error(err)
	}
	if !other.Identity().Alive() {
		t.Error("a process that is not the child was signalled")
	}
}

func TestOwnGroupUnlessForeground(t *testing.T) {
	ours := must(syscall.Getpgid(0))
	for _, foreground := range []bool{false, true} {
		p, err := Start(Spec{Argv: []string{"sleep", "300"}, Env: testEnv, Umask: -1, Foreground: foreground})
		if err != nil {
			t.Fatal(err)
		}
		group := must(syscall.Getpgid(p.PID()))
		if want := map[bool]int{false: p.PID(), true: ours}[foreground]; group != want {
			t.Errorf("foreground %v: group %d, want %d", foreground, group, want)
		}
		// In our own group this must not reach us.
		if err := p.Stop(never{}, time.Hour); err != nil {
			t.Error(err)
		}
		if r := p.Wait(); r.Signal != "SIGTERM" {
			t.Errorf("foreground %v: ended with %+v", foreground, r)
		}
	}
}
