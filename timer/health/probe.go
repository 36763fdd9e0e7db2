package health

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"
)

// prober makes single attempts. It holds no state: attempts may overlap.
type prober struct{ Options }

// probe makes one attempt and returns nil when the target is healthy. It ends soon after ctx does.
func (p *prober) probe(ctx context.Context, t Target) error {
	switch t.scheme {
	case "http", "https":
		return p.web(ctx, t.url)
	case "tcp":
		return p.tcp(ctx, t)
	case "tls":
		return p.tls(ctx, t)
	case "unix":
		return socket(ctx, t.arg)
	case "dns":
		_, err := p.addresses(ctx, t.host)
		return err
	case "file":
		return exists(t.arg)
	case "pid":
		return p.process(t.pid)
	case "task":
		return p.task(ctx, t.arg)
	case "exec":
		return execute(ctx, t.arg)
	}
	return &fault{text: "not a target: use Parse", permanent: true, rank: wrong}
}

func (p *prober) tcp(ctx context.Context, t Target) error {
	conn, err := p.connectHost(ctx, t.host, t.port)
	if err != nil {
		return err
	}
	return conn.Close()
}

func (p *prober) tls(ctx context.Context, t Target) error {
	addrs, err := p.addresses(ctx, t.host)
	if err != nil {
		return err
	}
	return race(ctx, addrs, func(ctx context.Context, addr netip.Addr, at *progress) error {
		conn, err := connect(ctx, addr, t.port)
		if err != nil {
			return err
		}
		defer conn.Close()
		at.reach(securing)
		return tls.Client(conn, p.trust(t.host)).HandshakeContext(ctx)
	})
}

// trust says which certificates are good for a host.
func (p *prober) trust(host string) *tls.Config {
	return &tls.Config{ServerName: host, InsecureSkipVerify: p.Insecure, RootCAs: p.CA}
}

func socket(ctx context.Context, path string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return conn.Close()
	case errors.Is(err, syscall.ENOENT):
		return &fault{text: "no such socket"}
	case errors.Is(err, syscall.EINVAL):
		return &fault{text: "the path is too long for a socket", permanent: true}
	case errors.Is(err, syscall.EAGAIN):
		return &fault{text: "the queue of connections is full"}
	case errors.Is(err, syscall.ECONNREFUSED):
		if info, err := os.Stat(path); err == nil && info.Mode()&os.ModeSocket == 0 {
			return &fault{text: "not a socket"}
		}
	}
	return explain(err, connecting)
}

func exists(path string) error {
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return &fault{text: "no such file"}
	}
	return err
}
