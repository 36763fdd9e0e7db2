package sim

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
)

// mail is the notifier of a runner.
type mail struct {
	plan         *notifier.Plan
	sends        map[*event]bool // the ends of the deliveries that go on
	sent         []sent
	nextDelivery *event // when it delivers again
	delivering   bool
	deliverAgain bool // it was woken while it delivered
	posted       bool // there may be new notices in the outbox
}

// sent is a delivery that has ended.
type sent struct {
	n   state.Notice
	err error
}

// passMailLock gives the lock of the notifier to another runner if r, which ends, has it.
// Deliveries of r then end without a result. If r is nil, the first runner gets the lock, unless
// one has it.
func (w *World) passMailLock(r *Runner) {
	if w.mailer != r {
		return
	}
	if r != nil {
		for e := range r.sends {
			e.off = true
		}
		if r.nextDelivery != nil {
			r.nextDelivery.off = true
		}
	}
	w.mailer = nil
	for _, other := range w.runners {
		if !other.stopping && !other.dead && other.plan != nil {
			w.mailer = other
			w.after(0, other.deliver)
			return
		}
	}
}

// deliver is what the notifier does when it wakes. In a real runner the loop and the notifier are
// concurrent. Here one of them comes first, and only their order at one instant could differ.
func (r *Runner) deliver() {
	if r.dead || r.w.mailer != r {
		return
	}
	if r.delivering {
		r.deliverAgain = true
		return
	}
	r.delivering = true
	defer func() { r.delivering = false }()
	survive(func() {
		for r.deliverAgain = true; r.deliverAgain && !r.dead && r.w.mailer == r; {
			r.deliverAgain = false
			r.deliverOnce()
		}
	})
}

// deliverOnce gives the results of deliveries to the plan, and begins the deliveries that are due.
func (r *Runner) deliverOnce() {
	w, ctx := r.w, context.WithoutCancel(r.ctx)
	for len(r.sent) > 0 {
		s := r.sent[0]
		r.sent = r.sent[1:]
		r.plan.Sent(s.n, "", s.err, w.Now())
		r.plan.Write(ctx, w.Now())
	}
	posted := r.posted
	r.posted = false
	todo, _, err := r.plan.Pass(ctx, w.Now(), w.Now(), posted)
	for _, n := range todo.Send {
		r.send(n)
	}
	if err != nil {
		todo.Wake = w.Now().Add(5 * time.Second)
	}
	if r.nextDelivery != nil {
		r.nextDelivery.off = true
		r.nextDelivery = nil
	}
	if !todo.Wake.IsZero() {
		r.nextDelivery = w.when(todo.Wake, r.deliver)
	}
}

// send begins the delivery of a notice.
func (r *Runner) send(n state.Notice) {
	fate := r.w.Send(n)
	if fate.Err == nil {
		r.w.tell(Happening{What: Told, Runner: r, Notice: &n})
	}
	if r.dead || r.w.mailer != r {
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
