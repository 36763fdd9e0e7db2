package notifier

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

const (
	AtOnce      = 8 // attempts at the same time
	EachChannel = 2 // of one channel

	// TellFor is how long after a notice was queued it is tried, unless the settings say otherwise.
	TellFor = 24 * time.Hour
	// minAttempts are made even after that: the machine may have been off, and needs a moment until
	// its network is back.
	minAttempts = 5
	maxPause    = time.Hour // the longest pause between two attempts
)

// Options are what a notifier uses. Store, Clock, Awake, Say and Warn
// are required.
type Options struct {
	Store state.Mail
	Clock clock.Clock
	// Awake measures how long an attempt takes, without the time that the machine sleeps.
	Awake clock.Clock
	// Say writes a line to the log of the runner.
	Say func(format string, a ...any)
	// Warn does so about what could not be done.
	Warn func(format string, a ...any)
	// Send makes an attempt to deliver a notice, within ctx; detail is a text for people. An error
	// that is not a *SendError may be gone at the next attempt. Many goroutines call it.
	Send func(ctx context.Context, n state.Notice) (detail string, err error)
	// Told, if set, gets each notice that has ended, once that is in the ledger.
	Told func(n state.Notice, line state.Line)
	// GiveUp, if set, returns for how long a notice is tried after it was queued. It is called
	// after each failed attempt; 0 means TellFor.
	GiveUp func() time.Duration
	// Problems, if set, gets the notices that cannot be read.
	Problems func([]state.Problem)
}

// SendError is an error of Options.Send with more information.
type SendError struct {
	Err        error
	Permanent  bool          // another attempt does not help
	RetryAfter time.Duration // how long the other side wants no attempt; 0 when it did not say
	Moot       bool          // there is nothing to tell any more, and nobody needs to know
	// the news is an item of the inbox anyway, so the failure is not another one
	Known bool
}

func (e *SendError) Error() string { return e.Err.Error() }
func (e *SendError) Unwrap() error { return e.Err }

// sendErrorOf returns what an error says about further attempts, if anything.
func sendErrorOf(err error) (said SendError) {
	if e, ok := errors.AsType[*SendError](err); ok {
		said = *e
	}
	return said
}

// giveUp returns for how long a notice is tried.
func (o Options) giveUp() time.Duration {
	if o.GiveUp == nil {
		return TellFor
	}
	return cmp.Or(o.GiveUp(), TellFor)
}

// retryAt returns when a notice is tried again, or false for never. It was queued at queued,
// attempts were made, and the last failed with err at now. The result depends only on the
// arguments.
func retryAt(queued, now time.Time, attempts int, err error, tellFor time.Duration) (time.Time, bool) {
	said := sendErrorOf(err)
	pause, end := max(retryPause(attempts), said.RetryAfter), queued.Add(tellFor)
	at := now.Add(pause)
	switch {
	case said.Permanent:
		return time.Time{}, false
	case !at.After(end), attempts < minAttempts && pause <= maxPause:
		return at, true
	case said.RetryAfter == 0 && now.Before(end):
		return end, true // the last attempt
	}
	return time.Time{}, false
}

// retryPause returns the pause after the n-th attempt to deliver a notice: 10s, 30s, 1m, 2m, 4m, up
// to an hour.
func retryPause(n int) time.Duration {
	switch {
	case n <= 1:
		return 10 * time.Second
	case n == 2:
		return 30 * time.Second
	case n > 9:
		return maxPause
	}
	return min(time.Minute<<(n-3), maxPause)
}

// Plan is a Notifier without its waiting. It is given the time and the results of attempts, says
// what to send, and writes the outcomes. One goroutine uses it: the Notifier with the real clock,
// or a simulation with a virtual one. Of the options it needs Store and Say.
//
// Reading the outbox costs a listing of all its names. So each reading fetches some more notices
// than can be sent at once, and the outbox is not read again for these unless something may have
// arrived.
type Plan struct {
	Options
	sending map[string]string // the channels of notices that are being sent, by noticeKey
	results []outcome         // results of attempts that are not written yet
	pause   time.Duration     // the pause before what could not be written is tried again
	broken  map[string]bool   // what was sent and can never be written; it is not sent again
	said    string            // the last error of reading the outbox

	ready  []state.Notice // notices that were read and are due, earliest first
	stale  bool           // something that was not read may be due
	hidden []string       // channels that the last reading left out, because they were busy
	next   time.Time      // when the earliest notice is due that is not due yet; zero for none
}

