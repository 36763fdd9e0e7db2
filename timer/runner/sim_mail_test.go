package runner_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
)

// post lets the channels of a world be flaky: three attempts of ten fail, and some for good. Of those that fail by passing the half
// have told all the same.
func (p *play) post() {
	p.w.Standing = func() rules.TellDefaults { return p.standing }
	luck := rand.New(rand.NewPCG(p.seed, 99))
	p.mail.send = func(state.Notice) (s sending) {
		s.takes = odd(luck, pick(luck, time.Millisecond, time.Second, 30*time.Second))
		switch n := luck.IntN(100); {
		case n < 2:
			s.err = &notifier.SendError{Err: errors.New("no such channel"), Permanent: true}
		case n < 5:
			s.err = &notifier.SendError{Err: errors.New("too many"), RetryAfter: odd(luck, 5*time.Minute)}
		case n < 32:
			s.err = errors.New("it is down")
		}
		return s
	}
}

// tellings says of each outcome what it is in the inbox, and who is told: it goes through them in the order in which they were written.
func (m *model) tellings() {
	p, t := m.t.policy, m.t
	order := make([]*foretold, len(m.list))
	for i := range m.list {
		order[i] = &m.list[i]
	}
	slices.SortStableFunc(order, func(a, b *foretold) int {
		return cmp.Or(cmp.Compare(a.end, b.end), a.due.Compare(b.due)) // what was left open together is ended in order
	})
	var by string
	switch {
	case fmt.Sprint(p.Notify) == "[c a c]":
		by = "c+a"
	case len(p.Notify) == 2:
		by = p.Notify[0] + "+" + p.Notify[1]
	case len(p.Notify) == 1:
		by = p.Notify[0]
	case len(m.p.standing.Channels) > 0:
		by = "usual"
	}
	on := p.NotifyOn
	if on == "" && !t.message {
		on = m.p.standing.On
	}
	bad, before := false, "" // whether the last run was, and what the last good one wrote
	for _, f := range order {
		fate := t.fate(f.due, f.attempts)
		says := func(why string) {
			if by != "" {
				f.tell, f.news = by, why
			}
		}
		switch f.outcome {
		case state.Missed:
			if f.reason == "window" {
				f.inbox = "missed"
			}
		case state.Skipped:
			if f.reason == "paused" && t.sched == nil {
				f.inbox = "missed"
			}
		case state.Failed, state.TimedOut, state.Interrupted:
			f.inbox = "failure"
			first := !bad
			bad = true
			if on == "never" || on == "recovery" {
				continue
			}
			if first {
				says("failure")
			} else if on == "always" {
				says("outcome")
			}
		case state.OK:
			if t.message {
				f.inbox = "message"
				if on != "never" && on != "failure" && on != "recovery" {
					says("message")
				}
				continue
			}
			something := fate.Stdout+fate.Stderr > 0
			if something {
				f.inbox = "result"
			}
			wasBad, was := bad, before
			bad = false
			if on == "change" {
				before = fmt.Sprint("sum", fate.Stdout)
			}
			switch {
			case on == "never":
			case wasBad:
				says("recovery")
			case on == "always":
				says("outcome")
			case (on == "" || on == "output") && something:
				says("output")
			case on == "change" && was != "" && was != before:
				says("change")
			}
		}
	}
}

// tidings holds what the ledger says of who is told to the outcomes that stand in it, whatever befell the machine. Two runners at once
// do not know of each other's outcomes in time, which the lock is there for.
func (p *play) tidings(t *subject, _ state.Entry) string {
	if slices.ContainsFunc(p.events, func(e happening) bool { return e.what == "second" }) {
		return ""
	}
	m := &model{p: p, t: t}
	var lines []state.Line
	for _, l := range p.lines {
		if l.TaskID == t.id && l.Type == state.LineManual && (l.Tell != nil || l.Inbox != "") {
			return fmt.Sprintf("number %d was fired by hand: %+v", l.Number, l)
		}
		if l.TaskID == t.id && l.Type == state.LineOccurrence {
			m.list = append(m.list, foretold{due: *l.Due, outcome: l.Outcome, reason: l.Reason, attempts: l.Attempts, end: int64(len(lines))})
			lines = append(lines, l)
		}
	}
	m.tellings()
	for i, l := range lines {
		f := m.list[i]
		if t.edited && f.reason == "paused" {
			continue // it may have been another kind of task then
		}
		if by := strings.Join(l.Tell, "+"); f.inbox != l.Inbox || f.tell != by || f.news != l.News {
			return fmt.Sprintf("number %d, %s: in the inbox a %q, told by %q because of %q; by the ledger it is a %q, by %q because of %q",
				l.Number, l.Outcome, l.Inbox, by, l.News, f.inbox, f.tell, f.news)
		}
	}
	return ""
}

