package nats

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Inbox receives the answers to what it sends, or the messages of a subscription.
type Inbox struct {
	Name   string
	l      *link
	key    string // of the inboxes of its link
	listen bool   // it has a subscription of its own

	mu    sync.Mutex
	sent  []string // the subjects of what was sent, for an inbox for answers
	queue []Msg
	more  chan struct{} // holds a value after something was queued
}

// Inbox opens an inbox for answers, on the present connection.
func (c *Conn) Inbox(ctx context.Context) (*Inbox, error) {
	l, err := c.live(ctx)
	if err != nil {
		return nil, err
	}
	token := rand.Text()
	s := &Inbox{Name: l.answers + token, key: token}
	l.add(s)
	return s, nil
}

// Listen opens an inbox for a subject. With a group, each message goes to one of its listeners. It
// hears of everything that the server does not permit on this connection.
func (c *Conn) Listen(ctx context.Context, subject, group string) (*Inbox, error) {
	l, err := c.live(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	l.count++
	number := strconv.Itoa(l.count)
	l.mu.Unlock()
	s := &Inbox{Name: subject, key: number, listen: true}
	l.add(s)
	return s, l.say("SUB %s %s %s", subject, group, number)
}

func (l *link) add(s *Inbox) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.l, s.more = l, make(chan struct{}, 1)
	l.inboxes[s.key] = s
}

// Send sends messages, in order, over the connection of the inbox.
func (s *Inbox) Send(list ...Msg) error {
	if !s.listen {
		s.mu.Lock()
		for _, m := range list {
			s.sent = append(s.sent, m.Subject)
		}
		s.mu.Unlock()
	}
	for i, m := range list {
		if err := s.l.publish(m, i == len(list)-1); err != nil {
			return err
		}
	}
	return nil
}

func (s *Inbox) put(m Msg) {
	s.mu.Lock()
	s.queue = append(s.queue, m)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
}

// denied puts in that the server does not permit a subject, if this inbox is concerned.
func (s *Inbox) denied(subject string) {
	s.mu.Lock()
	concerned := s.listen || slices.Contains(s.sent, subject)
	s.mu.Unlock()
	if concerned {
		s.put(Msg{Header: Header{"Status": "403", "Description": subject}})
	}
}

// Next waits for the next message, at most for limit unless that is 0. It is ErrDenied, with the
// subject as the description of the message, when the server does not permit something.
func (s *Inbox) Next(ctx context.Context, limit time.Duration) (Msg, error) {
	var late <-chan time.Time
	for ctx.Err() == nil {
		if m, ok := s.take(); ok { // usually true when very many messages come
			if m.Header["Status"] == "403" {
				return m, fmt.Errorf("%w: %s", ErrDenied, m.Header["Description"])
			}
			return m, nil
		}
		if limit > 0 && late == nil {
			late = time.After(limit)
		}
		select {
		case <-s.more:
		case <-s.l.over:
			return Msg{}, ErrBroken
		case <-late:
			return Msg{}, context.DeadlineExceeded
		case <-ctx.Done():
		}
	}
	return Msg{}, ctx.Err()
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
	delete(s.l.inboxes, s.key)
	s.l.mu.Unlock()
	if s.listen {
		_ = s.l.say("UNSUB %s", s.key)
	}
}
