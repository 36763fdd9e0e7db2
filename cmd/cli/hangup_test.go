package cli

import (
	"os"
	"syscall"
	"testing"
)

// HUP is the end of a call, but of a runner that no terminal controls.
func TestHeed(t *testing.T) {
	var none Call
	if none.Heed(syscall.SIGHUP) {
		t.Error("a call without signals takes HUP")
	}
	s := Call{Hangup: &Hangup{}}
	if s.Heed(syscall.SIGHUP) {
		t.Error("a call that reads no settings again takes HUP")
	}
	again, over := Rereads(&s)
	s.Hangup.home = false
	for _, sig := range Endings {
		if s.Heed(sig) != (sig == os.Signal(syscall.SIGHUP)) {
			t.Errorf("%v is the wrong thing", sig)
		}
	}
	if !s.Heed(syscall.SIGHUP) { // the one before is still to be taken
		t.Error("a second one is the end")
	}
	if <-again; len(again) != 0 {
		t.Error("both are told")
	}
	over()
	if _, open := <-again; open || s.Heed(syscall.SIGHUP) {
		t.Error("it is taken when it is over")
	}
}
