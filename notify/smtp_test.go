package notify

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/notify/notifytest"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/health/nettest"
)

// post serves mail, and returns the channel that leads there, and an Env that trusts its certificate.
func office(t *testing.T, s *notifytest.SMTP) (state.Channel, Env) {
	t.Helper()
	env := outside(map[string]string{})
	c := state.Channel{Name: "email", Type: Email, From: "Ouro <ouro@example.org>", Host: "127.0.0.1", TLS: "none"}
	config, certificate, err := notifytest.Certificate("", time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if s.Whole || s.TLS != nil {
		s.TLS, c.TLS, env.Roots = config, "starttls", x509.NewCertPool()
		env.Roots.AppendCertsFromPEM(certificate)
	}
	if s.Whole {
		c.TLS = "tls"
	}
	l := listen(t)
	go s.Serve(l, nil)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c.Port, _ = strconv.Atoi(port)
	return c, env
}

// read takes a mail apart: its headers, and its parts by their type.
func read(t *testing.T, data string) (mail.Header, map[string]string) {
	t.Helper()
	m, err := mail.ReadMessage(strings.NewReader(data))
	if err != nil {
		t.Fatalf("%v: %q", err, data)
	}
	parts := map[string]string{}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	plain := func(encoding string, r io.Reader) string {
		if encoding == "quoted-printable" {
			r = quotedprintable.NewReader(r)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		parts[kind] = plain(m.Header.Get("Content-Transfer-Encoding"), m.Body)
		return m.Header, parts
	}
	for r := multipart.NewReader(m.Body, params["boundary"]); ; {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return m.Header, parts
		}
		if err != nil {
			t.Fatal(err)
		}
		of, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type"))
		parts[of] = plain(p.Header.Get("Content-Transfer-Encoding"), p)
	}
}

func TestSMTP(t *testing.T) {
	for _, row := range []struct {
		name  string
		s     *notifytest.SMTP
		login string
	}{
		{"in the clear", &notifytest.SMTP{}, ""},
		{"STARTTLS", &notifytest.SMTP{TLS: &tls.Config{}}, ""},
		{"TLS from the start", &notifytest.SMTP{Whole: true}, ""},
		{"logged in after STARTTLS", &notifytest.SMTP{TLS: &tls.Config{}, User: "me", Password: "hunter2", Auth: "PLAIN LOGIN"}, "PLAIN me"},
		{"logged in with TLS", &notifytest.SMTP{Whole: true, User: "me", Password: "hunter2", Auth: "LOGIN"}, "LOGIN me"},
		{"no password is shown", &notifytest.SMTP{User: "me", Password: "hunter2", Auth: "PLAIN CRAM-MD5"}, "CRAM-MD5 me"},
		{"good-bye goes wrong", &notifytest.SMTP{Fault: map[string]string{"quit": "421 4.3.2 shutting down"}}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, env := office(t, row.s)
			c.User, c.Password = row.s.User, row.s.Password
			m := Message{ID: "k7m2/3", Subject: "Zażółć gęślą", Body: "first\n.\n..dots\nFrom here", To: "Bob <bob@example.org>"}
			detail, err := Send(t.Context(), c, m, env)
			if err != nil || detail != "Email sent successfully to Bob <bob@example.org>." {
				t.Fatal(detail, err)
			}
			mails := row.s.Mails()
			if len(mails) != 1 {
				t.Fatalf("%d mails", len(mails))
			}
			got := mails[0]
			if got.From != "ouro@example.org" || got.To != "bob@example.org" || got.Encrypted != (row.s.TLS != nil) || got.Login != row.login {
				t.Errorf("%+v", got)
			}
			head, parts := read(t, got.Data)
			var decoder mime.WordDecoder
			subject, _ := decoder.DecodeHeader(head.Get("Subject"))
			want := map[string]string{
				"From": `"Ouro" <ouro@example.org>`, "To": `"Bob" <bob@example.org>`, "Date": "Sat, 21 Nov 2026 09:00:00 +0000",
				"X-Ouro-Id": "k7m2/3", "Mime-Version": "1.0", "User-Agent": "ouro-timer",
			}
			for name, value := range want {
				if name == "Message-Id" {
					if id := head.Get(name); !strings.HasSuffix(id, "@example.org>") || len(id) != len("<@example.org>")+32 {
						t.Errorf("Message-Id: %s", id)
					}
				} else if head.Get(name) != value {
					t.Errorf("%s: %q, want %q", name, head.Get(name), value)
				}
			}
			if subject != m.Subject {
				t.Errorf("subject %q", subject)
			}
			if text := strings.ReplaceAll(parts["text/plain"], "\r\n", "\n"); len(parts) != 1 || strings.TrimSuffix(text, "\n") != m.Body {
				t.Errorf("%q", parts)
			}
			// The same message has the same Message-ID.
			if _, err := Send(t.Context(), c, m, env); err != nil {
				t.Fatal(err)
			}
			if again, _ := read(t, row.s.Mails()[1].Data); again.Get("Message-Id") != head.Get("Message-Id") {
				t.Errorf("%s, then %s", head.Get("Message-Id"), again.Get("Message-Id"))
			}
		})
	}
}

