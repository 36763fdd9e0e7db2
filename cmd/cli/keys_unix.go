//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package cli

import (
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// SpaceBar reports each press of the space bar on the terminal of standard input, until stop is
// called. pressed is nil when standard input is not a terminal. Until stop, typed characters are
// not shown, other keys are dropped, and Ctrl-C and its like work as usual. The terminal has its
// former settings again after stop, and while the process is stopped (Ctrl-Z) or in the background.
// If a signal that cannot be caught ends the process, the settings stay changed.
//
// A space that comes together with other characters, as in text that was typed ahead, does not
// count.
func SpaceBar(w World) (pressed <-chan struct{}, stop func()) {
	f, ok := w.In.(*os.File)
	if !ok || !IsTerminal(f) || !Foreground(f) {
		return nil, func() {}
	}
	ends, end, err := os.Pipe()
	if err != nil {
		return nil, func() {}
	}
	k := &keyboard{terminal: f, fd: int(f.Fd())}
	k.setRaw()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGCONT)
	stoppable := !signal.Ignored(unix.SIGTSTP)
	if stoppable {
		signal.Notify(signals, unix.SIGTSTP)
	}
	// A process that reads in the background would be stopped, and the wait with it.
	ignoreTTIN := !signal.Ignored(unix.SIGTTIN)
	if ignoreTTIN {
		signal.Ignore(unix.SIGTTIN)
	}
	over := make(chan struct{})
	var both sync.WaitGroup
	both.Go(func() { k.followStops(signals, over) })
	spaces := make(chan struct{}, 1)
	both.Go(func() { k.read(int(ends.Fd()), spaces) })
	return spaces, sync.OnceFunc(func() {
		close(over)
		end.Close()
		both.Wait()
		ends.Close()
		signal.Stop(signals)
		k.restore()
		if ignoreTTIN {
			signal.Reset(unix.SIGTTIN)
		}
	})
}

// keyboard is a terminal that delivers each key at once.
type keyboard struct {
	terminal *os.File
	fd       int
	mu       sync.Mutex
	raw      bool         // its settings are those of setRaw
	before   unix.Termios // its settings before setRaw
}

// setRaw makes the terminal deliver keys at once and not show them, if this process is in its
// foreground.
func (k *keyboard) setRaw() {
	k.mu.Lock()
	defer k.mu.Unlock()
	is, err := unix.IoctlGetTermios(k.fd, getTermios)
	if err != nil || !Foreground(k.terminal) {
		return
	}
	if !k.raw || is.Lflag&unix.ICANON != 0 { // else the settings are already those of setRaw
		k.before = *is
	}
	now := k.before
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 0, 0
	k.raw = unix.IoctlSetTermios(k.fd, setTermios, &now) == nil
}

// restore restores the settings of the terminal, unless another process is in its foreground.
func (k *keyboard) restore() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.raw && Foreground(k.terminal) {
		_ = unix.IoctlSetTermios(k.fd, setTermios, &k.before)
	}
	k.raw = false
}

// followStops restores the terminal before TSTP stops the process, and sets it again after CONT.
func (k *keyboard) followStops(signals chan os.Signal, over <-chan struct{}) {
	for {
		select {
		case <-over:
			return
		case sig := <-signals:
			if sig != unix.SIGTSTP {
				k.setRaw()
				continue
			}
		}
		if sid, err := unix.Getsid(0); err != nil || sid == unix.Getpgrp() {
			// Without a shell nobody could continue the process, and the system would not stop it
			// either.
			continue
		}
		k.restore()
		// TSTP has no default action any more once a Go program has caught it.
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
