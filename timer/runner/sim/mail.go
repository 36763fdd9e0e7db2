package sim

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
)

// mail is what a runner delivers.
type mail struct {
	notifier *notifier.Plan
	sends    map[*event]bool // the ends of what is being sent
	sent     []sent
	ring     *event // when it looks again
	looking  bool
	more     bool // something came meanwhile
	posted   bool // to the outbox, perhaps
}

// sent is an attempt that has ended.
type sent struct {
	n   state.Notice
	err error
}

// relieve gives the lock to the next runner when r, which ends, has it, and to the first that comes up. What is being sent is cut.
func (w *World) relieve(r *Runner) {
	if w.postman != r {
		return
	}
	if r != nil {
		for e := range r.sends {
			e.off = true
		}
		if r.ring != nil {
			r.ring.off = true
		}
	}
	w.postman = nil
	for _, other := range w.runners {
		if !other.stopping && !other.dead && other.notifier != nil {
			w.postman = other
			w.after(0, other.deliver)
			return
		}
	}
}

// deliver is what the notifier does when it wakes. A runner is busy in its loop or in its notifier: which of the two comes first at
// an instant is all that could differ.
func (r *Runner) deliver() {
	if r.dead || r.w.postman != r {
		return
	}
	if r.looking {
		r.more = true
		return
	}
	r.looking = true
	defer func() { r.looking = false }()
	survive(func() {
		for r.more = true; r.more && !r.dead && r.w.postman == r; {
			r.more = false
			r.round()
		}
	})
}

// round takes in what was sent, and sends.
func (r *Runner) round() {
	w, ctx := r.w, context.WithoutCancel(r.ctx)
	for len(r.sent) > 0 {
		s := r.sent[0]
		r.sent = r.sent[1:]
		r.notifier.Sent(s.n, "", s.err, w.Now())
		r.notifier.Write(ctx, w.Now())
	}
	posted := r.posted
	r.posted = false
	todo, _, err := r.notifier.Pass(ctx, w.Now(), w.Now(), posted)
	for _, n := range todo.Send {
		r.send(n)
	}
	if err != nil {
		todo.Wake = w.Now().Add(5 * time.Second)
	}
	if r.ring != nil {
		r.ring.off = true
		r.ring = nil
	}
	if !todo.Wake.IsZero() {
		r.ring = w.when(todo.Wake, r.deliver)
	}
}

func (r *Runner) send(n state.Notice) {
	fate := r.w.Send(n)
	if fate.Err == nil {
		r.w.tell(Happening{What: Told, Runner: r, Notice: &n})
	}
	if r.dead || r.w.postman != r {
		return
	}
	var end *event
	end = r.w.after(fate.Takes, func() {
		delete(r.sends, end)
		r.sent = append(r.sent, sent{n, fate.Err})
		r.deliver()
	})
	if r.sends == nil {
		r.sends = map[*event]bool{}
	}
	r.sends[end] = true
}
