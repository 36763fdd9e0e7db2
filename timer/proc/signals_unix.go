//go:build unix

package proc

import (
	"bytes"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
)

// swallowed receives the signals that nobody in this process wants. Nobody reads it: a full channel
// drops the rest.
var swallowed = make(chan os.Signal, 1)

var resetSignals = sync.OnceFunc(func() {
	for _, sig := range ignoredSignals() {
		signal.Notify(swallowed, sig)
	}
})

// ResetSignals makes children start with the default action for every signal, even if we were
// started with some ignored (nohup ignores HUP, a shell's "&" INT and QUIT). We still ignore them.
//
// An ignored signal stays ignored across exec, but a handled one becomes the default. So each
// ignored signal gets a handler that does nothing. signal.Reset would not do, because the runtime
// puts the inherited disposition back. Afterwards signal.Ignored returns false, so call it before.
// Start and Detach call this; signal.Ignore and signal.Reset of a signal undo it.
func ResetSignals() { resetSignals() }

// ignoredSignals are those that this process ignores: all of them if /proc tells, else the two that
// the runtime reports.
func ignoredSignals() []syscall.Signal {
	var sigs []syscall.Signal
	if mask, ok := ignoredMask(); ok {
		for n := range 64 {
			if mask&(1<<n) != 0 {
				sigs = append(sigs, syscall.Signal(n+1))
			}
		}
		return sigs
	}
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			sigs = append(sigs, sig)
		}
	}
	return sigs
}

// ignoredMask is the SigIgn line of /proc/self/status: bit n-1 is signal n.
func ignoredMask() (uint64, bool) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, false
	}
	_, rest, found := bytes.Cut(status, []byte("\nSigIgn:\t"))
	if !found {
		return 0, false
	}
	digits, _, _ := bytes.Cut(rest, []byte("\n"))
	mask, err := strconv.ParseUint(string(digits), 16, 64)
	return mask, err == nil
}
