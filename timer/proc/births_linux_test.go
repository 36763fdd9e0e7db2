package proc

import (
	"os"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// What the clock tells is what /proc says, child for child.
func TestBirthsAreThoseOfProc(t *testing.T) {
	t.Parallel()
	told := 0
	for range 1000 {
		f := forkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{})
		if f.err != nil {
			t.Fatal(f.err)
		}
		said := identify(f.pid).Start // it has not been waited for
		if _, err := unix.Wait4(f.pid, nil, 0, nil); err != nil {
			t.Fatal(err)
		}
		if f.born == 0 {
			continue
		}
		if told++; f.born != said {
			t.Fatalf("child %d: %d by the clock, %d in /proc", told, f.born, said)
		}
	}
	if told == 0 {
		t.Error("the clock has told nothing of 1000 children")
	}
}

func TestBirthsAreCheckedFirst(t *testing.T) {
	t.Parallel()
	self := identify(unix.Getpid())
	var b births
	for i := range 2 * enough {
		if got := b.identify(self.PID, self.Start); got != self {
			t.Fatalf("call %d: %v, want %v", i, got, self)
		}
		if got := b.identify(self.PID, 0); got != self {
			t.Fatalf("call %d without the clock: %v, want %v", i, got, self)
		}
	}
	later := self
	later.Start++ // which /proc does not say
	if got := b.identify(self.PID, later.Start); got != later {
		t.Errorf("the clock is not believed after it was right %d times: %v", 2*enough, got)
	}

	// One that was wrong once is not believed any more.
	b = births{}
	for i := range 3 * enough {
		born := self.Start
		if i == enough/2 {
			born++
		}
		if got := b.identify(self.PID, born); got != self {
			t.Fatalf("call %d: %v, want %v", i, got, self)
		}
	}
	if got := b.identify(self.PID, later.Start); got != self {
		t.Errorf("a clock that was wrong is believed: %v, want %v", got, self)
	}

	// One that goes wrong later is found out by one child in so many.
	b = births{}
	for range enough {
		b.identify(self.PID, self.Start)
	}
	believed := 0
	for range 3 * again {
		if b.identify(self.PID, later.Start) == later {
			believed++
		}
	}
	if believed != again-1 {
		t.Errorf("a clock that went wrong was believed %d times, want %d", believed, again-1)
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

// Where processes are hidden the clock is never believed.
func TestBirthsOfHiddenProcesses(t *testing.T) {
	self := identify(unix.Getpid())
	later := self
	later.Start++
	var seen births
	for range enough {
		seen.identify(self.PID, self.Start)
	}
	hideProcesses(t, self.PID)
	var b births
	for range 2 * enough {
		b.identify(self.PID, self.Start)
	}
	if got := b.identify(self.PID, later.Start); got != self {
		t.Errorf("the clock is believed although processes are hidden: %v, want %v", got, self)
	}
	for range again {
		seen.identify(self.PID, self.Start)
	}
	if got := seen.identify(self.PID, later.Start); got != self {
		t.Errorf("the clock is believed although processes were hidden meanwhile: %v, want %v", got, self)
	}
}
