//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package cli

import (
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Spaces receives each press of the space bar on the terminal that standard input is, until stop is
// called; nil when it is none. Meanwhile what is typed there is not shown, and what is no space is
// dropped; Ctrl-C and its like are what they were. The terminal is as before once stop has
// returned, and while the process is stopped (Ctrl-Z) or works in the background. What kills
// without a signal that can be caught leaves it as it is.
//
// A space within other letters that come at once, as what was typed ahead does, is none.
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
	// Who reads in the background would be stopped by it, and the wait with it.
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

// keyboard is a terminal whose letters come as they are typed.
type keyboard struct {
	terminal *os.File
	fd       int
	mu       sync.Mutex
	taken    bool
	before   unix.Termios // how it was
}

// take has letters come as they are typed, and not be shown, if the terminal is ours.
func (k *keyboard) take() {
	k.mu.Lock()
	defer k.mu.Unlock()
	is, err := unix.IoctlGetTermios(k.fd, getTermios)
	if err != nil || !Foreground(k.terminal) {
		return
	}
	if !k.taken || is.Lflag&unix.ICANON != 0 { // else it is as we have made it
		k.before = *is
	}
	now := k.before
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 0, 0
	k.taken = unix.IoctlSetTermios(k.fd, setTermios, &now) == nil
}

// giveBack has the terminal be as it was, unless somebody else has it.
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
			// there is no shell that could have it go on, and so the system stops nobody either
			continue
		}
		k.giveBack()
		// once a Go program has caught TSTP, that has its default action no more
		_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	}
}

// read tells of spaces until the other end of the pipe is closed, or nothing can be typed any more.
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
		if !Foreground(k.terminal) { // it is for somebody else
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
