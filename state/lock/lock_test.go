package lock

import (
	"errors"
	"path/filepath"
	"runtime"
	"testing"
)

// TestOutlivesGarbage: a lock that nobody points to any more is still held.
func TestOutlivesGarbage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := Make(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Try(path, Exclusive); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		runtime.GC()
	}
	for _, mode := range []Mode{Exclusive, Shared} {
		if _, err := Try(path, mode); !errors.Is(err, ErrHeld) {
			t.Errorf("%v, want ErrHeld", err)
		}
	}
	all.Range(func(h, _ any) bool {
		if err := h.(*Held).Release(); err != nil {
			t.Error(err)
		}
		return true
	})
	h, err := Try(path, Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := h.Is(path); !same || err != nil {
		t.Errorf("it is another's: %v", err)
	}
	if err := h.Release(); err != nil {
		t.Error(err)
	}
}
