package service

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"
)

// Notifier tells systemd how a service of Type=notify gets on, as sd_notify(3) has it. It is 20
// lines rather than a library: a datagram is all that the protocol is. The zero value tells nobody.
type Notifier struct {
	// Socket is what NOTIFY_SOCKET says: the path of a socket, or with @ in front the name of one
	// without a file.
	Socket string
}

// Notifies is the notifier that the environment names, if any.
func Notifies(getenv func(string) string) Notifier { return Notifier{getenv("NOTIFY_SOCKET")} }

// errSocket is a NOTIFY_SOCKET of a kind that is not known here, such as vsock:.
var errSocket = errors.New("NOTIFY_SOCKET names no socket of this machine")

// Tell sends lines such as READY=1. It waits for a second at the most: whoever listens may not do
// so any more.
func (n Notifier) Tell(lines ...string) error {
	if n.Socket == "" {
		return nil
	}
	if !strings.HasPrefix(n.Socket, "/") && !strings.HasPrefix(n.Socket, "@") {
		return errSocket
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	c, err := new(net.Dialer).DialContext(ctx, "unixgram", n.Socket)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	_, err = c.Write([]byte(strings.Join(lines, "\n")))
	return err
}

// Saying is the line that tells what is being done, for people. What would be a line of its own in
// it becomes a space.
func Saying(text string) string {
	return "STATUS=" + strings.Join(strings.Fields(text), " ")
}

// Watchdog says within what time WATCHDOG=1 is to be told again and again, as
// sd_watchdog_enabled(3) reads it; 0: nobody waits for that of the process.
func Watchdog(getenv func(string) string, pid int) time.Duration {
	usec, err := strconv.ParseInt(getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || usec <= 0 || usec > int64(time.Duration(1<<63-1)/time.Microsecond) {
		return 0
	}
	if of := getenv("WATCHDOG_PID"); of != "" && of != strconv.Itoa(pid) {
		return 0
	}
	return time.Duration(usec) * time.Microsecond
}
