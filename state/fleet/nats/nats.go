// Package nats speaks the client protocol of NATS, as far as a fleet needs it: requests, messages
// with headers, and inboxes. It replaces the client library of NATS, whose initialization costs 48
// pages of memory and a millisecond at each start of a program that is linked with it
// (docs/decisions/0032).
//
// When a connection breaks, the calls that wait on it fail, and the next call makes a new
// connection. Nothing is sent twice.
package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	connectLimit = 1500 * time.Millisecond // for one server
	writeLimit   = 2 * time.Second
	pingEvery    = 5 * time.Second
	silence      = 3 * pingEvery // after which a connection counts as broken
	lineMost     = 64 << 10      // the bytes of a line of the protocol
	sizeMost     = 64 << 20      // the bytes of a message
)

// The errors of calls.
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

// Header has the headers of a message by their names. Status and Description are among them when
// the server sends a status.
type Header map[string]string

// Info describes a server.
type Info struct {
	Name    string `json:"server_name"`
	Version string `json:"version"`
	Nonce   string `json:"nonce"`
	TLS     bool   `json:"tls_required"`
	Most    int    `json:"max_payload"`
}

// Options say how to reach the servers.
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
		c.link.end()
	}
}

// Info returns the description of the present server.
func (c *Conn) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return Info{}
	}
	return c.link.info
}

// live returns the present connection, or a new one when that is broken.
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

// Leave ends the present connection, if there is more than one server. The next call connects to
// the next one.
func (c *Conn) Leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link != nil && len(c.o.Servers) > 1 {
		c.next++
		c.link.end()
	}
}

// ParseHeader reads NATS/1.0 [STATUS [DESCRIPTION]], and a name and a value on each further line.
func ParseHeader(data []byte) Header {
	h := Header{}
	first, rest, _ := strings.Cut(string(data), "\r\n")
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

// Request sends messages, in order, over one connection, and waits for the answer to the last.
func (c *Conn) Request(ctx context.Context, list ...Msg) (Msg, error) {
	answers, err := c.Inbox(ctx)
	if err != nil {
		return Msg{}, err
	}
	defer answers.Close()
	list = slices.Clone(list)
	list[len(list)-1].Reply = answers.Name
	if err := answers.Send(list...); err != nil {
		return Msg{}, err
	}
	m, err := answers.Next(ctx, 0)
	if err == nil && len(m.Data) == 0 && m.Header["Status"] == "503" {
		err = ErrNobody
	}
	return m, err
}
