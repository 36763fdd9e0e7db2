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
)

// fault is why a target is not healthy, and what that means for the attempts.
type fault struct {
	Cause
	permanent  bool // waiting does not mend it
	unseen     bool // it says nothing about the target, which could not be looked at
	present    bool // somebody is there, though not as asked
	answered   bool // the service itself said so: no other address is asked
	late       bool // time ran out, or the wait ended; the cause lacks how much time there was
	retryAfter time.Duration
	rank       rank
}

func (f *fault) Error() string { return f.String() }

// rank orders the faults of a host's addresses: the highest is the one worth telling.
type rank int

const (
	unreachable rank = iota
	refused
	silent
	broken
	wrong // permanent, or an answer
)

// phase is how far a probe has come; it words a time-out.
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

// missing is what had not come when time ran out.
func (p phase) missing() Kind {
	return [...]Kind{NoAddress, NoConnection, NoHandshake, NoAnswer, NoRedirectEnd, NoWholeBody, NoMatchInTime, NoEndOfCommand}[p]
}

// of is a cause that is only what somebody says.
func of(kind Kind, subject string) Cause { return Cause{Kind: kind, Subject: printable(subject)} }

// explain turns what a probe met in a phase into a fault. Texts of the peer's making are cut short
// and made printable.
func explain(err error, during phase) *fault {
	if f := (*fault)(nil); errors.As(err, &f) {
		return f
	}
	if isLate(err) {
		// Of the target that says nothing while our own side is still busy.
		return &fault{Cause: Cause{Kind: during.missing()}, late: true, unseen: during == resolving || during == matching, rank: silent}
	}
	for _, e := range []func(error) *fault{explainName, explainTLS, explainSystem, explainHTTP} {
		if f := e(err); f != nil {
			return f
		}
	}
	return &fault{Cause: of(System, innermost(err).Error()), rank: broken}
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
		return &fault{Cause: of(UnknownHost, e.Name), rank: unreachable}
	}
	return &fault{Cause: of(LookupFailed, e.Err), unseen: true, rank: unreachable}
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
		return never(Cause{Kind: WrongName, Subject: printable(holders(name.Certificate)), Other: printable(name.Host)})
	case errors.As(err, &unknown):
		return never(Cause{Kind: UnknownAuthority})
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && time.Now().Before(invalid.Cert.NotBefore):
		return invalidNow(Cause{Kind: NotYetValid, At: invalid.Cert.NotBefore})
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return invalidNow(Cause{Kind: Expired, At: invalid.Cert.NotAfter})
	case errors.As(err, &verify):
		return invalidNow(of(NotValid, strings.TrimPrefix(innermost(err).Error(), "x509: ")))
	case errors.Is(err, http.ErrSchemeMismatch):
		return passing(Cause{Kind: SpeaksHTTP})
	case errors.As(err, &record):
		return passing(Cause{Kind: NotTLS})
	case errors.As(err, &op) && op.Op == "remote error":
		return passing(of(EndedHandshake, strings.TrimPrefix(op.Err.Error(), "tls: ")))
	}
	return nil
}

// holders names whom a certificate is for.
func holders(c *x509.Certificate) string {
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
	// Who cannot be reached may be there: the way to them, or our own network, is down.
	known := map[syscall.Errno]fault{
		syscall.ECONNREFUSED:  {Cause: Cause{Kind: Refused}, rank: refused},
		syscall.ECONNRESET:    {Cause: Cause{Kind: Reset}, rank: broken},
		syscall.EPIPE:         {Cause: Cause{Kind: Reset}, rank: broken},
		syscall.ETIMEDOUT:     {Cause: Cause{Kind: Stalled}, rank: silent},
		syscall.EHOSTUNREACH:  {Cause: of(Unreachable, "host unreachable"), unseen: true, rank: unreachable},
		syscall.ENETUNREACH:   {Cause: of(Unreachable, "network unreachable"), unseen: true, rank: unreachable},
		syscall.EADDRNOTAVAIL: {Cause: of(Unreachable, "address not available"), unseen: true, rank: unreachable},
		syscall.EAFNOSUPPORT:  {Cause: of(Unreachable, "address family not supported"), unseen: true, rank: unreachable},
	}
	if f, ok := known[e]; ok {
		return &f
	}
	f := &fault{Cause: of(System, e.Error()), rank: broken}
	switch e {
	case syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EACCES, syscall.EPERM:
		f.unseen = true // of our own side
	}
	return f
}

func explainHTTP(err error) *fault {
	f := &fault{rank: broken}
	switch text := innermost(err).Error(); { // of net/http, which has no types for these
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		f.Kind = Closed
	case strings.Contains(text, "response headers exceeded"):
		f.Cause = Cause{Kind: LongHeader, Number: maxHeader >> 10}
	case strings.Contains(text, "failed to parse Location header"):
		// and quotes it, with what is secret in it
		f.Kind, f.answered, f.rank = RedirectBad, true, wrong
	case strings.Contains(text, "malformed HTTP"):
		f.Kind = NotHTTP
	default:
		return nil
	}
	return f
}

// innermost is the error at the end of the chain: the outer ones repeat the target, sometimes with
// its password.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}

// printable makes a text of foreign making safe to print: one short line.
func printable(text string) string {
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	clean = strings.Join(strings.Fields(clean), " ")
	if runes := []rune(clean); len(runes) > 160 {
		clean = string(runes[:159]) + "…"
	}
	return clean
}

// short writes a time limit as a person would: 5s, 1.5s, 250ms.
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
