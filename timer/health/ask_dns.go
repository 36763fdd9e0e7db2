package health

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// dnsAgain is how long to wait for an answer by UDP before the question is sent again.
const dnsAgain = time.Second

// dnsTypes are the record types that a server can be asked for, and their numbers (RFC 1035, 3596,
// 2782).
var dnsTypes = [...]dnsType{{"A", 1}, {"AAAA", 28}, {"CNAME", 5}, {"MX", 15}, {"NS", 2}, {"PTR", 12}, {"SOA", 6}, {"SRV", 33}, {"TXT", 16}}

// parseDNS reads dns://server/name?type=A, as in RFC 4501.
func parseDNS(text, masked string) (*url.URL, error) {
	u, err := parseWeb(text, masked)
	if err != nil {
		return nil, err
	}
	name := strings.Trim(u.Path, "/")
	if err := checkHost(name); err != nil {
		return nil, err
	}
	switch _, err := dnsQuestion(u); {
	case err == errDNSName:
		return nil, predicate(err.Error(), `try "dns://`+u.Host+`/example.org"`)
	case err != nil:
		names := make([]string, len(dnsTypes))
		for i, t := range dnsTypes {
			names[i] = t.name
		}
		return nil, predicate(err.Error(), `try "dns://`+u.Host+"/"+name+`?type=AAAA"; the types are `+plain.List(names, "or"))
	}
	return u, nil
}

type dnsType struct {
	name string
	kind uint16
}

var errDNSName = errors.New("asks for no name of DNS")

// question is what a server is asked for.
type question struct {
	dnsType
	wire []byte // as it is sent: labels, type, class
}

// dnsQuestion returns the question of a target. Without a type it asks for addresses of IPv4.
func dnsQuestion(u *url.URL) (question, error) {
	q := question{dnsType: dnsTypes[0]}
	for label := range strings.SplitSeq(strings.Trim(u.Path, "/."), ".") {
		if len(label) < 1 || len(label) > 63 {
			return q, errDNSName
		}
		q.wire = append(append(q.wire, byte(len(label))), label...)
	}
	if q.wire = append(q.wire, 0); len(q.wire) > 255 {
		return q, errDNSName
	}
	query := u.Query()
	for key := range query {
		i := slices.IndexFunc(dnsTypes[:], func(t dnsType) bool { return strings.EqualFold(query.Get(key), t.name) })
		if !strings.EqualFold(key, "type") || i < 0 {
			return q, errors.New("asks for a type of record that is not known")
		}
		q.dnsType = dnsTypes[i]
	}
	q.wire = append(binary.BigEndian.AppendUint16(q.wire, q.kind), 0, 1)
	return q, nil
}

// nameServer asks a server for a name. The target is healthy when the answer has a record of the
// type.
func (p *prober) nameServer(ctx context.Context, t Target) error {
	q, err := dnsQuestion(t.url)
	if err != nil {
		return err
	}
	addrs, err := p.addresses(ctx, t.host)
	if err != nil {
		return err
	}
	return race(ctx, addrs, func(ctx context.Context, addr netip.Addr, at *progress) error {
		at.reach(answering)
		answer, err := dnsUDP(ctx, net.JoinHostPort(addr.String(), t.port), q)
		if err == nil && answer.truncated {
			answer, err = dnsTCP(ctx, addr, t.port, q)
		}
		if err != nil {
			return t.withPort(err)
		}
		return judgeDNS(answer, q)
	})
}

// query returns the packet of a question. It asks the server to ask other servers. Its first two
// bytes are its number.
func (q question) query() []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(rand.Uint32()))
	return append(append(b, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0), q.wire...)
}

// dnsUDP sends the question again and again until its answer arrives.
func dnsUDP(ctx context.Context, to string, q question) (*dnsAnswer, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "udp", to)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	query := q.query()
	defer context.AfterFunc(ctx, func() { conn.SetWriteDeadline(time.Unix(1, 0)) })()
	for packet := make([]byte, 4096); ; {
		if _, err := conn.Write(query); err != nil {
			return nil, err
		}
		again := time.Now().Add(dnsAgain)
		if end, bounded := ctx.Deadline(); bounded && end.Before(again) {
			again = end
		}
		_ = conn.SetReadDeadline(again) // never fails
		for {
			n, err := conn.Read(packet)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				return nil, err
			}
			if a, ok := q.answer(packet[:n], query); ok {
				return a, nil // other packets answer another question, or come from somebody else
			}
		}
	}
}

// dnsTCP asks by TCP, for an answer that is too long for UDP.
func dnsTCP(ctx context.Context, addr netip.Addr, port string, q question) (*dnsAnswer, error) {
	conn, err := connect(ctx, addr, port)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	query := q.query()
	if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(query))), query...)); err != nil {
		return nil, err
	}
	head := make([]byte, 2)
	if _, err := io.ReadFull(conn, head); err != nil {
		return nil, err
	}
	packet := make([]byte, binary.BigEndian.Uint16(head))
	if _, err := io.ReadFull(conn, packet); err != nil {
		return nil, err
	}
	a, ok := q.answer(packet, query)
	if !ok {
		return nil, otherProtocol("DNS", string(packet))
	}
	return a, nil
}

// dnsAnswer is the part of an answer that is judged.
type dnsAnswer struct {
	code      byte
	truncated bool
	kinds     []uint16 // the types of its records
}

// answer reads a packet. It reports false when the packet does not answer the query. Of a packet
// that is cut off, it reads what is there.
func (q question) answer(packet, query []byte) (*dnsAnswer, bool) {
	if len(packet) < 12 || packet[0] != query[0] || packet[1] != query[1] || packet[2]&0x80 == 0 {
		return nil, false
	}
	a := &dnsAnswer{code: packet[3] & 15, truncated: packet[2]&2 != 0}
	asked, records := binary.BigEndian.Uint16(packet[4:]), binary.BigEndian.Uint16(packet[6:])
	rest := packet[12:]
	if asked == 1 {
		if len(rest) < len(q.wire) || !bytes.EqualFold(rest[:len(q.wire)], q.wire) {
			return nil, false
		}
		rest = rest[len(q.wire):]
	} else if asked > 1 || a.code == 0 {
		return nil, false
	}
	for range records {
		// skip the labels of a name, which ends with 0 or with two bytes that point to the rest
		for len(rest) > 0 && rest[0] > 0 && rest[0] < 64 {
			rest = rest[min(len(rest), 1+int(rest[0])):]
		}
		end := 1
		if len(rest) > 0 && rest[0] >= 192 {
			end = 2
		}
		if len(rest) < end+10 {
			break
		}
		a.kinds = append(a.kinds, binary.BigEndian.Uint16(rest[end:]))
		size := end + 10 + int(binary.BigEndian.Uint16(rest[end+8:]))
		rest = rest[min(len(rest), size):]
	}
	return a, true
}

// judgeDNS refuses an answer without a record of the type.
func judgeDNS(a *dnsAnswer, q question) error {
	// RFC 1035, section 4.1.1
	names := []string{"", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"}
	switch {
	case int(a.code) >= len(names):
		return notReady("RCODE " + strconv.Itoa(int(a.code)))
	case a.code != 0:
		return notReady(names[a.code])
	case !slices.Contains(a.kinds, q.kind):
		return &fault{Cause: newCause(NoRecord, q.name), answered: true, rank: wrong}
	}
	return nil
}
