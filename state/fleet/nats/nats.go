// Package nats speaks the client protocol of NATS, as far as a fleet needs it: requests, messages with headers, and inboxes. It is not the client
// library of NATS, because a program pays for what it is linked with at each start: that one costs a start 48 pages of memory and a millisecond, this
// one none (docs/decisions/0032).
//
// A connection that breaks ends what waits on it with an error; the next call makes another one. Nothing is sent twice.
package nats

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	connectLimit = 1500 * time.Millisecond // for one server
	writeLimit   = 2 * time.Second
	pingEvery    = 5 * time.Second
	silence      = 3 * pingEvery // after which a connection counts as broken
	lineMost     = 64 << 10      // bytes of a line of the protocol
	sizeMost     = 64 << 20      // and of a message
)

// What a call may answer.
var (
	ErrBroken      = errors.New("the connection is broken")
	ErrNobody      = errors.New("nobody answers such requests")
	ErrDenied      = errors.New("the server does not permit it")
	ErrTooLarge    = errors.New("more than the server takes in one message")
	ErrNoServer    = errors.New("no server can be reached")
	errNotExpected = errors.New("the server says what is not expected")
)

// Msg is a message.
type Msg struct {
	Subject, Reply string
	Header         Header
	Data           []byte
}

// Header is what stands before a message's data: names and values, Status and Description among them when the server says them.
type Header map[string]string

// Info is what a server says of itself.
type Info struct {
	Name    string   `json:"server_name"`
	Version string   `json:"version"`
	Nonce   string   `json:"nonce"`
	TLS     bool     `json:"tls_required"`
	Most    int      `json:"max_payload"`
	Others  []string `json:"connect_urls"`
}

// Options are how servers are reached.
type Options struct {
	Servers []string // nats://HOST:PORT or tls://HOST:PORT
	Login   *Login   // or nil
	TLS     *tls.Config
}

// Conn is a connection to one of the servers at a time. It may be used from any goroutine.
type Conn struct {
	o      Options
	mu     sync.Mutex
	link   *link
	next   int // the server that is tried first
	closed bool
}

// Dial connects to a server.
func Dial(ctx context.Context, o Options) (*Conn, error) {
	c := &Conn{o: o}
	_, err := c.live(ctx)
	return c, err
}

// Close ends the connection.
func (c *Conn) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed = true; c.link != nil {
		c.link.end(ErrBroken)
	}
}

// Info is what the present server says of itself.
func (c *Conn) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return Info{}
	}
	return c.link.info
}

// live is the connection there is, or a new one.
func (c *Conn) live(ctx context.Context) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrBroken
	}
	if c.link != nil && c.link.alive() {
		return c.link, nil
	}
	var last error
	for range c.o.Servers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		server := c.o.Servers[c.next%len(c.o.Servers)]
		l, err := dial(ctx, server, c.o)
		if err == nil {
			c.link = l
			return l, nil
		}
		last = fmt.Errorf("%s: %w", server, err)
		c.next++
	}
	return nil, fmt.Errorf("%w: %w", ErrNoServer, last)
}

// link is a connection to one server.
type link struct {
	conn net.Conn
	info Info

	wmu sync.Mutex
	w   *bufio.Writer

	mu    sync.Mutex
	err   error // why it is over
	over  chan struct{}
	inbox string              // what the names of ours begin with
	subs  map[uint64]*Inbox   // by number; 1 is of answers
	asked map[string]question // who waits for an answer, by the last word of the inbox
	count uint64
}

// question is what was asked, and where the answer goes.
type question struct {
	list   []Msg
	answer chan Msg // it has room for one
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
	l := &link{conn: conn, over: make(chan struct{}), inbox: "_INBOX." + rand.Text() + ".", subs: map[uint64]*Inbox{}, asked: map[string]question{}, count: 1}
	if err := l.greet(u, o); err != nil {
		conn.Close()
		return nil, err
	}
	return l, nil
}

