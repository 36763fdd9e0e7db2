//go:build unix

package notify

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Terminal writes a line of text and a bell to a terminal device, such as the one a reminder was set from. The device must
// still be a terminal of this user: numbers of pseudo-terminals are given out again. A terminal that takes nothing
// (stopped output) is given up after a second; nobody waits for it.
func Terminal(device, text string) error {
	info, err := os.Lstat(device)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&os.ModeCharDevice == 0 {
		return fmt.Errorf("%s is no terminal", device)
	}
	if int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("%s is another user's terminal now", device)
	}
	f, err := os.OpenFile(device, os.O_WRONLY|syscall.O_NOCTTY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	// A terminal in raw mode needs the carriage return; elsewhere it does no harm.
	line := "\a\r\n" + strings.ReplaceAll(Plain(text), "\n", "\r\n") + "\r\n"
	// Not every device can be polled; O_NONBLOCK alone then keeps the write from hanging.
	_ = f.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err = f.WriteString(line); errors.Is(err, syscall.EAGAIN) {
		return fmt.Errorf("%s takes no output", device)
	}
	return err
}