// outcome is the result of an attempt. With a line, the notice ends; without one, it is kept for
// later.
type outcome struct {
	n    state.Notice
	line *state.Line
}

// NewPlan makes a plan for an outbox.
func NewPlan(o Options) *Plan {
	return &Plan{Options: o, sending: map[string]string{}, broken: map[string]bool{}, stale: true}
}

// noticeKey identifies a notice, whatever has become of it.
func noticeKey(n state.Notice) string { return n.ID() + " " + n.Channel }

// Todo is the result of a pass.
type Todo struct {
	Send  []state.Notice // send these now; each counts as being sent until Sent is called for it
	Wake  time.Time      // when to make the next pass; zero for when something happens
	Idle  bool           // nothing is due, being sent or waiting to be written
	Empty bool           // nothing is waiting for later either
}

// Pass returns what to send at now, of what is due by by. The earliest come first, and a channel
// that is busy does not block others. While a result cannot be written, nothing more is sent,
// because it would be sent again. changed says that something may have arrived in the outbox since
// the last pass.
func (p *Plan) Pass(ctx context.Context, by, now time.Time, changed bool) (o Todo, problems []state.Problem, err error) {
	p.Write(ctx, now)
	p.stale = p.stale || changed || !p.next.IsZero() && !p.next.After(now)
	if len(p.results) > 0 {
		o.Wake = now.Add(p.pause)
		return o, nil, nil
	}
	for len(p.sending) < AtOnce {
		unread := p.stale || slices.ContainsFunc(p.hidden, p.wants)
		if unread {
			more, bad, err := p.read(ctx, by, now)
			if problems = append(problems, bad...); err != nil {
				p.stale = true
				return o, problems, err
			}
			p.stale = more
		}
		started := p.pick()
		o.Send = append(o.Send, started...)
		if !unread && len(started) == 0 {
			break
		}
	}
	o.Idle = len(p.sending) == 0
	o.Empty = o.Idle && p.next.IsZero() && len(p.broken) == 0
	if p.next.After(now) {
		o.Wake = p.next
	}
	return o, problems, nil
}

// pick takes from ready what can be sent now.
func (p *Plan) pick() (start []state.Notice) {
	p.ready = slices.DeleteFunc(p.ready, func(n state.Notice) bool {
		if len(p.sending) == AtOnce || p.count(n.Channel) >= EachChannel {
			return false
		}
		p.sending[noticeKey(n)] = n.Channel
		start = append(start, n)
		return true
	})
	return start
}

// wants reports whether a channel could send something and has nothing ready.
func (p *Plan) wants(channel string) bool {
	return p.count(channel) < EachChannel && !slices.ContainsFunc(p.ready, func(n state.Notice) bool { return n.Channel == channel })
}

// maxRead is how many notices are read at once, in addition to those that are known.
const maxRead = 64

// read reads what is due by by, of the channels that want something. more says that there may be
// more.
func (p *Plan) read(ctx context.Context, by, now time.Time) (more bool, problems []state.Problem, err error) {
	var busy []string // the channels that want nothing
	for _, c := range p.channels() {
		if !p.wants(c) {
			busy = append(busy, c)
		}
	}
	limit := maxRead + len(p.sending) + len(p.broken)
	due, next, problems, err := p.Store.Outbox(ctx, by, limit, busy...)
	if err == nil && len(due) == 0 && !next.IsZero() && next.Sub(now) > max(p.giveUp(), TellFor)+maxPause {
		// such a long pause means that the clock was put back
		due, next, problems, err = p.Store.Outbox(ctx, next, limit, busy...)
	}
	if err != nil {
		return false, problems, err
	}
	for _, n := range due {
		if _, going := p.sending[noticeKey(n)]; !going && !p.broken[noticeKey(n)] {
			p.ready = append(p.ready, n)
		}
	}
	slices.SortStableFunc(p.ready, func(a, b state.Notice) int { return a.Due.Compare(b.Due) })
	p.hidden, p.next = busy, next
	return len(due) == limit, problems, nil
}

