package proc

import (
	"syscall"
	"testing"
)

// TestForkWithoutPidfd starts a child where a fork that asks for a pidfd is refused, as by QEMU's
// emulation of single programs.
func TestForkWithoutPidfd(t *testing.T) {
	saved := sysForkExec
	t.Cleanup(func() { sysForkExec = saved })
	refused := 0
	sysForkExec = func(path string, argv []string, attr *syscall.ProcAttr) (int, error) {
		if attr.Sys.PidFD != nil {
			refused++
			return 0, syscall.EINVAL
		}
		return saved(path, argv, attr)
	}
	p, err := Start(Spec{Argv: []string{"/bin/sh", "-c", "exit 7"}, Umask: -1})
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Wait(); r.ExitCode != 7 || refused != 1 {
		t.Errorf("refused %d times: %+v", refused, r)
	}
	if _, err := Start(Spec{Argv: []string{"/bin/true", "a\x00b"}, Umask: -1}); err == nil {
		t.Error("an argument with a zero byte was taken")
	}
}
