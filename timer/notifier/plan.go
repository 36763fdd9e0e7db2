package notifier

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

const (
	AtOnce      = 8 // at once
	EachChannel = 2 // of one channel

	// a notice is tried for so long from when it was queued, unless the settings say otherwise,
	TellFor = 24 * time.Hour
	// and so often: the machine may have been off, and needs a moment to have its network back
	tellLeast = 5
	pauseMost = time.Hour // the longest pause between two attempts that nobody asked for
)

// Options are what a notifier works with. Store, Clock, Awake and Say are required.
type Options struct {
	Store state.Mail
	Clock clock.Clock
	Awake clock.Clock // measures how long an attempt takes: time the machine does not sleep
	// Say takes a line for the runner's log.
	Say func(format string, a ...any)
	// Warn takes a line about what could not be done; nil: Say takes it.
	Warn func(format string, a ...any)
	// Send makes an attempt to deliver a notice, within ctx; detail is a word for people. An error
	// may be a *SendError; any other is one that may be gone at the next try. It is called from
	// many goroutines.
	Send func(ctx context.Context, n state.Notice) (detail string, err error)
	// Told, unless it is nil, is told of each notice that has ended, once that is in the ledger.
	Told func(n state.Notice, line state.Line)
	// GiveUp, unless it is nil, says how long a notice is tried for from when it was queued, each
	// time that an attempt has failed; 0 is TellFor.
	GiveUp func() time.Duration
	// Problems, unless it is nil, is told which notices cannot be read.
	Problems func([]state.Problem)
}

// warn says what could not be done.
func (o Options) warn(format string, a ...any) {
	if o.Warn == nil {
		o.Warn = o.Say
	}
	o.Warn(format, a...)
}

// SendError is an error of Options.Send that says more than that it may be gone at the next try.
type SendError struct {
	Err        error
	Permanent  bool          // asking again does not help
	RetryAfter time.Duration // how long the other side wants to be left alone; 0: it did not say
	Moot       bool          // there is nothing to be told any more, and nobody needs to know
	// what was to be told waits in the inbox itself, where it was expected to: that it could not be
	// told is not an item beside it
	Known bool
}

func (e *SendError) Error() string { return e.Err.Error() }
func (e *SendError) Unwrap() error { return e.Err }

// giveUp is how long a notice is tried for.
func (o Options) giveUp() time.Duration {
	if o.GiveUp == nil {
		return TellFor
	}
	return cmp.Or(o.GiveUp(), TellFor)
}

// retryAt says when a notice that was queued then is tried again, of which so many attempts were
// made, the last of them failing with err at now, and which is tried for so long; false: no more.
// It is a function of its arguments alone.
func retryAt(queued, now time.Time, attempts int, err error, tellFor time.Duration) (time.Time, bool) {
	var said SendError
	if e := (*SendError)(nil); errors.As(err, &e) {
		said = *e
	}
	pause, end := max(tellPause(attempts), said.RetryAfter), queued.Add(tellFor)
	at := now.Add(pause)
	switch {
	case said.Permanent:
		return time.Time{}, false
	case !at.After(end), attempts < tellLeast && pause <= pauseMost:
		return at, true
	case said.RetryAfter == 0 && now.Before(end):
		return end, true // the last one
	}
	return time.Time{}, false
}

// tellPause is the pause after the n-th attempt to deliver a notice: 10s, 30s, 1m, 2m, 4m, up to an
// hour.
func tellPause(n int) time.Duration {
	switch {
	case n <= 1:
		return 10 * time.Second
	case n == 2:
		return 30 * time.Second
	case n > 9:
		return pauseMost
	}
	return min(time.Minute<<(n-3), pauseMost)
}

// Plan is a Notifier without its waiting: told the time and what became of what is sent, it says
// what is to be sent, and writes. One goroutine uses it. The Notifier drives it by the real clock
// and simulations by a pretended one. Of the options it needs Store and Say.
//
// A look at the outbox costs a listing of all its names, so some more than can be sent at once are
// read with each, and are not looked for again unless something may have come.
type Plan struct {
	Options
	sending map[string]string // what is being sent, by noticeKey, and its channel
	results []outcome         // of what was sent: to be written yet
	pause   time.Duration     // before what could not be written is tried again
	broken  map[string]bool   // what was sent and can never be written: it is not sent again
	said    string            // the last error of reading the outbox

	ready  []state.Notice // read, due and to be sent: the earliest first
	stale  bool           // something may be due that was not read
	hidden []string       // channels of which that is so: they had enough to do at the last look
	next   time.Time      // when the earliest is due that was not; zero: none
}

