package service

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"time"
)

// Notifier reports the state of a service of Type=notify to systemd, see sd_notify(3). The protocol
// is one datagram, so these 20 lines replace a library. The zero value reports to nobody.
type Notifier struct {
	// Socket is the value of NOTIFY_SOCKET: the path of a socket, or with @ before it the name of
	// one without a file.
	Socket string
}

// errSocket is the error of a NOTIFY_SOCKET of an unsupported kind, such as vsock:.
var errSocket = errors.New("NOTIFY_SOCKET names no socket of this machine")

// Tell sends lines such as READY=1. It waits for a second at most, because the listener may be
// gone.
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

// Saying returns the line that tells people what is being done. Line breaks become spaces.
func Saying(text string) string {
	return "STATUS=" + strings.Join(strings.Fields(text), " ")
}

// Watchdog returns the time within which WATCHDOG=1 must be sent again, see sd_watchdog_enabled(3),
// or 0 when nobody waits for that.
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
