package files

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestWaitIsTold: a process that waits for the state lock says so once, after a while, and who has it; it goes on when it can, and
// else ends with the same.
func TestWaitIsTold(t *testing.T) {
	dir := t.TempDir()
	must[state.Entry](t)(open(t, dir).Add(ctx, once("n"), day0))
	for _, gives := range []bool{true, false} {
		other := must[*tx](t)(open(t, dir).begin(ctx))
		told := 0
		s := must[*Store](t)(Open(dir, Options{LockWait: 2 * patience, Waiting: func(who *BusyError, most time.Duration) {
			if told++; most != 2*patience || who.Waited != patience || who.PID != 0 && (who.PID != os.Getpid() || who.Command == "") {
				t.Errorf("told of %+v, %v", who, most)
			}
			if gives {
				other.done()
			}
		}}))
		_, err := s.Add(ctx, once("n"), day0)
		var busy *BusyError
		if told != 1 || gives != (err == nil) || !gives && (!errors.As(err, &busy) || !errors.Is(err, state.ErrBusy)) {
			t.Errorf("given back %v: told %d times, %v", gives, told, err)
		}
		if !gives {
			other.done()
		}
	}
}