// outcome is what became of an attempt: the notice ends with the line, or without one is kept for
// later.
type outcome struct {
	n    state.Notice
	line *state.Line
}

// NewPlan is a plan of what is in the outbox.
func NewPlan(o Options) *Plan {
	return &Plan{Options: o, sending: map[string]string{}, broken: map[string]bool{}, stale: true}
}

// noticeKey names a notice, whatever has become of it.
func noticeKey(n state.Notice) string { return n.ID() + " " + n.Channel }

// Todo is what a pass leaves.
type Todo struct {
	Send  []state.Notice // now: each counts as being sent until Sent is told what became of it
	Wake  time.Time      // when to pass again; zero: when something happens
	Idle  bool           // nothing is due, being sent or to be written
	Empty bool           // nor is there anything for later
}

// Pass says what is to be sent at now, of what is due by then: the earliest first, so that a
// channel that has as many as it may does not stand in the way of others. While what was sent
// cannot be written nothing more is: it would be told again. changed says that something may have
// come to the outbox since the last pass.
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

// pick takes what can be sent now from what is ready.
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

// wants reports whether a channel could send something, and has nothing ready.
func (p *Plan) wants(channel string) bool {
	return p.count(channel) < EachChannel && !slices.ContainsFunc(p.ready, func(n state.Notice) bool { return n.Channel == channel })
}

// readMost is how many notices are read with a look at the outbox, beside those that are known.
const readMost = 64

// read reads what is due by then of the channels that want something; more says that there may be
// more of them.
func (p *Plan) read(ctx context.Context, by, now time.Time) (more bool, problems []state.Problem, err error) {
	var busy []string // the channels that want nothing
	for _, c := range p.channels() {
		if !p.wants(c) {
			busy = append(busy, c)
		}
	}
	limit := readMost + len(p.sending) + len(p.broken)
	due, next, problems, err := p.Store.Outbox(ctx, by, limit, busy...)
	if err == nil && len(due) == 0 && !next.IsZero() && next.Sub(now) > max(p.giveUp(), TellFor)+pauseMost {
		// so long is no pause: the clock was put back
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

// channels are those by which something is being sent, or is to be.
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

// drop forgets that a notice is being sent: it stays due.
func (p *Plan) drop(n state.Notice) { delete(p.sending, noticeKey(n)) }

// Sent takes in what became of an attempt that ended at now. It is written with the next pass.
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
		p.warn("%s could not be told by %s: %s; attempt %d in %s", n.ID(), shown(n.Channel), n.Last, n.Attempts+1, at.Sub(now).Round(time.Second))
		n.Due = at
		p.results = append(p.results, outcome{n, nil})
		return
	}
	var said SendError
	if e := (*SendError)(nil); errors.As(err, &e) {
		said = *e
	}
	if said.Moot {
		p.Say("%s is not told by %s: %s", n.ID(), shown(n.Channel), n.Last)
	} else {
		p.warn("%s could not be told by %s: %s; it stays in the inbox", n.ID(), shown(n.Channel), n.Last)
	}
	if l.Reason = n.Last; !said.Known && !said.Moot {
		l.Inbox = state.ItemUndelivered
	}
	p.results = append(p.results, outcome{n, &l})
}

// Write writes what became of what was sent. What cannot be written is kept and tried again;
// meanwhile it counts as being sent.
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
		case errors.Is(err, state.ErrNotFound): // somebody has seen to it
		case errors.Is(err, state.ErrInvalid):
			p.warn("what became of %s by %s cannot be written: %v", r.n.ID(), shown(r.n.Channel), err)
			p.broken[noticeKey(r.n)] = true
		default:
			p.warn("what became of %s by %s could not be written: %v", r.n.ID(), shown(r.n.Channel), err)
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

// lastError is an error as it is kept: not longer than anybody reads.
func lastError(err error) string {
	const most = 1000
	text := strings.ToValidUTF8(err.Error(), "\uFFFD")
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most-1]) + "…"
	}
	return text
}

// shown is a channel as it may be logged: of a URL that was given on the spot what holds no secret.
func shown(channel string) string {
	if strings.Contains(channel, "://") {
		return notify.Redact(channel)
	}
	return channel
}