// letters: each notice is told, or could not be, or waits; each line that is to be in the inbox is there, once.
func (p *play) letters() string {
	ctx := context.Background()
	waiting, _, _, err := p.w.Store.Outbox(ctx, p.w.Now().Add(1000*24*time.Hour), 0)
	if err != nil {
		return err.Error()
	}
	items, more, _, err := p.w.Store.Inbox(ctx, state.Query{})
	if err != nil || more > 0 {
		return fmt.Sprint("inbox: ", more, err)
	}
	type letter struct {
		id, channel string
	}
	name := func(l state.Line) string { return state.OccurrenceID(l.TaskID, l.Number) }
	wanted, ended, kept, inbox := map[letter]int{}, map[letter]state.Line{}, map[letter]bool{}, map[string]string{}
	for _, l := range p.lines {
		for _, c := range l.Tell {
			wanted[letter{name(l), c}]++
		}
		if l.Type == state.LineDelivery {
			at := letter{name(l), l.Channel}
			if _, twice := ended[at]; twice {
				return fmt.Sprintf("the notice of %s by %s ended twice", at.id, at.channel)
			}
			ended[at] = l
			if l.Delivered != (l.Inbox == "") {
				return fmt.Sprintf("the notice of %s by %s ended as %+v", at.id, at.channel, l)
			}
		}
		if l.Inbox != "" {
			inbox[state.ItemID(l)] = l.Inbox
		}
	}
	for _, i := range items {
		if inbox[i.ID] != i.Line.Inbox {
			return fmt.Sprintf("the item %s is a %q, and its line %q", i.ID, i.Line.Inbox, inbox[i.ID])
		}
		delete(inbox, i.ID)
	}
	for id, what := range inbox {
		return fmt.Sprintf("the %s %s is not in the inbox", what, id)
	}
	now := p.w.Now()
	for _, n := range waiting {
		at := letter{n.ID(), n.Channel}
		if _, over := ended[at]; over || kept[at] || wanted[at] == 0 {
			return fmt.Sprintf("the notice of %s by %s is in the outbox, and should not be", at.id, at.channel)
		}
		kept[at] = true
		if late := now.Sub(n.Due); !p.calm && late > 10*time.Minute { // at rest
			return fmt.Sprintf("the notice of %s by %s is due since %v, and nobody tells it", at.id, at.channel, late)
		}
	}
	told := map[letter][]*sim.Runner{}
	for _, h := range p.seen {
		if h.what != delivered {
			continue
		}
		at := letter{state.OccurrenceID(h.id, h.number), h.channel}
		if slices.Contains(told[at], h.runner) {
			return fmt.Sprintf("%s was told twice by %s, by one runner", at.id, at.channel)
		}
		told[at] = append(told[at], h.runner)
		if wanted[at] == 0 {
			return fmt.Sprintf("%s was told by %s, and nobody asked for that", at.id, at.channel)
		}
	}
	for at, n := range wanted {
		l, over := ended[at]
		switch {
		case n > 1:
			return fmt.Sprintf("%s is to be told twice by %s", at.id, at.channel)
		case !over && !kept[at]:
			return fmt.Sprintf("the notice of %s by %s is lost", at.id, at.channel)
		case l.Delivered && len(told[at]) == 0:
			return fmt.Sprintf("%s was not told by %s, and it says so", at.id, at.channel)
		case p.unharmed() && len(told[at]) > 0 && (!over || !l.Delivered) && !kept[at]:
			return fmt.Sprintf("%s was told by %s, and it does not say so", at.id, at.channel)
		}
	}
	for at := range ended {
		if wanted[at] == 0 {
			return fmt.Sprintf("the notice of %s by %s ended, and there was none", at.id, at.channel)
		}
	}
	return ""
}

// unharmed: no runner ended before it was told to, nor while it was sending.
func (p *play) unharmed() bool {
	return !slices.ContainsFunc(p.events, func(e happening) bool {
		switch e.what {
		case "kill", "killall", "power", "crash", "stop", "haltall", "second":
			return true
		}
		return false
	})
}
