package lease

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/lock"
)

// TestRunner: there is one at a time, who looks is told who it is, and is not in the way of the
// next one.
func TestRunner(t *testing.T) {
	var note *state.Leader
	r := Runner{
		Lock:  filepath.Join(t.TempDir(), "lock"),
		Write: func(who state.Leader) error { note = &who; return nil },
		Read: func() (state.Leader, error) {
			if note == nil {
				return state.Leader{}, os.ErrNotExist
			}
			return *note, nil
		},
		Remove: func() error { note = nil; return nil },
	}
	who := func(pid int) {
		t.Helper()
		if l, led, err := r.Who(); err != nil || led != (pid != 0) || l.Ident.PID != pid {
			t.Errorf("led %v by %+v, %v, want %d", led, l, err, pid)
		}
	}
	who(0)
	ctx := t.Context()
	first, err := r.Take(ctx, state.Leader{Ident: state.Ident{PID: 1}})
	if err != nil {
		t.Fatal(err)
	}
	who(1)
	if _, err := r.Take(ctx, state.Leader{}); !errors.Is(err, state.ErrLed) {
		t.Errorf("%v, want ErrLed", err)
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	for _, take := range []func(context.Context, state.Leader) (*Lease, error){r.Take, r.Next} {
		if _, err := take(over, state.Leader{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%v, want Canceled", err)
		}
	}
	if err := first.Delay([]state.Delay{{}}); err != nil || note == nil || len(note.Delays) != 1 {
		t.Errorf("%v, noted %+v", err, note)
	}
	for range 2 {
		if err := first.Release(); err != nil {
			t.Error(err)
		}
	}
	if err := first.Delay(nil); err != nil || note != nil {
		t.Errorf("after its release: %v, noted %+v", err, note)
	}
	who(0)
	second, err := r.Next(ctx, state.Leader{Ident: state.Ident{PID: 2}})
	if err != nil {
		t.Fatal(err)
	}
	who(2)
	note = nil
	who2, led, err := r.Who()
	if !led || err != nil || who2.Ident.PID != 0 {
		t.Errorf("of one that has not said so: %v %+v %v", led, who2, err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}

// TestAttend: any number may wait at once, and that is known until the last of them has gone. A
// file that is removed meanwhile is made anew.
func TestAttend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "waits.lock")
	if Awaited(path) {
		t.Error("nobody waits")
	}
	var waiting []*lock.Held
	for range 2 {
		h, err := Announce(t.Context(), path, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, h)
	}
	for _, h := range waiting {
		if !Awaited(path) {
			t.Error("somebody waits")
		}
		if err := h.Release(); err != nil {
			t.Error(err)
		}
	}
	if Awaited(path) {
		t.Error("all have gone")
	}
	looks, err := lock.Try(path, lock.Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Announce(t.Context(), path, 1); !errors.Is(err, state.ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
	if err := errors.Join(os.Remove(path), looks.Release()); err != nil {
		t.Skip(err) // where what is open cannot be removed
	}
	h, err := Announce(t.Context(), path, time.Minute)
	if err != nil || !Awaited(path) {
		t.Fatalf("after it was removed: %v", err)
	}
	if err := h.Release(); err != nil {
		t.Error(err)
	}
}
