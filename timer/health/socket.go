package health

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
)

// socket is healthy when it accepts a connection.
func (l *attempter) socket(ctx context.Context) observation {
	path := l.target.arg
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err == nil {
		return observation{err: conn.Close()}
	}
	return observation{err: explainSocket(err, path)}
}

func explainSocket(err error, path string) *fault {
	switch {
	case errors.Is(err, syscall.EINVAL):
		return &fault{Cause: Cause{Kind: LongPath}, permanent: true, inconclusive: true}
	case errors.Is(err, syscall.EAGAIN):
		return &fault{Cause: Cause{Kind: QueueFull}, present: true}
	case errors.Is(err, syscall.ECONNREFUSED):
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket == 0 {
			return &fault{Cause: Cause{Kind: NotSocket}}
		}
		return explain(err, connecting)
	case isLate(err):
		return explain(err, connecting)
	}
	return absent(err, NoSocket)
}
