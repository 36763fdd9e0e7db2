package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWithoutShellLeavesCapabilitiesAlone(t *testing.T) {
	t.Parallel()
	needDash(t)
	for _, text := range []string{"script", "../bin/script"} {
		spec := simpleSpec(t, text)
		if _, ok := spec.WithoutShell(); !ok {
			t.Fatalf("%s was left to the shell without capabilities", text)
		}
		// Version 2, CAP_NET_BIND_SERVICE permitted, in effect at once.
		rights := append([]byte{1, 0, 0, 2, 0, 4}, make([]byte, 14)...)
		if err := unix.Setxattr(filepath.Dir(spec.Dir)+"/bin/script", "security.capability", rights, 0); err != nil {
			t.Skipf("a file cannot be given capabilities: %v", err)
		}
		if _, ok := spec.WithoutShell(); ok {
			t.Errorf("%s was not left to the shell", text)
		}
	}
}

func init() {
	// unreadable asks as nobody for programs of ours.
	helpers["unreadable"] = func(args []string) int {
		for _, word := range []string{"open", "shut", args[0] + "/shut", "./open", "./shut"} {
			_, ok := Spec{Argv: []string{"/bin/sh", "-c", word}, Dir: args[0], Env: []string{"PATH=" + args[0]}}.WithoutShell()
			fmt.Print(ok, " ")
		}
		return 0
	}
}

func TestWithoutShellLeavesUnreadableAlone(t *testing.T) {
	t.Parallel()
	needDash(t)
	if os.Getuid() != 0 {
		t.Skip("only the superuser becomes another user")
	}
	dir := t.TempDir()
	for _, err := range []error{
		writeProgram(dir+"/open", []byte("#!/bin/sh\n"), 0o700),
		writeProgram(dir+"/shut", []byte("#!/bin/sh\n"), 0o700),
		os.Chmod(dir+"/open", 0o755),
		os.Chmod(dir+"/shut", 0o711),
		os.Chmod(dir, 0o755),
		os.Chmod(filepath.Dir(dir), 0o755),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	self := must(os.Open(must(os.Executable()))) // which lies where only we may go
	defer self.Close()
	c := helper(t, "unreadable", dir)
	c.Path, c.ExtraFiles = "/proc/self/fd/3", []*os.File{self}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := c.Output()
	const want = "true false false true false "
	if err != nil || len(out) < len(want) || string(out[:len(want)]) != want {
		t.Errorf("it says %q, %v; want %q", out, err, want)
	}
}
