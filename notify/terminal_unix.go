//go:build unix

package notify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix" // says whether a file is a terminal

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// Terminal writes a line of text and a bell to a terminal device, such as the one a reminder was
// set from. The device must still be a terminal of this user, because numbers of pseudo-terminals
// are given out again. It must also take messages, see mesg(1): a user who has switched them off
// wants no reminders there either. A terminal that takes nothing (stopped output) is given up after
// a second.
func Terminal(device, text string) error {
	return ring(device, "\a", text)
}

// ring is Terminal with the sequence that makes it ring: a bell or a notification.
func ring(device, bell, text string) error {
	info, err := os.Lstat(device)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&os.ModeCharDevice == 0 {
		return fmt.Errorf("%s is not a terminal", device)
	}
	if int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("%s is another user's terminal now", device)
	}
	if !takesMessages(info) {
		return takesNone(device)
	}
	f, err := os.OpenFile(device, os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	// A terminal in raw mode needs the carriage return; any other ignores it.
	line := bell + "\r\n" + strings.ReplaceAll(plain.Lines(text), "\n", "\r\n") + "\r\n"
	// Not every device can be polled. For those, O_NONBLOCK alone keeps the write from hanging.
	_ = f.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err = f.WriteString(line); errors.Is(err, syscall.EAGAIN) || errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("%s takes no output", device)
	}
	return err
}

// sendTerminal writes to the terminal of the message, a device. Without one, it writes to all
// terminals of this user that take messages, and succeeds when one of them took it.
func sendTerminal(_ context.Context, c state.Channel, m Message, env Env) (string, error) {
	devices := []string{}
	switch device := m.recipient(c); {
	case device == "":
		devices = terminals(ttys())
	case !isDevice(device):
		return "", permanent(notTerminal, plain.Line(device))
	default:
		devices = append(devices, device)
	}
	if len(devices) == 0 {
		return "", transient("%s", noTerminal)
	}
	type result struct {
		device string
		err    error
	}
	results := make(chan result, len(devices))
	for _, device := range devices {
		go func() { results <- result{device, ring(device, bellFor(device, m, env), m.line())} }()
	}
	var told []string
	var failed error
	for range devices {
		if r := <-results; r.err == nil {
			told = append(told, r.device)
		} else {
			failed = r.err
		}
	}
	if len(told) == 0 {
		return "", transient("%s", plain.Line(failed.Error())).named(c.Name)
	}
	slices.Sort(told)
	return fmt.Sprintf("Told by %s: %s.", c.Name, strings.Join(told, ", ")), nil
}

// CheckTerminal says why a device cannot be the recipient of a terminal channel. Its name must be
// one that tty(1) prints, of a terminal that exists now. No other device is opened. A terminal that
// takes no messages now is accepted. One that does not exist, or that belongs to another user, may
// do so again: that error is not permanent.
func CheckTerminal(device string) error {
	if !isDevice(device) {
		return permanent(notTerminal, plain.Line(device))
	}
	info, err := os.Lstat(device)
	if err != nil {
		return transient("there is no terminal %s; tty shows the name of the one you are at", plain.Line(device))
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || info.Mode()&os.ModeCharDevice == 0:
		return permanent(notTerminal, plain.Line(device))
	case int(stat.Uid) != os.Getuid():
		return transient("%s is another user's terminal; tty shows the name of the one you are at", plain.Line(device))
	case !isTerminal(device):
		return permanent(notTerminal, plain.Line(device))
	}
	return nil
}

// readyTerminal is CheckTerminal for writing to the device now: it must take messages as well.
func readyTerminal(device string) error {
	if err := CheckTerminal(device); err != nil {
		return err
	}
	if info, err := os.Lstat(device); err != nil || !takesMessages(info) {
		return takesNone(device)
	}
	return nil
}

func takesNone(device string) error {
	return transient("%s takes no messages; mesg y there allows them", plain.Line(device))
}

const notTerminal = "%s is not a terminal; write it as tty(1) does, as in /dev/pts/3"

// takesMessages reports whether others may write to the terminal, which mesg(1) sets.
func takesMessages(info os.FileInfo) bool { return info.Mode().Perm()&0o020 != 0 }

const noTerminal = "no terminal of yours takes messages; mesg y in one allows it"

// ttys returns the folder of the terminals of people.
func ttys() string {
	switch runtime.GOOS {
	case "darwin":
		return "/dev/ttys[0-9]*"
	case "openbsd":
		return "/dev/tty[p-zP-T]*"
	}
	return "/dev/pts/[0-9]*"
}

// isDevice reports whether a path is the name of a terminal. Nothing else under /dev is opened,
// because opening some devices does something: /dev/pts/ptmx makes a terminal. /dev/tty is another
// terminal for every process.
func isDevice(path string) bool {
	if number, ok := strings.CutPrefix(path, "/dev/pts/"); ok {
		return number != "" && strings.Trim(number, "0123456789") == ""
	}
	return filepath.Clean(path) == path && strings.HasPrefix(path, "/dev/tty") && path != "/dev/tty"
}

// terminals returns the terminals of a pattern that belong to this user and take messages, see
// mesg(1).
func terminals(pattern string) (list []string) {
	names, _ := filepath.Glob(pattern) // the pattern is our own
	for _, name := range names {
		info, err := os.Lstat(name)
		if err != nil {
			continue
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if ok && info.Mode()&os.ModeCharDevice != 0 && int(stat.Uid) == os.Getuid() && takesMessages(info) && isTerminal(name) {
			list = append(list, name)
		}
	}
	return list
}

// isTerminal asks the device itself.
func isTerminal(device string) bool {
	f, err := os.OpenFile(device, os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	is := false
	err = raw.Control(func(fd uintptr) {
		_, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ)
		is = err == nil
	})
	return is && err == nil
}
