package nats

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// link is a connection to one server.
type link struct {
	conn net.Conn
	info Info

	wmu sync.Mutex
	w   *bufio.Writer

	over  chan struct{}
	close sync.Once

	mu      sync.Mutex
	answers string // what the subjects of answers begin with: subscription 1
	// inboxes are found by the numbers of their subscriptions, those for answers by the last words
	// of their names
	inboxes map[string]*Inbox
	count   int // of subscriptions
}

func dial(ctx context.Context, server string, o Options) (*link, error) {
	u, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), "4222")
	}
	limited, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(limited, "tcp", host)
	if err != nil {
		return nil, err
	}
	l := &link{conn: conn, over: make(chan struct{}), answers: "_INBOX." + rand.Text() + ".", inboxes: map[string]*Inbox{}, count: 1}
	if err := l.greet(u, o); err != nil {
		conn.Close()
		return nil, err
	}
	return l, nil
}

// greet logs in, over TLS when the address or the server requires it.
func (l *link) greet(u *url.URL, o Options) error {
	_ = l.conn.SetDeadline(time.Now().Add(connectLimit))
	r := bufio.NewReaderSize(l.conn, lineMost)
	verb, rest, err := readLine(r)
	if err != nil {
		return err
	}
	if verb != "INFO" || json.Unmarshal([]byte(rest), &l.info) != nil {
		return errNotExpected
	}
	if u.Scheme == "tls" || l.info.TLS {
		config := &tls.Config{}
		if o.TLS != nil {
			config = o.TLS.Clone()
		}
		config.ServerName, config.MinVersion = u.Hostname(), tls.VersionTLS12
		secure := tls.Client(l.conn, config)
		if err := secure.Handshake(); err != nil {
			return err
		}
		l.conn, r = secure, bufio.NewReaderSize(secure, lineMost)
	}
	hello := map[string]any{"verbose": false, "pedantic": false, "tls_required": l.info.TLS, "name": "ouro-timer", "lang": "go", "version": "1", "protocol": 1,
		"headers": true, "no_responders": true, "echo": true}
	if o.Login != nil {
		o.Login.sign(l.info.Nonce, hello)
	}
	data, err := json.Marshal(hello)
	if err != nil {
		return err
	}
	l.w = bufio.NewWriterSize(l.conn, 64<<10)
	fmt.Fprintf(l.w, "CONNECT %s\r\nSUB %s* 1\r\nPING\r\n", data, l.answers)
	if err := l.w.Flush(); err != nil {
		return err
	}
	for verb != "PONG" {
		if verb, rest, err = readLine(r); err != nil {
			return err
		}
		// A login without permission for an inbox connects, but sends no requests.
		if verb == "-ERR" && !violates(rest) {
			return fmt.Errorf("the server refuses: %s", strings.Trim(rest, "'"))
		}
	}
	_ = l.conn.SetDeadline(time.Time{})
	go l.read(r)
	go l.ping()
	return nil
}

// readLine reads a line of the protocol: its first word, and the rest.
func readLine(r *bufio.Reader) (verb, rest string, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return "", "", err
	}
	verb, rest, _ = strings.Cut(strings.TrimRight(string(line), "\r\n"), " ")
	return strings.ToUpper(verb), strings.TrimSpace(rest), nil
}

func (l *link) alive() bool {
	select {
	case <-l.over:
		return false
	default:
		return true
	}
}

// end breaks the connection, so that everything that waits on it fails.
func (l *link) end() {
	l.close.Do(func() {
		close(l.over)
		l.conn.Close()
	})
}

// ping makes the server send something regularly, so that a dead connection is noticed.
func (l *link) ping() {
	ticks := time.NewTicker(pingEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if l.say("PING") != nil {
				return
			}
		case <-l.over:
			return
		}
	}
}

// say sends a line of the protocol.
func (l *link) say(format string, a ...any) error {
	return l.write(true, func(w *bufio.Writer) { fmt.Fprintf(w, format+"\r\n", a...) })
}

