//go:build unix

package proc

import (
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
)

// discarded receives the signals that no code in this process wants. It is never read, because a
// full channel drops further signals.
var discarded = make(chan os.Signal, 1)

// unignored are the signals for which resetSignals has set a handler.
var unignored atomic.Pointer[[]syscall.Signal]

// resetSignals makes children start with the default action for every signal, even if we were
// started with some ignored (nohup ignores HUP, a shell's "&" INT and QUIT). This process still
// ignores them.
//
// An ignored signal stays ignored across exec, but the action of a handled one becomes the default.
// So each ignored signal gets a handler that does nothing. signal.Reset would not do, because the
// runtime restores the inherited disposition. After resetSignals, signal.Ignored returns false for
// all of them, and Ignored true. signal.Ignore and signal.Reset of a signal undo it.
var resetSignals = sync.OnceFunc(func() {
	sigs := ignoredSignals()
	unignored.Store(&sigs)
	for _, sig := range sigs {
		signal.Notify(discarded, sig)
	}
})

// Ignored reports whether this process was started with a signal ignored. Unlike signal.Ignored it
// says so after resetSignals, too.
func Ignored(sig os.Signal) bool {
	if sigs := unignored.Load(); sigs != nil {
		return slices.ContainsFunc(*sigs, func(s syscall.Signal) bool { return s == sig })
	}
	return signal.Ignored(sig)
}

// ignoredSignals returns the signals that this process ignores: all of them if /proc shows them,
// and otherwise those two that the runtime reports.
func ignoredSignals() []syscall.Signal {
	var sigs []syscall.Signal
	if mask, ok := statusField("/proc/self/status", "SigIgn", 16); ok { // bit n-1 is signal n
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
