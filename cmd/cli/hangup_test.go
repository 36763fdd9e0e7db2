package cli

import (
	"os"
	"syscall"
	"testing"
)

// HUP is the end of a call, but of a runner that no terminal controls.
func TestHeed(t *testing.T) {
	var none Call
	if none.HandleSignal(syscall.SIGHUP) {
		t.Error("a call without signals takes HUP")
	}
	s := Call{Hangup: &Hangup{}}
	if s.HandleSignal(syscall.SIGHUP) {
		t.Error("a call that reads no settings again takes HUP")
	}
	again, over := ReloadOnHangup(&s)
	s.Hangup.hadTerminal = false
	for _, sig := range Endings {
		if s.HandleSignal(sig) != (sig == os.Signal(syscall.SIGHUP)) {
			t.Errorf("%v is the wrong thing", sig)
		}
	}
	if !s.HandleSignal(syscall.SIGHUP) { // the one before is still to be taken
		t.Error("a second one is the end")
	}
	if <-again; len(again) != 0 {
		t.Error("both are told")
	}
	over()
	if _, open := <-again; open || s.HandleSignal(syscall.SIGHUP) {
		t.Error("it is taken when it is over")
	}
}