func TestSMTPOfHTML(t *testing.T) {
	s := &notifytest.SMTP{}
	c, env := office(t, s)
	c.To = "bob@example.org"
	body := "<h1>Report</h1><p>All is <b>well</b>, see <a href=\"https://example.org/r\">the page</a>.</p>" + strings.Repeat("<p>zażółć</p>", 200)
	if _, err := Send(t.Context(), c, Message{Body: body, HTML: true}, env); err != nil {
		t.Fatal(err)
	}
	head, parts := read(t, s.Mails()[0].Data)
	if got := strings.TrimSuffix(parts["text/html"], "\r\n"); got != body {
		t.Errorf("the HTML has %d bytes, want %d", len(got), len(body))
	}
	if text := parts["text/plain"]; !strings.HasPrefix(text, "Report\r\n\r\nAll is well, see the page (https://example.org/r).\r\n") {
		t.Errorf("%.200q", text)
	}
	if head.Get("Subject") != "Report" || head.Get("X-Ouro-Id") != "" {
		t.Errorf("%v", head)
	}
	for line := range strings.Lines(s.Mails()[0].Data) {
		if len(line) > 1000 { // RFC 5321, 4.5.3.1.6
			t.Errorf("a line has %d bytes", len(line))
		}
	}
}

func TestSMTPFaults(t *testing.T) {
	long := "550-5.7.1 first\r\n550 5.7.1 hunter2 \x1b[31m"
	for _, row := range []struct {
		at, fault string
		permanent bool
		say       string
	}{
		{"greet", "554 5.3.2 go away", true, "554 5.3.2 go away"},
		{"greet", "421 4.3.2 busy", false, "421 4.3.2 busy"},
		{"greet", "hello there", false, "hello there"},
		{"ehlo", "550 5.7.1 no", true, "550"},
		{"starttls", "454 4.7.0 not now", false, "454 4.7.0 not now"},
		{"auth", "535 5.7.8 wrong: aHVudGVyMg==", true, "535 5.7.8 wrong: …"},
		{"auth", "454 4.7.0 later", false, "454 4.7.0 later"},
		{"mail", "451 4.7.1 greylisted", false, "451 4.7.1 greylisted"},
		{"mail", "553 5.1.8 no such sender", true, "553 5.1.8 no such sender"},
		{"rcpt", "550 5.1.1 no such user", true, "550 5.1.1 no such user"},
		{"rcpt", "452 4.2.2 full", false, "452 4.2.2 full"},
		{"data", "554 5.6.0 no", true, "554 5.6.0 no"},
		{"body", "552 5.3.4 too big", true, "552 5.3.4 too big"},
		{"body", "451 4.3.0 later", false, "451 4.3.0 later"},
		{"rcpt", long, true, `… \x1b[31m`},
	} {
		s := &notifytest.SMTP{TLS: &tls.Config{}, User: "me", Password: "hunter2", Auth: "PLAIN", Fault: map[string]string{row.at: row.fault}}
		c, env := office(t, s)
		c.User, c.Password = s.User, s.Password
		_, err := Send(t.Context(), c, Message{Body: "x", To: "bob@example.org"}, env)
		e := fault(t, err)
		if e.Permanent != row.permanent || !strings.Contains(e.Text, row.say) || strings.Contains(e.Text, "hunter2") || !strings.Contains(e.Text, "127.0.0.1:"+strconv.Itoa(c.Port)) {
			t.Errorf("%s %q: %+v", row.at, row.fault, e)
		}
		if len(s.Mails()) > 0 {
			t.Errorf("%s %q: a mail was taken", row.at, row.fault)
		}
	}
}

// TestSMTPThatHangs: wherever a server stops to speak, the channel's time-out ends it.
func TestSMTPThatHangs(t *testing.T) {
	for _, at := range []string{"greet", "ehlo", "starttls", "auth", "mail", "rcpt", "data", "body"} {
		s := &notifytest.SMTP{TLS: &tls.Config{}, User: "me", Password: "hunter2", Auth: "PLAIN", Fault: map[string]string{at: "hang"}}
		c, env := office(t, s)
		c.User, c.Password, c.Timeout = s.User, s.Password, "100ms"
		begun := time.Now()
		_, err := Send(t.Context(), c, Message{Body: "x", To: "bob@example.org"}, env)
		if e := fault(t, err); e.Permanent || e.Text != "email did not answer within 100ms" {
			t.Errorf("%s: %+v", at, e)
		}
		if d := time.Since(begun); d > 2*time.Minute {
			t.Errorf("%s: it took %v", at, d)
		}
	}
	// Once it has taken the message, that is what counts.
	s := &notifytest.SMTP{Fault: map[string]string{"quit": "hang"}}
	c, env := office(t, s)
	c.Timeout = "200ms"
	if _, err := Send(t.Context(), c, Message{Body: "x", To: "bob@example.org"}, env); err != nil {
		t.Errorf("quit: %v", err)
	}
}

