package runner_test

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
)

// sending is how the delivery of a notice goes. The recipient has the message at once; the result comes later.
type sending struct {
	takes time.Duration
	err   error
}

// mail has the notifiers of the runners of a world. Only the one with the lock delivers.
type mail struct {
	w         *sim.World
	newPlan   func(o notifier.Options) *notifier.Plan
	send      func(n state.Notice) sending
	delivered func(r *sim.Runner, n state.Notice)
	of        map[*sim.Runner]*mailer
	lock      *mailer
}

// mailer is the notifier of a runner.
type mailer struct {
	*mail
	r          *sim.Runner
	plan       *notifier.Plan
	sent       []sent
	wake       int // counts the wakes that were set: only the last counts
	delivering bool
	again      bool // it was woken while it delivered
	posted     bool // there may be new notices in the outbox
}

// sent is a delivery that has ended.
type sent struct {
	n   state.Notice
	err error
}

// up gives a runner a notifier over its store.
func (m *mail) up(r *sim.Runner, store state.Store) {
	newPlan := m.newPlan
	if newPlan == nil {
		newPlan = notifier.NewPlan
	}
	say := func(string, ...any) {}
	m.of[r] = &mailer{mail: m, r: r, plan: newPlan(notifier.Options{Store: store, Say: say, Warn: say})}
	m.pass(nil)
}

// pass gives the lock to another runner if that of from, which ends, has it. Its deliveries then end without a result. Of nil the
// first runner gets it, unless one has it.
func (m *mail) pass(from *mailer) {
	if m.lock != from {
		return
	}
	m.lock = nil
	for _, r := range m.w.Runners() {
		if other := m.of[r]; other != nil && !r.Stopping() && !r.Dead() {
			m.lock = other
			m.w.After(0, other.deliver)
			return
		}
	}
}

// worked: the runner has done what was due, and may have written notices.
func (m *mail) worked(r *sim.Runner) {
	m.of[r].posted = true
	m.of[r].deliver()
}

// deliver is what the notifier does when it wakes. In a real runner the loop and the notifier are concurrent. Here one of them comes
// first, and only their order at one instant could differ.
func (m *mailer) deliver() {
	switch {
	case m.r.Dead() || m.lock != m:
		return
	case m.delivering:
		m.again = true
		return
	}
	m.delivering = true
	defer func() {
		m.delivering = false
		if p := recover(); p != nil {
			if _, killed := p.(sim.Killed); !killed {
				panic(p)
			}
		}
	}()
	for m.again = true; m.again && !m.r.Dead() && m.lock == m; {
		m.again = false
		m.deliverOnce()
	}
}

// deliverOnce gives the results of deliveries to the plan, and begins the deliveries that are due.
func (m *mailer) deliverOnce() {
	w, ctx := m.w, context.Background()
	for len(m.sent) > 0 {
		s := m.sent[0]
		m.sent = m.sent[1:]
		m.plan.Sent(s.n, "", s.err, w.Now())
		m.plan.Write(ctx, w.Now())
	}
	posted := m.posted
	m.posted = false
	todo, _, err := m.plan.Pass(ctx, w.Now(), w.Now(), posted)
	for _, n := range todo.Send {
		m.begin(n)
	}
	if err != nil {
		todo.Wake = w.Now().Add(5 * time.Second)
	}
	m.wake++
	if wake := m.wake; !todo.Wake.IsZero() {
		w.When(todo.Wake, func() {
			if wake == m.wake {
				m.deliver()
			}
		})
	}
}

// begin begins the delivery of a notice.
func (m *mailer) begin(n state.Notice) {
	fate := m.send(n)
	if fate.err == nil {
		m.delivered(m.r, n)
	}
	m.w.After(fate.takes, func() {
		m.sent = append(m.sent, sent{n, fate.err})
		m.deliver()
	})
}
