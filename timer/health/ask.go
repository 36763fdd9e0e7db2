package health

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// server is a kind of server that is asked in its own protocol whether it is ready, and not only
// whether its port is open. It is asked to do nothing, and nobody logs in where a password is
// demanded: who demands one is ready.
type server struct {
	scheme string
	port   string // where the target names none; "" where it must
	like   string // a port for examples, where there is no usual one
	path   string // what may follow the host: "/db"; "": nothing
	tls    bool
	alpn   []string // with tls: the protocols to offer
	ask    func(context.Context, net.Conn, Target) error
}

// servers are all of them, in the order in which errors list them.
var servers = [...]server{
	{scheme: "postgres", port: "5432", path: "/db", ask: askPostgres},
	{scheme: "postgresql", port: "5432", path: "/db", ask: askPostgres},
	{scheme: "mysql", port: "3306", path: "/db", ask: askMySQL},
	{scheme: "redis", port: "6379", path: "/0", ask: askRedis},
	{scheme: "rediss", port: "6379", path: "/0", tls: true, ask: askRedis},
	{scheme: "amqp", port: "5672", path: "/vhost", ask: askAMQP},
	{scheme: "amqps", port: "5671", path: "/vhost", tls: true, ask: askAMQP},
	{scheme: "nats", port: "4222", ask: askNATS},
	{scheme: "kafka", port: "9092", ask: askKafka},
	{scheme: "grpc", like: "50051", path: "/service", ask: askGRPC},
	{scheme: "grpcs", like: "50051", path: "/service", tls: true, alpn: []string{"h2"}, ask: askGRPC},
}

// serverOf is the row of a scheme; nil for what is not asked in a protocol of its own.
func serverOf(scheme string) *server {
	if i := slices.IndexFunc(servers[:], func(s server) bool { return s.scheme == scheme }); i >= 0 {
		return &servers[i]
	}
	return nil
}

// Secured are the schemes that look at a certificate.
func Secured() []string {
	list := []string{"https", "tls"}
	for _, s := range servers {
		if s.tls {
			list = append(list, s.scheme)
		}
	}
	return list
}

// serve asks a server whether it is ready.
func (p *prober) serve(ctx context.Context, s *server, t Target) error {
	addrs, err := p.addresses(ctx, t.host)
	if err != nil {
		return err
	}
	return race(ctx, addrs, func(ctx context.Context, addr netip.Addr, at *progress) error {
		conn, err := connect(ctx, addr, t.port)
		if err != nil {
			return t.ported(err)
		}
		defer conn.Close()
		defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
		if s.tls {
			at.reach(securing)
			c := p.trust(t.host)
			c.NextProtos = s.alpn
			secure := tls.Client(conn, c)
			if err := secure.HandshakeContext(ctx); err != nil {
				return err
			}
			conn = secure
		}
		at.reach(answering)
		return s.ask(ctx, conn, t)
	})
}

// ported says at which port a connection did not come about, of a target that does not name it.
func (t Target) ported(err error) error {
	f := *explain(err, connecting)
	if !f.late && t.url.Port() == "" {
		f.Port = t.port
	}
	return &f
}

// maxReply bounds what is read of a server's answers, all of them together.
const maxReply = 64 << 10

func replies(conn io.Reader) *bufio.Reader { return bufio.NewReader(io.LimitReader(conn, maxReply)) }

// notReady is the fault of a server that says itself that it is not ready.
func notReady(words string) *fault {
	return &fault{Cause: of(NotReady, words), answered: true, rank: wrong}
}

// denied is the fault of a server that does not take what we have shown it: it is there, and no
// waiting makes it.
func denied(words string) *fault {
	return &fault{Cause: of(Denied, words), permanent: true, present: true, answered: true, rank: wrong}
}

// foreign is the fault of an answer that is not of the protocol; said is how it begins.
func foreign(protocol, said string) *fault {
	return &fault{Cause: Cause{Kind: OtherProtocol, Subject: protocol, Other: clipped(said)}, rank: broken}
}

// clipped is the beginning of an answer that was not understood.
func clipped(said string) string {
	const most = 60
	if said = printable(said); len([]rune(said)) > most {
		said = string([]rune(said)[:most-1]) + "…"
	}
	return said
}

// beginning is what has come of an answer, to be quoted.
func beginning(r *bufio.Reader) string {
	some, _ := r.Peek(min(max(r.Buffered(), 1), 80))
	return string(some)
}

// readLine reads a line of a protocol of lines, without its end. One that begins otherwise, or is
// longer than the reader's buffer, is none.
func readLine(r *bufio.Reader, protocol, beginnings string) (string, error) {
	if first, err := r.Peek(1); err == nil && strings.IndexByte(beginnings, first[0]) < 0 {
		return "", foreign(protocol, beginning(r))
	}
	text, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", foreign(protocol, string(text))
	}
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}
