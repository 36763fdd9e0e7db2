package nats

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"time"
)

// Inbox receives the messages of one subscription.
type Inbox struct {
	Name     string
	l        *link
	number   uint64
	refusals bool // it receives a message when the server does not permit something

	mu    sync.Mutex
	queue []Msg
	more  chan struct{} // holds a value after something was queued
}

// Inbox opens an inbox with a name of its own, on the present connection.
func (c *Conn) Inbox(ctx context.Context) (*Inbox, error) {
	return c.listen(ctx, "_INBOX."+rand.Text(), "", false)
}

// Listen opens an inbox for a subject. With a group, each message goes to one of its listeners.
// When the server does not permit something on this connection, a message with the status 403
// comes.
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

// Next waits for the next message.
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
	if m, ok := s.take(); ok { // usually true when very many messages come
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
