//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package cli

import (
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Spaces reports each press of the space bar on the terminal of standard input, until stop is
// called. pressed is nil when that is not a terminal. Meanwhile typed letters are not shown, other
// keys are dropped, and Ctrl-C and its like work as usual. The terminal is as before after stop,
// and while the process is stopped (Ctrl-Z) or in the background. A signal that cannot be caught
// leaves it changed.
//
// A space among other letters that come at once, as text that was typed ahead, does not count.
func Spaces(w World) (pressed <-chan struct{}, stop func()) {
	f, ok := w.In.(*os.File)
	if !ok || !IsTerminal(f) || !Foreground(f) {
		return nil, func() {}
	}
	ends, end, err := os.Pipe()
	if err != nil {
		return nil, func() {}
	}
	k := &keyboard{terminal: f, fd: int(f.Fd())}
	k.take()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGCONT)
	stoppable := !signal.Ignored(unix.SIGTSTP)
	if stoppable {
		signal.Notify(signals, unix.SIGTSTP)
	}
	// A process that reads in the background would be stopped, and the wait with it.
	unheard := !signal.Ignored(unix.SIGTTIN)
	if unheard {
		signal.Ignore(unix.SIGTTIN)
	}
	over := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() { k.stops(signals, over) })
	spaces := make(chan struct{}, 1)
	both.Go(func() { k.read(int(ends.Fd()), spaces) })
	return spaces, sync.OnceFunc(func() {
		close(over)
		end.Close()
		both.Wait()
		ends.Close()
		signal.Stop(signals)
		k.giveBack()
		if unheard {
			signal.Reset(unix.SIGTTIN)
		}
	})
}

// keyboard is a terminal that delivers each key at once.
type keyboard struct {
	terminal *os.File
	fd       int
	mu       sync.Mutex
	taken    bool
	before   unix.Termios // the settings before
}

// take lets keys come at once and not be shown, if this process has the terminal.
func (k *keyboard) take() {
	k.mu.Lock()
	defer k.mu.Unlock()
	is, err := unix.IoctlGetTermios(k.fd, getTermios)
	if err != nil || !Foreground(k.terminal) {
		return
	}
	if !k.taken || is.Lflag&unix.ICANON != 0 { // else it already has these settings
		k.before = *is
	}
	now := k.before
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 0, 0
	k.taken = unix.IoctlSetTermios(k.fd, setTermios, &now) == nil
}

// giveBack restores the settings of the terminal, unless another process has it.
func (k *keyboard) giveBack() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.taken && Foreground(k.terminal) {
		_ = unix.IoctlSetTermios(k.fd, setTermios, &k.before)
	}
	k.taken = false
}

// stops gives the terminal back before the process is stopped, and takes it again when it goes on.
func (k *keyboard) stops(signals chan os.Signal, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case sig := <-signals:
			if sig != unix.SIGTSTP {
				k.take()
				continue
			}
		}
		if sid, err := unix.Getsid(0); err != nil || sid == unix.Getpgrp() {
			// Without a shell nobody could continue the process, and so the system does not stop it
			// either.
			continue
		}
		k.giveBack()
		// Once a Go program has caught TSTP, the signal has no default action any more.
		_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	}
}

// read reports spaces until the other end of the pipe is closed, or the terminal ends.
func (k *keyboard) read(ends int, spaces chan<- struct{}) {
	var b [64]byte
	for {
		var set unix.FdSet
		set.Set(k.fd)
		set.Set(ends)
		if _, err := unix.Select(max(k.fd, ends)+1, &set, nil, nil, nil); err == unix.EINTR {
			continue
		} else if err != nil || set.IsSet(ends) {
			return
		}
		if !Foreground(k.terminal) { // another process reads the keys
			var ended unix.FdSet
			ended.Set(ends)
			pause := unix.NsecToTimeval(int64(200 * time.Millisecond))
			_, _ = unix.Select(ends+1, &ended, nil, nil, &pause)
			continue
		}
		n, err := unix.Read(k.fd, b[:])
		switch {
		case err == unix.EINTR || err == unix.EAGAIN:
		case err == unix.EIO && !Foreground(k.terminal):
		case err != nil || n <= 0:
			return
		case n == 1 && b[0] == ' ':
			select {
			case spaces <- struct{}{}:
			default:
			}
		}
	}
}