// greet exchanges the first words, by TLS where the address or the server asks for it.
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
	fmt.Fprintf(l.w, "CONNECT %s\r\nSUB %s* 1\r\nPING\r\n", data, l.inbox)
	if err := l.w.Flush(); err != nil {
		return err
	}
	for verb != "PONG" {
		if verb, rest, err = readLine(r); err != nil {
			return err
		}
		if verb == "-ERR" && !violates(rest) { // who may have no inbox makes no requests
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

// end breaks the connection: who waits on it hears so.
func (l *link) end(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = why
		close(l.over)
		l.conn.Close()
	}
}

// ping keeps the connection from being silent.
func (l *link) ping() {
	ticks := time.NewTicker(pingEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			if l.write(true, func(w *bufio.Writer) { _, _ = w.WriteString("PING\r\n") }) != nil {
				return
			}
		case <-l.over:
			return
		}
	}
}

// write writes to the server, and sends off what was written.
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
		l.end(err)
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return nil
}

// read takes in what the server says, until the connection breaks.
func (l *link) read(r *bufio.Reader) {
	for {
		_ = l.conn.SetReadDeadline(time.Now().Add(silence))
		verb, rest, err := readLine(r)
		if err == nil {
			switch verb {
			case "MSG", "HMSG":
				err = l.message(r, verb == "HMSG", strings.Fields(rest))
			case "PING":
				err = l.write(true, func(w *bufio.Writer) { _, _ = w.WriteString("PONG\r\n") })
			case "PONG", "+OK", "INFO":
			case "-ERR": // the connection stays after what is only not permitted
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
			l.end(err)
			return
		}
	}
}

// violates reports whether a server refuses what is not permitted, and nothing else.
func violates(said string) bool {
	return strings.Contains(strings.ToLower(said), "permissions violation")
}

// denied tells those who have asked what the server does not permit, as it says with the subject in quotes.
func (l *link) denied(said string) {
	_, subject, _ := strings.Cut(said, `"`)
	subject, _, _ = strings.Cut(subject, `"`)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.subs {
		if s.refusals {
			s.put(Msg{Header: Header{"Status": "403", "Description": subject}})
		}
	}
	for token, q := range l.asked {
		if slices.ContainsFunc(q.list, func(m Msg) bool { return m.Subject == subject }) {
			delete(l.asked, token)
			q.answer <- Msg{Header: Header{"Status": "403", "Description": subject}}
		}
	}
}

// message reads a message and gives it to whom it is for: SUBJECT NUMBER [REPLY] [HEADER-BYTES] BYTES.
func (l *link) message(r *bufio.Reader, headed bool, words []string) error {
	least := 3
	if headed {
		least = 4
	}
	if len(words) < least || len(words) > least+1 {
		return errNotExpected
	}
	number, err := strconv.ParseUint(words[1], 10, 64)
	size, also := strconv.Atoi(words[len(words)-1])
	head := 0
	if headed {
		var bad error
		head, bad = strconv.Atoi(words[len(words)-2])
		also = errors.Join(also, bad)
	}
	if err = errors.Join(err, also); err != nil || size < head || head < 0 || size > sizeMost {
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
		m.Header = parseHeader(string(data[:head]))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if number == 1 {
		token := strings.TrimPrefix(m.Subject, l.inbox)
		if q, ok := l.asked[token]; ok {
			delete(l.asked, token)
			q.answer <- m
		}
		return nil
	}
	if s := l.subs[number]; s != nil {
		s.put(m)
	}
	return nil
}

// parseHeader reads NATS/1.0 [STATUS [DESCRIPTION]], and a name and a value on each further line.
func parseHeader(text string) Header {
	h := Header{}
	first, rest, _ := strings.Cut(text, "\r\n")
	status, description, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(first, "NATS/1.0")), " ")
	if status != "" {
		h["Status"], h["Description"] = status, description
	}
	for line := range strings.SplitSeq(rest, "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			h[name] = strings.TrimSpace(value)
		}
	}
	return h
}

// ParseHeader reads a header as the server keeps it.
func ParseHeader(data []byte) Header { return parseHeader(string(data)) }

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

