package health

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// fault is why a target is not healthy, and what that means for further attempts.
type fault struct {
	Cause
	permanent    bool // waiting does not help
	inconclusive bool // it says nothing about the target, which could not be probed
	present      bool // somebody is there, but not as demanded
	answered     bool // the service itself said so, so no other address is asked
	late         bool // time ran out or the wait ended; Span is not set yet
	retryAfter   time.Duration
	rank         rank
}

func (f *fault) Error() string { return f.String() }

// rank orders the faults of the addresses of a host. The highest is the one to report.
type rank int

const (
	unreachable rank = iota
	refused
	silent
	broken
	wrong // permanent, or an answer
)

// phase is how far a probe has got. It decides the words of a time-out.
type phase int32

const (
	resolving phase = iota
	connecting
	securing
	answering
	redirected
	reading
	matching
	executing
)

// missing returns what had not arrived when time ran out.
func (p phase) missing() Kind {
	return [...]Kind{NoAddress, NoConnection, NoHandshake, NoAnswer, NoRedirectEnd, NoWholeBody, NoMatchInTime, NoEndOfCommand}[p]
}

// newCause returns a cause whose subject is somebody's words.
func newCause(kind Kind, subject string) Cause { return Cause{Kind: kind, Subject: printable(subject)} }

// explain turns an error that a probe met in a phase into a fault. Texts from the peer are cut
// short and made printable.
func explain(err error, during phase) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	if isLate(err) {
		// Our own side was still busy, so this says nothing about the target.
		return &fault{Cause: Cause{Kind: during.missing()}, late: true, inconclusive: during == resolving || during == matching, rank: silent}
	}
	for _, e := range []func(error) *fault{explainName, explainTLS, explainSystem, explainHTTP} {
		if f := e(err); f != nil {
			return f
		}
	}
	return &fault{Cause: newCause(System, innermost(err).Error()), rank: broken}
}

func isLate(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) ||
		errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout() && !errors.Is(err, syscall.ETIMEDOUT)
}

func explainName(err error) *fault {
	var e *net.DNSError
	switch {
	case !errors.As(err, &e):
		return nil
	case e.IsNotFound:
		return &fault{Cause: newCause(UnknownHost, e.Name), rank: unreachable}
	}
	return &fault{Cause: newCause(LookupFailed, e.Err), inconclusive: true, rank: unreachable}
}

func explainTLS(err error) *fault {
	var (
		name    x509.HostnameError
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		verify  *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		op      *net.OpError
	)
	never := func(c Cause) *fault { return &fault{Cause: c, permanent: true, present: true, rank: wrong} }
	invalidNow := func(c Cause) *fault { return &fault{Cause: c, present: true, rank: broken} }
	passing := func(c Cause) *fault { return &fault{Cause: c, rank: broken} }
	switch {
	case errors.As(err, &name):
		return never(Cause{Kind: WrongName, Subject: printable(certificateNames(name.Certificate)), Other: printable(name.Host)})
	case errors.As(err, &unknown):
		return never(Cause{Kind: UnknownAuthority})
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return invalidNow(Cause{Kind: NotYetValid, At: invalid.Cert.NotBefore})
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return invalidNow(Cause{Kind: Expired, At: invalid.Cert.NotAfter})
	case errors.As(err, &verify):
		return invalidNow(newCause(NotValid, strings.TrimPrefix(innermost(err).Error(), "x509: ")))
	case errors.Is(err, http.ErrSchemeMismatch):
		return passing(Cause{Kind: SpeaksHTTP})
	case errors.As(err, &record):
		return passing(Cause{Kind: NotTLS})
	case errors.As(err, &op) && op.Op == "remote error":
		return passing(newCause(EndedHandshake, strings.TrimPrefix(op.Err.Error(), "tls: ")))
	}
	return nil
}

// certificateNames returns the hosts that a certificate is for.
func certificateNames(c *x509.Certificate) string {
	names := c.DNSNames
	for _, ip := range c.IPAddresses {
		names = append(names[:len(names):len(names)], ip.String())
	}
	switch len(names) {
	case 0:
		return "no host"
	case 1:
		return names[0]
	}
	return fmt.Sprintf("%s and %d more", names[0], len(names)-1)
}

func explainSystem(err error) *fault {
	var e syscall.Errno
	if !errors.As(err, &e) {
		return nil
	}
	// A host that cannot be reached may still be there: the route to it, or our own network, may be
	// down.
	known := map[syscall.Errno]fault{
		syscall.ECONNREFUSED:  {Cause: Cause{Kind: Refused}, rank: refused},
		syscall.ECONNRESET:    {Cause: Cause{Kind: Reset}, rank: broken},
		syscall.EPIPE:         {Cause: Cause{Kind: Reset}, rank: broken},
		syscall.ETIMEDOUT:     {Cause: Cause{Kind: Stalled}, rank: silent},
		syscall.EHOSTUNREACH:  {Cause: newCause(Unreachable, "host unreachable"), inconclusive: true, rank: unreachable},
		syscall.ENETUNREACH:   {Cause: newCause(Unreachable, "network unreachable"), inconclusive: true, rank: unreachable},
		syscall.EADDRNOTAVAIL: {Cause: newCause(Unreachable, "address not available"), inconclusive: true, rank: unreachable},
		syscall.EAFNOSUPPORT:  {Cause: newCause(Unreachable, "address family not supported"), inconclusive: true, rank: unreachable},
	}
	if f, ok := known[e]; ok {
		return &f
	}
	f := &fault{Cause: newCause(System, e.Error()), rank: broken}
	switch e {
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EACCES, syscall.EPERM:
		f.inconclusive = true // it comes from our own side
	}
	return f
}

func explainHTTP(err error) *fault {
	f := &fault{rank: broken}
	// The texts of net/http, which has no types for these errors.
	switch text := innermost(err).Error(); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f.Kind = Closed
	case strings.Contains(text, "response headers exceeded"):
		f.Cause = Cause{Kind: LongHeader, Number: maxHeader >> 10}
	case strings.Contains(text, "failed to parse Location header"):
		// the text quotes the URL, with its secrets
		f.Kind, f.answered, f.rank = RedirectBad, true, wrong
	case strings.Contains(text, "malformed HTTP"):
		f.Kind = NotHTTP
	default:
		return nil
	}
	return f
}

// innermost returns the error at the end of the chain. The outer ones repeat the target, sometimes
// with its password.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// printable makes a text from somebody else safe to print: one short line.
func printable(text string) string {
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	return plain.Cut(strings.Join(strings.Fields(clean), " "), 160)
}

// short writes a time limit as a person does: 5s, 1.5s, 250ms.
func short(d time.Duration) string {
	switch {
	case d >= time.Second:
		d = d.Round(100 * time.Millisecond)
	default:
		d = max(d.Round(time.Millisecond), time.Millisecond)
	}
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