// channels returns the channels of the notices that are being sent or ready.
func (p *Plan) channels() (list []string) {
	for _, c := range p.sending {
		list = append(list, c)
	}
	for _, n := range p.ready {
		list = append(list, n.Channel)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (p *Plan) count(channel string) (n int) {
	for _, c := range p.sending {
		if c == channel {
			n++
		}
	}
	return n
}

// drop forgets that a notice is being sent. It stays due.
func (p *Plan) drop(n state.Notice) { delete(p.sending, noticeKey(n)) }

// Sent records the result of an attempt that ended at now. The next pass writes it.
func (p *Plan) Sent(n state.Notice, detail string, err error, now time.Time) {
	if _, ours := p.sending[noticeKey(n)]; !ours {
		return
	}
	n.Attempts++
	l := n.Of(state.Line{Due: n.Line.Due, Attempts: n.Attempts, News: n.Line.News, Description: n.Line.Description})
	if err == nil {
		p.Say("%s told by %s: %s", n.ID(), shown(n.Channel), detail)
		l.Delivered = true
		p.results = append(p.results, outcome{n, &l})
		return
	}
	n.Last = lastError(err)
	if at, again := retryAt(n.Line.At, now, n.Attempts, err, p.giveUp()); again {
		p.Warn("%s could not be told by %s: %s; attempt %d in %s", n.ID(), shown(n.Channel), n.Last, n.Attempts+1, at.Sub(now).Round(time.Second))
		n.Due = at
		p.results = append(p.results, outcome{n, nil})
		return
	}
	said := sendErrorOf(err)
	if said.Moot {
		p.Say("%s is not told by %s: %s", n.ID(), shown(n.Channel), n.Last)
	} else {
		p.Warn("%s could not be told by %s: %s; it stays in the inbox", n.ID(), shown(n.Channel), n.Last)
	}
	if l.Reason = n.Last; !said.Known && !said.Moot {
		l.Inbox = state.ItemUndelivered
	}
	p.results = append(p.results, outcome{n, &l})
}

// Write writes the results of attempts. A result that cannot be written is kept and tried again;
// its notice counts as being sent meanwhile.
func (p *Plan) Write(ctx context.Context, now time.Time) {
	ctx = context.WithoutCancel(ctx)
	kept := p.results[:0]
	for _, r := range p.results {
		var err error
		if r.line == nil {
			err = p.Store.Postpone(ctx, r.n)
		} else {
			r.line.At = now
			err = p.Store.Told(ctx, r.n, *r.line)
		}
		switch {
		case err == nil && r.line == nil:
			if p.next.IsZero() || r.n.Due.Before(p.next) {
				p.next = r.n.Due
			}
		case err == nil:
			if p.Told != nil {
				p.Told(r.n, *r.line)
			}
		case errors.Is(err, state.ErrNotFound): // somebody has acknowledged it
		case errors.Is(err, state.ErrInvalid):
			p.Warn("what became of %s by %s cannot be written: %v", r.n.ID(), shown(r.n.Channel), err)
			p.broken[noticeKey(r.n)] = true
		default:
			p.Warn("what became of %s by %s could not be written: %v", r.n.ID(), shown(r.n.Channel), err)
			kept = append(kept, r)
			continue
		}
		p.drop(r.n)
	}
	p.results = kept
	if len(kept) == 0 {
		p.pause = 0
	} else {
		p.pause = min(max(2*p.pause, 100*time.Millisecond), time.Minute)
	}
}

// lastError returns an error in the form in which it is kept: cut to a length that people read.
func lastError(err error) string {
	const most = 1000
	return plain.Cut(strings.ToValidUTF8(err.Error(), "\uFFFD"), most)
}

// shown returns a channel as it may be logged: without the secrets of a URL.
func shown(channel string) string {
	if strings.Contains(channel, "://") {
		return notify.Redact(channel)
	}
	return channel
}
