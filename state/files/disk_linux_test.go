package files

import (
	"errors"
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestAFileThatCannotBeOpened: one that its owner has made unreadable keeps the disk from no change, and the log of commits from no end.
func TestAFileThatCannotBeOpened(t *testing.T) {
	path := t.TempDir() + "/closed"
	if err := os.WriteFile(path, []byte("x"), 0o000); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // who may open anything: this thread looks at files as nobody
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := unix.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		defer unix.Setfsuid(0)
	}
	if _, err := os.Open(path); !errors.Is(err, os.ErrPermission) {
		t.Fatalf("it can be opened: %v", err)
	}
	if err := syncFile(path); err != nil {
		t.Error(err)
	}
}
