package notifytest

import (
	"bufio"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"
)

// SMTP is a mail server of RFC 5321 that takes mail for anybody: EHLO with its extensions,
// STARTTLS, AUTH PLAIN, LOGIN and CRAM-MD5, MAIL, RCPT, DATA with dots unstuffed, RSET, NOOP and
// QUIT, each only where the protocol has it.
type SMTP struct {
	TLS      *tls.Config // for STARTTLS, or from the start
	Whole    bool        // TLS from the start
	User     string      // who must log in; "" for nobody
	Password string
	Auth     string // mechanisms offered, such as "PLAIN LOGIN"
	// Fault is an answer in place of the usual one, by the command it answers: "greet", "ehlo",
	// "starttls", "auth", "mail", "rcpt", "data", "body" (after the dot), "quit". "hang" says
	// nothing.
	Fault map[string]string

	mu   sync.Mutex
	took []Mail
}

// Mail is what was taken.
type Mail struct {
	From, To  string
	Data      string // as it was written, with CR LF, dots unstuffed
	Encrypted bool
	Login     string // the mechanism and the user
}

// Mails are those taken so far.
func (s *SMTP) Mails() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.took...)
}

// Serve takes connections until the listener is closed. It calls seen, if there is any, with each
// mail, before it is said to be taken.
func (s *SMTP) Serve(l net.Listener, seen func(Mail)) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			t := &talk{s: s, seen: seen}
			if s.Whole {
				secure := tls.Server(conn, s.TLS)
				if secure.Handshake() != nil {
					return
				}
				t.over(secure, true)
			} else {
				t.over(conn, false)
			}
			t.run()
		}()
	}
}

// talk is one connection.
type talk struct {
	s       *SMTP
	seen    func(Mail)
	conn    net.Conn
	r       *bufio.Reader
	greeted bool
	mail    Mail
	begun   bool // MAIL was taken
	secure  bool
	login   string
}

func (t *talk) over(conn net.Conn, secure bool) {
	t.conn, t.r, t.secure = conn, bufio.NewReader(conn), secure
}

func (t *talk) say(format string, a ...any) { fmt.Fprintf(t.conn, format+"\r\n", a...) }

// fault answers as Fault has it, if it has.
func (t *talk) fault(at string) bool {
	text, ok := t.s.Fault[at]
	if ok && text == "hang" {
		_, _ = io.Copy(io.Discard, t.conn)
	} else if ok {
		t.say("%s", text)
	}
	return ok
}

func (t *talk) line() (string, bool) {
	text, err := t.r.ReadString('\n')
	if err != nil || !strings.HasSuffix(text, "\r\n") {
		if err == nil {
			t.say("500 5.5.2 a line ends with CR LF")
		}
		return "", false
	}
	return strings.TrimSuffix(text, "\r\n"), true
}

func (t *talk) run() {
	if t.fault("greet") {
		return
	}
	t.say("220 mail.test ESMTP")
	for {
		text, ok := t.line()
		if !ok {
			return
		}
		word, rest, _ := strings.Cut(text, " ")
		switch word = strings.ToUpper(word); {
		case word == "QUIT":
			if !t.fault("quit") {
				t.say("221 2.0.0 bye")
			}
			return
		case word == "NOOP":
			t.say("250 2.0.0 ok")
		case word == "RSET":
			t.begun = false
			t.say("250 2.0.0 ok")
		case word == "EHLO" || word == "HELO":
			t.hello(word)
		case !t.greeted:
			t.say("503 5.5.1 EHLO first")
		case word == "STARTTLS":
			if !t.start() {
				return
			}
		case word == "AUTH":
			t.auth(rest)
		case t.s.User != "" && t.login == "":
			t.say("530 5.7.0 log in first")
		case word == "MAIL" && strings.HasPrefix(strings.ToUpper(rest), "FROM:<"):
			if !t.fault("mail") {
				t.begun, t.mail = true, Mail{From: between(rest), Encrypted: t.secure, Login: t.login}
				t.say("250 2.1.0 ok")
			}
		case word == "RCPT" && t.begun && strings.HasPrefix(strings.ToUpper(rest), "TO:<"):
			if !t.fault("rcpt") {
				t.mail.To = strings.TrimPrefix(t.mail.To+" "+between(rest), " ")
				t.say("250 2.1.5 ok")
			}
		case word == "DATA" && t.begun && t.mail.To != "":
			if !t.fault("data") && !t.data() {
				return
			}
		default:
			t.say("503 5.5.1 not now, or not like that")
		}
	}
}