// Publish sends messages, in order, over one connection, and waits for no answer.
func (c *Conn) Publish(ctx context.Context, list ...Msg) error {
	l, err := c.live(ctx)
	for i, m := range list {
		if err == nil {
			err = l.publish(m, i == len(list)-1)
		}
	}
	return err
}

// Request sends messages, in order, over one connection, and waits for the answer to the last.
func (c *Conn) Request(ctx context.Context, list ...Msg) (Msg, error) {
	l, err := c.live(ctx)
	if err != nil {
		return Msg{}, err
	}
	token, answer := rand.Text(), make(chan Msg, 1)
	l.mu.Lock()
	l.asked[token] = question{list, answer}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.asked, token)
		l.mu.Unlock()
	}()
	list = slices.Clone(list)
	list[len(list)-1].Reply = l.inbox + token
	for i, m := range list {
		if err := l.publish(m, i == len(list)-1); err != nil {
			return Msg{}, err
		}
	}
	select {
	case m := <-answer:
		if len(m.Data) == 0 && m.Header["Status"] == "503" {
			return m, ErrNobody
		}
		if len(m.Data) == 0 && m.Header["Status"] == "403" {
			return m, fmt.Errorf("%w: %s", ErrDenied, m.Header["Description"])
		}
		return m, nil
	case <-l.over:
		return Msg{}, ErrBroken
	case <-ctx.Done():
		return Msg{}, ctx.Err()
	}
}

// Inbox is where messages come that are for nobody else.
type Inbox struct {
	Name     string
	l        *link
	number   uint64
	refusals bool // it is told what is not permitted

	mu    sync.Mutex
	queue []Msg
	more  chan struct{} // has something when the queue has
}

// Inbox makes one, on the present connection.
func (c *Conn) Inbox(ctx context.Context) (*Inbox, error) {
	return c.listen(ctx, "_INBOX."+rand.Text(), "", false)
}

// Listen is an Inbox for what is sent to a subject. With a group, each message goes to one of those that listen
// in it. What the server does not permit over its connection comes as a message with the status 403.
func (c *Conn) Listen(ctx context.Context, subject, group string) (*Inbox, error) {
	return c.listen(ctx, subject, group, true)
}

func (c *Conn) listen(ctx context.Context, subject, group string, refusals bool) (*Inbox, error) {
	l, err := c.live(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.count++
	s := &Inbox{l: l, number: l.count, Name: subject, refusals: refusals, more: make(chan struct{}, 1)}
	l.subs[s.number] = s
	l.mu.Unlock()
	if group != "" {
		group += " "
	}
	return s, l.write(true, func(w *bufio.Writer) { fmt.Fprintf(w, "SUB %s %s%d\r\n", s.Name, group, s.number) })
}

// Send sends a message over the connection of the inbox.
func (s *Inbox) Send(m Msg) error { return s.l.publish(m, true) }

func (s *Inbox) put(m Msg) {
	s.mu.Lock()
	s.queue = append(s.queue, m)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// Next is the next message.
func (s *Inbox) Next(ctx context.Context) (Msg, error) {
	for {
		if m, ok := s.take(); ok {
			return m, nil
		}
		select {
		case <-s.more:
		case <-s.l.over:
			return Msg{}, ErrBroken
		case <-ctx.Done():
			return Msg{}, ctx.Err()
		}
	}
}

// Within is Next, with a limit on the time for this message.
func (s *Inbox) Within(ctx context.Context, limit time.Duration) (Msg, error) {
	if err := ctx.Err(); err != nil {
		return Msg{}, err
	}
	if m, ok := s.take(); ok { // of very many messages, most are there already
		return m, nil
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return s.Next(limited)
}

// take removes the first message that has come, if any.
func (s *Inbox) take() (m Msg, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return m, false
	}
	m, s.queue[0] = s.queue[0], Msg{}
	s.queue = s.queue[1:]
	return m, true
}

// Close ends the inbox.
func (s *Inbox) Close() {
	s.l.mu.Lock()
	delete(s.l.subs, s.number)
	s.l.mu.Unlock()
	_ = s.l.write(true, func(w *bufio.Writer) { fmt.Fprintf(w, "UNSUB %d\r\n", s.number) })
}
