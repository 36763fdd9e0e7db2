package lock

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestLocksTable reads the kernel's table of locks.
func TestLocksTable(t *testing.T) {
	self := os.Getpid()
	table := fmt.Sprintf("1: POSIX  ADVISORY  WRITE 1 fd:00:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 0 fd:00:77 0 EOF\n"+
		"2: -> FLOCK  ADVISORY  WRITE 5 fd:00:77 0 EOF\n3: FLOCK  ADVISORY  WRITE %d fd:01:77 0 EOF\n4: FLOCK  ADVISORY  WRITE %d fd:00:77 0 EOF\n"+
		"4: -> POSIX  ADVISORY  WRITE 6 fd:00:77 0 EOF\n4: -> FLOCK  ADVISORY  WRITE 0 fd:00:77 0 EOF\n", os.Getppid(), self)
	for _, c := range []struct{ device, inode, want string }{
		{"fd:00", "77", fmt.Sprintf("process %d (", self)},
		{"fd:01", "77", fmt.Sprintf("process %d (", os.Getppid())},
		{"00:2f", "77", fmt.Sprintf("process %d (", os.Getppid())}, // a device nobody else knows
		{"fd:00", "7", "another process"},
	} {
		if got := holderIn(table, c.device, c.inode).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:%s is held by %q, want %q", c.device, c.inode, got, c.want)
		}
	}
	if got := waitersIn(table, "77"); len(got) != 1 || got[0] != 5 {
		t.Errorf("%v wait, want 5", got)
	}
	if got := waitersIn(table, "7"); len(got) != 0 {
		t.Errorf("%v wait for another", got)
	}
}
