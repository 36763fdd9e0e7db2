package daemon

import (
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// rereadOnHangup reads config.toml at each hangup, says what has changed, and sends a value to each
// of listeners.
func rereadOnHangup(given option.Values, hangups <-chan struct{}, listeners []chan<- struct{}, sender *sender,
	v *console) {
	for range hangups {
		changed, err := sender.reread()
		if err != nil {
			v.sayAlways("config.toml was not read again, and what it said before stays in force: %v", err)
			continue
		}
		v.say("%s", rereadWords(changed, given.Has("max-parallel")))
		for _, listener := range listeners {
			select {
			case listener <- struct{}{}:
			default:
			}
		}
	}
}

// rereadWords says what has changed in config.toml, and which changes this runner does not follow.
func rereadWords(changed []string, bounded bool) string {
	if len(changed) == 0 {
		return "config.toml was read again: nothing in it has changed"
	}
	text := "config.toml was read again; changed: " + strings.Join(changed, ", ")
	if slices.Contains(changed, "tz") {
		text += "; this runner shows times in the zone that it began with"
	}
	if bounded && slices.Contains(changed, "run.max_parallel") {
		text += "; --max-parallel beats run.max_parallel"
	}
	return text
}

// secondSignal returns a channel that is closed at the second INT or TERM. HUP does not count.
func secondSignal() (<-chan struct{}, func()) {
	kill, quit := make(chan struct{}), make(chan struct{})
	signals := make(chan os.Signal, 4)
	for _, sig := range cli.Endings {
		// A terminal that closes sends HUP, and its shell sends another, although the user closed
		// it once.
		if sig != syscall.SIGHUP && !proc.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	go func() {
		for range 2 {
			select {
			case <-signals:
			case <-quit:
				return
			}
		}
		close(kill)
	}()
	return kill, func() { signal.Stop(signals); close(quit) }
}