func between(text string) string {
	_, rest, _ := strings.Cut(text, "<")
	inner, _, _ := strings.Cut(rest, ">")
	return inner
}

func (t *talk) hello(word string) {
	if t.fault("ehlo") {
		return
	}
	t.greeted = true
	if word == "HELO" {
		t.say("250 mail.test")
		return
	}
	lines := []string{"mail.test", "8BITMIME", "ENHANCEDSTATUSCODES"}
	if t.s.TLS != nil && !t.secure {
		lines = append(lines, "STARTTLS")
	}
	if t.s.Auth != "" {
		lines = append(lines, "AUTH "+t.s.Auth)
	}
	for i, text := range lines {
		dash := "-"
		if i == len(lines)-1 {
			dash = " "
		}
		t.say("250%s%s", dash, text)
	}
}

func (t *talk) start() bool {
	if t.fault("starttls") {
		return true
	}
	if t.s.TLS == nil || t.secure {
		t.say("502 5.5.1 no STARTTLS here")
		return true
	}
	t.say("220 2.0.0 go ahead")
	secure := tls.Server(t.conn, t.s.TLS)
	if secure.Handshake() != nil {
		return false
	}
	t.over(secure, true)
	t.greeted, t.begun = false, false
	return true
}

// auth is the exchange of RFC 4954.
func (t *talk) auth(rest string) {
	if t.fault("auth") {
		return
	}
	ask := func(question string) string {
		t.say("334 %s", base64.StdEncoding.EncodeToString([]byte(question)))
		text, _ := t.line()
		b, _ := base64.StdEncoding.DecodeString(text)
		return string(b)
	}
	mechanism, first, _ := strings.Cut(rest, " ")
	mechanism = strings.ToUpper(mechanism)
	user, right := "", false
	switch mechanism {
	case "PLAIN":
		b, _ := base64.StdEncoding.DecodeString(first)
		if first == "" {
			b = []byte(ask(""))
		}
		if parts := strings.Split(string(b), "\x00"); len(parts) == 3 {
			user, right = parts[1], parts[2] == t.s.Password
		}
	case "LOGIN":
		user = ask("Username:")
		right = ask("Password:") == t.s.Password
	case "CRAM-MD5":
		question := "<" + rand.Text() + "@mail.test>"
		answer := ask(question)
		var sum string
		user, sum, _ = strings.Cut(answer, " ")
		mac := hmac.New(md5.New, []byte(t.s.Password))
		mac.Write([]byte(question))
		right = sum == hex.EncodeToString(mac.Sum(nil))
	default:
		t.say("504 5.5.4 unknown mechanism")
		return
	}
	if !right || user != t.s.User {
		t.say("535 5.7.8 wrong user or password")
		return
	}
	t.login = mechanism + " " + user
	t.say("235 2.7.0 welcome")
}

func (t *talk) data() bool {
	t.say("354 end with a dot")
	var b strings.Builder
	for {
		text, ok := t.line()
		if !ok {
			return false
		}
		if text == "." {
			break
		}
		b.WriteString(strings.TrimPrefix(text, ".") + "\r\n")
	}
	if t.fault("body") {
		return true
	}
	t.begun, t.mail.Data = false, b.String()
	t.s.mu.Lock()
	t.s.took = append(t.s.took, t.mail)
	t.s.mu.Unlock()
	if t.seen != nil {
		t.seen(t.mail)
	}
	t.say("250 2.0.0 taken")
	return true
}