// write writes to the server, and flushes the buffer if asked to.
func (l *link) write(flush bool, say func(w *bufio.Writer)) error {
	l.wmu.Lock()
	defer l.wmu.Unlock()
	if !l.alive() {
		return ErrBroken
	}
	_ = l.conn.SetWriteDeadline(time.Now().Add(writeLimit))
	say(l.w)
	var err error
	if flush {
		err = l.w.Flush()
	}
	if err != nil {
		l.end()
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return nil
}

// read handles what the server sends, until the connection breaks.
func (l *link) read(r *bufio.Reader) {
	for {
		_ = l.conn.SetReadDeadline(time.Now().Add(silence))
		verb, rest, err := readLine(r)
		if err == nil {
			switch verb {
			case "MSG", "HMSG":
				err = l.message(r, verb == "HMSG", strings.Fields(rest))
			case "PING":
				err = l.say("PONG")
			case "PONG", "+OK", "INFO":
			case "-ERR": // the connection survives a missing permission
				if violates(rest) {
					l.denied(rest)
				} else {
					err = fmt.Errorf("the server says: %s", rest)
				}
			default:
				err = errNotExpected
			}
		}
		if err != nil {
			l.end()
			return
		}
	}
}

// violates reports whether an error of the server is about a permission.
func violates(said string) bool {
	return strings.Contains(strings.ToLower(said), "permissions violation")
}

// denied tells the inboxes that have sent what the server does not permit. Its error has the
// subject in quotes.
func (l *link) denied(said string) {
	_, subject, _ := strings.Cut(said, `"`)
	subject, _, _ = strings.Cut(subject, `"`)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.inboxes {
		s.denied(subject)
	}
}

// message reads a message and delivers it. The words are SUBJECT NUMBER [REPLY] [HEADER-BYTES]
// BYTES.
func (l *link) message(r *bufio.Reader, headed bool, words []string) error {
	least := 3
	if headed {
		least = 4
	}
	if len(words) < least || len(words) > least+1 {
		return errNotExpected
	}
	size, err := strconv.Atoi(words[len(words)-1])
	head := 0
	if headed && err == nil {
		head, err = strconv.Atoi(words[len(words)-2])
	}
	if err != nil || size < head || head < 0 || size > sizeMost {
		return errNotExpected
	}
	data := make([]byte, size+2)
	if _, err := io.ReadFull(r, data); err != nil {
		return err
	}
	m := Msg{Subject: words[0], Data: data[head:size]}
	if len(words) > least {
		m.Reply = words[2]
	}
	if headed {
		m.Header = ParseHeader(data[:head])
	}
	to := words[1]
	if to == "1" {
		to = strings.TrimPrefix(m.Subject, l.answers)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.inboxes[to]; s != nil {
		s.put(m)
	}
	return nil
}

// publish writes a message.
func (l *link) publish(m Msg, flush bool) error {
	var head strings.Builder
	if len(m.Header) > 0 {
		head.WriteString("NATS/1.0\r\n")
		for name, value := range m.Header {
			head.WriteString(name + ": " + value + "\r\n")
		}
		head.WriteString("\r\n")
	}
	if size := head.Len() + len(m.Data); l.info.Most > 0 && size > l.info.Most {
		return fmt.Errorf("%w: %d bytes of %d", ErrTooLarge, size, l.info.Most)
	}
	return l.write(flush, func(w *bufio.Writer) {
		to := m.Subject
		if m.Reply != "" {
			to += " " + m.Reply
		}
		if head.Len() > 0 {
			fmt.Fprintf(w, "HPUB %s %d %d\r\n", to, head.Len(), head.Len()+len(m.Data))
			_, _ = w.WriteString(head.String())
		} else {
			fmt.Fprintf(w, "PUB %s %d\r\n", to, len(m.Data))
		}
		_, _ = w.Write(m.Data)
		_, _ = w.WriteString("\r\n")
	})
}
