package health

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"time"
)

// prober makes single attempts on what is not on the disks or among the processes of this machine.
// It holds no state.
type prober struct{ Options }

// probe makes one attempt and returns nil when the target is healthy. It ends soon after ctx does.
func (p *prober) probe(ctx context.Context, t Target) error {
	switch t.scheme {
	case "http", "https":
		return p.web(ctx, t.url)
	case "tcp":
		return p.tcp(ctx, t)
	case "tls":
		return p.askServer(ctx, &server{tls: true}, t)
	case "dns":
		if t.url != nil {
			return p.nameServer(ctx, t)
		}
		_, err := p.addresses(ctx, t.host)
		return err
	case "docker":
		return p.docker(ctx, t.arg)
	case "exec":
		return execute(ctx, t.arg, p.Env)
	}
	if s := serverOf(t.scheme); s != nil {
		return p.askServer(ctx, s, t)
	}
	return &fault{Cause: newCause(NoTarget, "not a target: use Parse"), permanent: true, inconclusive: true, rank: wrong}
}

func (p *prober) tcp(ctx context.Context, t Target) error {
	conn, err := p.connectHost(ctx, t.host, t.port, &progress{})
	if err != nil {
		return err
	}
	return conn.Close()
}

// trust returns which certificates are accepted for a host.
func (p *prober) trust(host string) *tls.Config {
	c := &tls.Config{ServerName: host, InsecureSkipVerify: p.Insecure, RootCAs: p.CA}
	if p.MinDays > 0 {
		c.VerifyConnection = func(s tls.ConnectionState) error { return lasts(s, p.MinDays, time.Now()) }
	}
	return c
}

// lasts demands that a certificate and one of its chains are valid for so many more whole days.
func lasts(s tls.ConnectionState, days int, now time.Time) error {
	chains := s.VerifiedChains
	if len(chains) == 0 { // any certificate is accepted
		chains = [][]*x509.Certificate{s.PeerCertificates[:1]}
	}
	var end time.Time
	for _, chain := range chains {
		last := slices.MinFunc(chain, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
		if last.NotAfter.After(end) {
			end = last.NotAfter
		}
	}
	left := int(end.Sub(now) / (24 * time.Hour))
	switch {
	case now.After(end):
		return &fault{Cause: Cause{Kind: Expired, At: end}, present: true, rank: wrong}
	case left < days:
		return &fault{Cause: Cause{Kind: EndsSoon, Number: left, At: end}, present: true, rank: wrong}
	}
	return nil
}
