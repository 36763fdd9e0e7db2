package health

import (
	"flag"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

func TestMain(m *testing.M) {
	if os.Getenv("HEALTH_TEST_READS") != "" {
		os.Stdin.Read(make([]byte, 1)) // until its parent closes the pipe
		return
	}
	flag.Set("test.parallel", "16") // those that are parallel wait for a second or two, and do little else
	os.Exit(m.Run())
}

// child starts a process that runs until end is called, and is reaped then.
func child(t *testing.T) (pid int, end func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "HEALTH_TEST_READS=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func() {
		if !ended {
			ended = true
			stdin.Close()
			cmd.Wait()
		}
	}
	t.Cleanup(end)
	return cmd.Process.Pid, end
}

func TestProcess(t *testing.T) {
	pid, end := child(t)
	target := "pid:" + strconv.Itoa(pid)
	if r := once(t, Options{}, target); !r.Healthy {
		t.Errorf("it runs, but %+v", r)
	}
	if r := once(t, Options{Invert: true}, target); r.Healthy || r.Last.String() != "still runs" {
		t.Errorf("it runs, but %+v", r)
	}
	end()
	if r := once(t, Options{}, target); !r.Permanent || r.Last.String() != "no such process" {
		t.Errorf("it has ended, but %+v", r)
	}
	if r := once(t, Options{Invert: true}, target); !r.Healthy {
		t.Errorf("it has ended, but %+v", r)
	}
}

// TestProcessEnds waits for the end of a process, and for one that is to be stable and is not.
func TestProcessEnds(t *testing.T) {
	for _, o := range []Options{{Invert: true}, {Stable: patience / 2}} {
		pid, end := child(t)
		o.Timeout = patience
		o.Observe = func(_ int, r TargetResult) {
			if r.Attempts == 1 {
				end()
			}
		}
		r := Wait(t.Context(), mustParse(t, "pid:"+strconv.Itoa(pid)), o)
		switch {
		case o.Invert && (!r.Healthy || r.Attempts != 2):
			t.Errorf("the end: %+v", r)
		case !o.Invert && (r.Reason != Permanent || r.Targets[0].Last.String() != "the process has ended"):
			t.Errorf("stable: %+v", r)
		}
	}
}

// TestProcessIsNotPolled counts the attempts of a wait in which nothing happens.
func TestProcessIsNotPolled(t *testing.T) {
	t.Parallel()
	r := Wait(t.Context(), mustParse(t, "pid:"+strconv.Itoa(os.Getpid())), Options{Invert: true, Timeout: lull})
	if r.Attempts != 1 || r.Targets[0].Last.String() != "still runs" {
		t.Errorf("got %+v", r)
	}
}

// TestNumberOfAnotherProcess has a looker that saw a process which started at another time under our number.
func TestNumberOfAnotherProcess(t *testing.T) {
	self, err := proc.Self()
	if err != nil || self.Start == 0 {
		t.Skip("this system knows processes by their numbers alone")
	}
	l := &attempter{target: mustParse(t, "pid:"+strconv.Itoa(os.Getpid()))[0], wait: t.Context()}
	if err := l.attempt(t.Context()); err != nil {
		t.Fatalf("the first look: %v", err)
	}
	l.id.Start++
	if err := l.attempt(t.Context()); err == nil || err.Error() != "the process has ended" {
		t.Errorf("the number belongs to another process, but: %v", err)
	}
}

// TestZombieHasEnded: a process that only awaits its burial does not run.
func TestZombieHasEnded(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("not to be told here")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self) // reads the null device, which ends it
	cmd.Env = append(os.Environ(), "HEALTH_TEST_READS=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	r := Wait(t.Context(), mustParse(t, "pid:"+strconv.Itoa(cmd.Process.Pid)), Options{Invert: true, Timeout: patience})
	if !r.Healthy {
		t.Errorf("got %+v", r)
	}
}
