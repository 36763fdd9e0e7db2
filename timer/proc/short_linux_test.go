package proc

import (
	"os"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestNoPlaceForAFile gives a child a file in the highest place that there is. Whoever forks needs one more, and what he has not now
// he has later.
func TestNoPlaceForAFile(t *testing.T) {
	const places = 512
	var ours unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &ours); err != nil {
		t.Fatal(err)
	}
	limit := func(l unix.Rlimit) {
		// Not by way of syscall: that would keep for all later children what is meant for this one.
		if _, _, errno := unix.RawSyscall6(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(&l)), 0, 0, 0); errno != 0 {
			t.Fatal(errno)
		}
	}
	limit(unix.Rlimit{Cur: places, Max: ours.Max})
	defer limit(ours)
	highest, err := unix.FcntlInt(os.Stderr.Fd(), syscall.F_DUPFD_CLOEXEC, places-1)
	if err != nil {
		t.Fatal(err)
	}
	out := os.NewFile(uintptr(highest), "highest")
	spec := Spec{Argv: []string{"/bin/true"}, Umask: -1, Stdout: out}
	if _, err := Start(spec); !Short(err) {
		t.Errorf("with no place left: %v", err)
	}
	out.Close()
	spec.Stdout = nil
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Wait(); r.ExitCode != 0 {
		t.Errorf("%+v", r)
	}
}
