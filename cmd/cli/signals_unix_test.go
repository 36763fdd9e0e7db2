//go:build unix

package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// TestSignalsOnceAwaited: nothing listens before somebody waits; from then on a signal is the cause
// of the end.
func TestSignalsOnceAwaited(t *testing.T) {
	heeded := make(chan os.Signal, 1)
	ctx, stop := WithSignalsOnceAwaited(context.Background(), func(sig os.Signal) bool {
		heeded <- sig
		return sig == syscall.SIGHUP
	})
	defer stop()
	child, end := context.WithCancel(ctx) // it waits for the end of what it comes from
	defer end()
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		if signal.Ignored(sig) {
			continue // nohup(1) runs these tests, and what is ignored stays so
		}
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		<-heeded
	}
	<-child.Done()
	var by *Signalled
	if !errors.As(Caught(child), &by) || by.Signal != syscall.SIGTERM || Caught(ctx) == nil {
		t.Errorf("the cause is %v", context.Cause(child))
	}
}

// TestSignalsNobodyAwaits: the end of a call that did not wait is its end.
func TestSignalsNobodyAwaits(t *testing.T) {
	ctx, stop := WithSignalsOnceAwaited(context.Background(), func(os.Signal) bool { return false })
	stop()
	<-ctx.Done()
	if Caught(ctx) != nil || ctx.Err() == nil {
		t.Errorf("it ended with %v", context.Cause(ctx))
	}
}
