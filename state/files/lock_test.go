package files

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/lock"
)

// TestWaitIsTold: a process that waits for the state lock says so once, after a while, and who has it; it goes on when it can, and
// else ends with the same.
func TestWaitIsTold(t *testing.T) {
	dir := t.TempDir()
	must[state.Entry](t)(open(t, dir).Add(ctx, once("n"), day0))
	const most = lock.Patience + time.Second/2
	for _, gives := range []bool{true, false} {
		other := must[*tx](t)(open(t, dir).begin(ctx))
		told := 0
		s := must[*Store](t)(Open(dir, Options{LockWait: most, Waiting: func(who *lock.BusyError, of time.Duration) {
			if told++; of != most || who.Waited != lock.Patience || who.PID != 0 && (who.PID != os.Getpid() || who.Command == "") {
				t.Errorf("told of %+v, %v", who, of)
			}
			if gives {
				other.done()
			}
		}}))
		_, err := s.Add(ctx, once("n"), day0)
		var busy *lock.BusyError
		if told != 1 || gives != (err == nil) || !gives && (!errors.As(err, &busy) || !errors.Is(err, state.ErrBusy)) {
			t.Errorf("given back %v: told %d times, %v", gives, told, err)
		}
		if !gives {
			other.done()
		}
	}
}

// TestLockIsTried: however little a lock is waited for, one that nobody has is had: on a busy machine it is that little. Who has been told
// to give up gets none.
func TestLockIsTried(t *testing.T) {
	dir := t.TempDir()
	s := must[*Store](t)(Open(dir, Options{LockWait: 1}))
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	must[[]state.Entry](t)(s.Find(ctx, e.Task.ID))
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Add(over, once("n"), day0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := s.Lead(over, state.Leader{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	other := must[*tx](t)(open(t, dir).begin(ctx))
	defer other.done()
	var busy *lock.BusyError
	if _, err := s.Add(ctx, once("n"), day0); !errors.As(err, &busy) {
		t.Error(err)
	}
}
