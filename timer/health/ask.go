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

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// server is a kind of server that is asked in its own protocol whether it is ready. An open port is
// not enough. It is asked to do nothing. Where it demands a password nobody logs in: a server that
// demands one is ready.
type server struct {
	scheme string
	port   string // used when the target names none; "" when the target must
	like   string // a port for examples, when there is no usual one
	path   string // what may follow the host: "/db"; "" for nothing
	tls    bool
	alpn   []string                                      // with tls: the protocols to offer
	ask    func(context.Context, net.Conn, Target) error // nil: a connection is enough
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

// serverOf returns the row of a scheme, or nil when the scheme has no protocol of its own.
func serverOf(scheme string) *server {
	if i := slices.IndexFunc(servers[:], func(s server) bool { return s.scheme == scheme }); i >= 0 {
		return &servers[i]
	}
	return nil
}

// Secured returns the schemes that check a certificate.
func Secured() []string {
	list := []string{"https", "tls"}
	for _, s := range servers {
		if s.tls {
			list = append(list, s.scheme)
		}
	}
	return list
}

// askServer asks a server whether it is ready.
func (p *prober) askServer(ctx context.Context, s *server, t Target) error {
	addrs, err := p.addresses(ctx, t.host)
	if err != nil {
		return err
	}
	return race(ctx, addrs, func(ctx context.Context, addr netip.Addr, at *progress) error {
		conn, err := connect(ctx, addr, t.port)
		if err != nil {
			return t.withPort(err)
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
		if s.ask == nil {
			return nil
		}
		at.reach(answering)
		return s.ask(ctx, conn, t)
	})
}

// withPort adds the port to a fault of the connection when the target does not name it.
func (t Target) withPort(err error) error {
	f := *explain(err, connecting)
	if !f.late && t.url != nil && t.url.Port() == "" {
		f.Port = t.port
	}
	return &f
}

// maxReply is how many bytes of all answers of a server are read.
const maxReply = 64 << 10

func replies(conn io.Reader) *bufio.Reader { return bufio.NewReader(io.LimitReader(conn, maxReply)) }

// notReady returns the fault of a server that says that it is not ready.
func notReady(words string) *fault {
	return &fault{Cause: newCause(NotReady, words), answered: true, rank: wrong}
}

// denied returns the fault of a server that refuses what it was shown. The server is there, and
// waiting does not help.
func denied(words string) *fault {
	return &fault{Cause: newCause(Denied, words), permanent: true, present: true, answered: true, rank: wrong}
}

// otherProtocol returns the fault of an answer that is not in the protocol; said is its beginning.
func otherProtocol(protocol, said string) *fault {
	return &fault{Cause: Cause{Kind: OtherProtocol, Subject: protocol, Other: clipped(said)}, rank: broken}
}

// clipped returns the beginning of an answer that was not understood.
func clipped(said string) string {
	const most = 60
	return plain.Cut(printable(said), most)
}

// beginning returns what has arrived of an answer, to be quoted.
func beginning(r *bufio.Reader) string {
	some, _ := r.Peek(min(max(r.Buffered(), 1), 80))
	return string(some)
}

// readLine reads a line, without its end. A line that does not begin as it should, or that is
// longer than the buffer of the reader, is of another protocol.
func readLine(r *bufio.Reader, protocol, beginnings string) (string, error) {
	if first, err := r.Peek(1); err == nil && strings.IndexByte(beginnings, first[0]) < 0 {
		return "", otherProtocol(protocol, beginning(r))
	}
	text, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", otherProtocol(protocol, string(text))
	}
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}