func TestSMTPRefuses(t *testing.T) {
	for _, row := range []struct {
		name string
		s    *notifytest.SMTP
		edit func(c *state.Channel, env *Env)
		say  string
	}{
		{"no STARTTLS there", &notifytest.SMTP{}, func(c *state.Channel, _ *Env) { c.TLS = "starttls" }, "offers no STARTTLS"},
		{"a certificate nobody known signed", &notifytest.SMTP{TLS: &tls.Config{}}, func(_ *state.Channel, env *Env) { env.Roots = x509.NewCertPool() }, "certificate"},
		{"the same with TLS from the start", &notifytest.SMTP{Whole: true}, func(_ *state.Channel, env *Env) { env.Roots = x509.NewCertPool() }, "certificate"},
		{"nobody can log in there", &notifytest.SMTP{}, func(c *state.Channel, _ *Env) { c.User, c.Password = "me", "hunter2" }, "takes no user and password"},
		{"no way to log in that is safe", &notifytest.SMTP{User: "x", Auth: "XOAUTH2"}, func(c *state.Channel, _ *Env) { c.User, c.Password = "me", "hunter2" }, "no way to log in"},
		{"a wrong password", &notifytest.SMTP{User: "me", Password: "y", Auth: "PLAIN"}, func(c *state.Channel, _ *Env) { c.User, c.Password = "me", "hunter2" }, "535 5.7.8"},
		{"a line break in the recipient", &notifytest.SMTP{}, func(c *state.Channel, _ *Env) { c.To = "a@b\r\nBcc: c@d" }, "control character"},
		{"a line break in the sender", &notifytest.SMTP{}, func(c *state.Channel, _ *Env) { c.From = "a@b\r\nBcc: c@d" }, "control character"},
		{"two recipients", &notifytest.SMTP{}, func(c *state.Channel, _ *Env) { c.To = "a@b, c@d" }, "are 2 addresses"},
		{"no recipient", &notifytest.SMTP{}, func(c *state.Channel, _ *Env) { c.To = "" }, "no recipient"},
		{"not an address", &notifytest.SMTP{}, func(c *state.Channel, _ *Env) { c.To = "bob" }, "not an address of email"},
	} {
		c, env := office(t, row.s)
		c.To = "bob@example.org"
		row.edit(&c, &env)
		_, err := Send(t.Context(), c, Message{Body: "x"}, env)
		if e := fault(t, err); !e.Permanent || !strings.Contains(e.Text, row.say) || strings.Contains(e.Text, "hunter2") {
			t.Errorf("%s: %+v", row.name, e)
		}
		if len(row.s.Mails()) > 0 {
			t.Errorf("%s: a mail was taken", row.name)
		}
	}
}

// TestSMTPNobodyThere: nothing listens.
func TestSMTPNobodyThere(t *testing.T) {
	_, port, _ := net.SplitHostPort(nettest.Refused(t))
	n, _ := strconv.Atoi(port)
	c := state.Channel{Name: "email", Type: Email, From: "a@b.example", To: "c@d.example", Host: "127.0.0.1", Port: n}
	_, err := Send(t.Context(), c, Message{Body: "x"}, outside(nil))
	if e := fault(t, err); e.Permanent || !strings.Contains(e.Text, "connection refused") {
		t.Errorf("%+v", e)
	}
}

// TestHeaderInjection: whatever a task's text is, it stays in the header or the body it belongs to.
func TestHeaderInjection(t *testing.T) {
	s := &notifytest.SMTP{}
	c, env := office(t, s)
	c.To = "bob@example.org"
	for _, subject := range []string{"a\r\nBcc: eve@example.org", "a\nX: y", "a\rX: y", "a\x00b", "a\u2028b", "\x1b]0;x\a"} {
		_, err := Send(t.Context(), c, Message{Subject: subject, Body: "x"}, env)
		if e := fault(t, err); !e.Permanent || !strings.Contains(e.Text, "control character") {
			t.Errorf("%q: %+v", subject, e)
		}
		if _, err := Send(t.Context(), c, Message{Subject: OneLine(subject), Body: "x"}, env); err != nil {
			t.Errorf("%q: %v", OneLine(subject), err)
		}
	}
	if _, err := Send(t.Context(), c, Message{Subject: "x", Body: "a\r\n.\r\nMAIL FROM:<eve@example.org>\r\nRCPT TO:<x@y>\r\nDATA\r\n"}, env); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"From": true, "To": true, "Subject": true, "Date": true, "Mime-Version": true, "Content-Type": true,
		"Content-Transfer-Encoding": true, "Message-Id": true, "User-Agent": true, "X-Mailer": true}
	for _, m := range s.Mails() {
		head, _ := read(t, m.Data)
		for name := range head {
			if !want[name] {
				t.Errorf("a header %s: %q", name, m.Data)
			}
		}
		if m.From != "ouro@example.org" || m.To != "bob@example.org" {
			t.Errorf("%+v", m)
		}
	}
	if n := len(s.Mails()); n != 7 {
		t.Errorf("%d mails", n)
	}
}
