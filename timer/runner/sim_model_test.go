package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// The model foretells what becomes of each instant of a task in a calm world, from what DESIGN.md says about occurrences. It
// is naive on purpose: it walks the instants one by one, knows no ranges, no claims and no store, and shares nothing with
// the runner but the schedule. Its clock is the time for which the machine was awake, in nanoseconds.
type model struct {
	p     *play
	t     *subject
	inst  []time.Time // of the schedule, one by one
	first int64       // when the task was made

	i    int         // the first instant without an outcome
	cur  []*foretold // what runs
	busy time.Time   // until when the last run went on, as somebody saw it
	list []foretold  // the outcomes
	stop int64       // when a stop condition was met
	ops  []op        // of the user, those that are still to come
}

// foretold is what becomes of an instant.
type foretold struct {
	i        int
	due      time.Time
	outcome  state.Outcome
	reason   string
	attempts int
	started  time.Time // of the first attempt; zero: none
	ended    time.Time
	backlog  bool
	stops    bool
	inbox    string
	tell     string
	news     string

	begin, end int64 // on the awake clock; of those without a run, when it was decided
	halted     bool
}

// foretell is the outcome of each instant that has one by the end of the play.
func foretell(p *play, t *subject) []foretold {
	m := &model{p: p, t: t, first: int64(t.made), ops: t.ops, stop: never}
	over := m.wall(int64(p.length))
	if t.sched == nil {
		m.inst = []time.Time{t.due}
	} else {
		for at, ok := t.due, true; ok && !at.After(over); at, ok = t.sched.Next(at) {
			m.inst = append(m.inst, at)
		}
	}
	m.walk()
	for _, c := range m.cur {
		m.list = append(m.list, *c)
	}
	m.list = slices.DeleteFunc(m.list, func(f foretold) bool { return f.end > int64(p.length) })
	m.tellings()
	slices.SortFunc(m.list, func(a, b foretold) int { return a.i - b.i })
	return m.list
}

// wall is what the clock shows when the machine has been awake for a.
func (m *model) wall(a int64) time.Time {
	t := m.p.start.Add(time.Duration(a))
	for _, s := range m.p.shifts {
		if s.awake <= a {
			t = t.Add(time.Duration(s.by))
		}
	}
	return t
}

// awake is the first moment at which the clock shows t or more.
func (m *model) awake(t time.Time) int64 {
	a := int64(t.Sub(m.p.start))
	for _, s := range m.p.shifts {
		if a <= s.awake {
			return a
		}
		a = max(a-s.by, s.awake)
	}
	return a
}

// up is the first moment from a on at which a runner is there to begin something.
func (m *model) up(a int64) int64 {
	for _, s := range m.p.ups {
		if a < s.to {
			return max(a, s.from)
		}
	}
	return never
}

// there reports whether a runner is there at a, and until when.
func (m *model) there(a int64) (int64, bool) {
	for _, s := range m.p.ups {
		if s.from <= a && a < s.to {
			return s.to, true
		}
	}
	return 0, false
}

// power is the first power failure between a and b.
func (m *model) power(a, b int64) (int64, bool) {
	for _, at := range m.p.powers {
		if at >= a && at < b {
			return at, true
		}
	}
	return 0, false
}

func (m *model) walk() {
	p := m.t.policy
	beside := p.Overlap == state.OverlapAllow || m.t.message
	end := int64(m.p.length)
	for m.i < len(m.inst) {
		t := max(m.awake(m.inst[m.i]), m.first)
		if t = m.up(t); t > end {
			break
		}
		if m.user(t) {
			continue
		}
		// What runs keeps it waiting, or does not.
		m.settled(t)
		if len(m.cur) > 0 && (!beside || m.backlogged(t)) {
			c := m.cur[0]
			if p.Overlap == state.OverlapReplace && !c.halted && !m.backlogged(t) {
				*c = m.run(c.i, c.begin, t, c.backlog)
				c.halted = true
			}
			again := c.end
			for _, c := range m.cur {
				again = min(again, c.end)
			}
			if again > end {
				m.user(end + 1)
				break
			}
			if m.user(again) {
				continue
			}
			m.first = max(m.first, again)
			continue
		}
		if t >= m.stop {
			return
		}
		m.decide(t)
	}
	m.user(end)
	m.settled(end)
}

// settled moves what has ended by t to the outcomes.
func (m *model) settled(t int64) {
	slices.SortStableFunc(m.cur, func(a, b *foretold) int { return int(max(-1, min(1, a.end-b.end))) })
	for len(m.cur) > 0 && m.cur[0].end <= t {
		c := m.cur[0]
		m.cur = m.cur[1:]
		m.list = append(m.list, *c)
		if !c.started.IsZero() && !c.ended.IsZero() && !c.backlog && c.ended.After(m.busy) {
			m.busy = c.ended
		}
		if c.stops {
			m.stop = min(m.stop, c.end)
		}
	}
}

// backlogged: all that was missed is worked off, and there is more of it than one, or one is being worked off.
func (m *model) backlogged(t int64) bool {
	if m.t.policy.Catchup != state.CatchupAll || m.t.sched == nil {
		return false
	}
	now := m.wall(t)
	return m.i+1 < len(m.inst) && !m.inst[m.i+1].After(now) || slices.ContainsFunc(m.cur, func(c *foretold) bool { return c.backlog })
}

// user does what the user did by t; true when that concerns the instants that come next.
func (m *model) user(t int64) bool {
	if len(m.ops) == 0 || m.ops[0].at > t {
		return false
	}
	o := m.ops[0]
	m.settled(o.at)
	if m.stop <= o.at {
		m.inst = nil
		return true
	}
	m.ops = m.ops[1:]
	switch o.what {
	case "rm":
		m.inst = m.inst[:m.i]
	case "pause":
		for {
			at := never // when it goes on
			if !o.resume.IsZero() {
				at = m.up(max(m.awake(o.resume), o.at))
			}
			if len(m.ops) > 0 && m.ops[0].at < at {
				next := m.ops[0]
				m.ops = m.ops[1:]
				switch next.what {
				case "rm":
					m.inst = m.inst[:m.i]
					return true
				case "pause":
					o = next
					continue
				}
				at = next.at
			}
			m.settled(min(at, int64(m.p.length)))
			if at > int64(m.p.length) || m.stop <= at {
				m.inst = m.inst[:m.i]
				return true
			}
			for m.i < len(m.inst) && !m.inst[m.i].After(m.wall(at)) {
				m.skip(at, state.Skipped, "paused")
			}
			m.first = max(m.first, at)
			return true
		}
	}
	return true
}

// skip is an outcome without a run for the next instant.
func (m *model) skip(t int64, o state.Outcome, reason string) {
	m.list = append(m.list, foretold{i: m.i, due: m.inst[m.i], outcome: o, reason: reason, begin: t, end: t})
	m.i++
}

func (m *model) begin(i int, t int64) {
	now := m.wall(t)
	backlog := m.t.policy.Catchup == state.CatchupAll && m.t.sched != nil && i+1 < len(m.inst) && !m.inst[i+1].After(now)
	c := m.run(i, t, never, backlog)
	m.cur = append(m.cur, &c)
}

// decide says what becomes of the instants that have come by t, of a task that does not have to wait.
func (m *model) decide(t int64) {
	now, p := m.wall(t), m.t.policy
	last := m.i // the last instant that has come
	for last+1 < len(m.inst) && !m.inst[last+1].After(now) {
		last++
	}
	over := func(i int) bool { return !m.inst[i].After(m.busy) } // it came while a run went on
	held := false
	if !m.t.message && p.Overlap != state.OverlapAllow && m.t.sched != nil && over(m.i) {
		if held = p.Overlap == state.OverlapQueue; held { // one is held, and those after the run wait for its end
			m.begin(m.i, t)
			m.i++
		}
		latest := p.Overlap == state.OverlapReplace && over(last) // the latest takes its place
		for m.i <= last && over(m.i) && !(latest && m.i == last) {
			m.skip(t, state.Skipped, "overlap")
		}
	}
	most, reason := span2(p.Window), "window"
	if p.Catchup == state.CatchupSkip && (most == 0 || most > time.Minute) {
		most, reason = time.Minute, "catchup"
	}
	for m.i <= last && !m.t.message && most > 0 && now.Sub(m.inst[m.i]) > most {
		m.skip(t, state.Missed, reason)
	}
	if m.i > last {
		return
	}
	if p.Catchup == state.CatchupAll {
		for last-m.i+1 > 100 {
			m.skip(t, state.Missed, "cap")
		}
	} else {
		for m.i < last {
			m.skip(t, state.Missed, "coalesced")
		}
	}
	if held {
		return
	}
	m.begin(m.i, t)
	m.i++
}

func span2(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}

// run is what becomes of the instant i whose run begins at t, and is halted at halt unless it has ended.
func (m *model) run(i int, t, halt int64, backlog bool) foretold {
	p, due := m.t.policy, m.inst[i]
	f := foretold{i: i, due: due, begin: t, backlog: backlog, attempts: 1, halted: halt != never}
	done := func(end int64, o state.Outcome, reason string) foretold {
		f.end, f.outcome, f.reason = end, o, reason
		if o != state.Interrupted {
			f.ended = m.wall(end)
		}
		return f
	}
	for attempt := 1; ; attempt++ {
		fate := m.t.fate(due, attempt)
		f.attempts = attempt
		died := func(at int64) (foretold, bool) { // the power went at at
			t = m.up(at)
			if p.Rerun && attempt < 1+p.Retries+3 && !m.t.message && !m.changed(t) {
				return f, true
			}
			return done(t, state.Interrupted, "runner_died"), false
		}
		if p.If != "" && attempt == 1 {
			end := t + int64(fate.GateTakes)
			if at, ok := m.power(t, min(end, halt)); ok {
				if m.t.message && !m.changed(m.up(at)) {
					t = m.up(at)
					attempt--
					continue
				}
				if f, again := died(at); !again {
					return f
				}
				continue
			}
			if halt < end {
				return done(halt, state.Cancelled, "replaced")
			}
			if fate.Gate != "" {
				f.attempts = 0
				return done(end, state.Skipped, "gate")
			}
			t = end
		}
		if f.started.IsZero() {
			f.started = m.wall(t)
		}
		if m.t.message {
			return done(t, state.OK, "")
		}
		end, out, reason := t+int64(fate.Takes), state.OK, ""
		if fate.ExitCode != 0 {
			out = state.Failed
		}
		stubborn := int64(min(fate.Stubborn, 10*time.Second))
		up := never // when its time is up
		if most := span2(p.Timeout); most > 0 && most < fate.Takes {
			up = t + int64(most)
		}
		switch {
		case halt < end && halt < up:
			out, reason, end = state.Cancelled, "replaced", min(end, halt+stubborn)
		case up < end:
			out, end = state.TimedOut, min(end, up+stubborn)
		}
		if at, ok := m.power(t, end); ok {
			f, again := died(at)
			if !again {
				return f
			}
			continue
		}
		f.stops = p.UntilOK && out == state.OK || p.UntilOutput != "" && fate.Matched && (out == state.OK || out == state.Failed)
		if f.stops || out != state.Failed && out != state.TimedOut || attempt > p.Retries {
			return done(end, out, reason)
		}
		pause := span2(p.Backoff)
		if pause == 0 {
			pause = 10 * time.Second
		}
		most := max(pause, time.Hour)
		for range attempt - 1 {
			pause = min(2*pause, most)
		}
		at := m.wall(end).Add(pause)
		if i+1 < len(m.inst) && !at.Before(m.inst[i+1]) || i+1 == len(m.inst) && m.after(i, at) {
			return done(end, out, "next_due")
		}
		// It rests, in this runner or in one after it.
		rest, from, heir := int64(pause), end, false
		for {
			to, ok := m.there(from)
			if ok && from+rest < to {
				t = from + rest
				break
			}
			if ok {
				from = to
			}
			if from = m.up(from); from == never {
				f.end = never
				return f
			}
			rest, heir = max(int64(at.Sub(m.wall(from))), 0), true
		}
		if halt <= t && halt >= end {
			return done(halt, state.Cancelled, "replaced")
		}
		if m.changed(t) {
			if reason == "" {
				reason = "changed"
			}
			if heir { // which only knows that it rests
				return done(t, state.Failed, "changed")
			}
			return done(end, out, reason)
		}
	}
}

// changed reports whether the task is removed or paused at t: nothing that was begun before is begun once more.
func (m *model) changed(t int64) bool {
	held := false
	for _, o := range m.t.ops {
		if o.at > t {
			break
		}
		switch o.what {
		case "rm":
			return true
		case "pause":
			held = o.resume.IsZero() || m.up(max(m.awake(o.resume), o.at)) >= t // who comes up begins once more before it resumes
		case "resume":
			held = false
		}
	}
	return held
}

// after reports whether the schedule's instant after the last one that was walked comes at at or before.
func (m *model) after(i int, at time.Time) bool {
	if m.t.sched == nil {
		return false
	}
	next, ok := m.t.sched.Next(m.inst[i])
	return ok && !at.Before(next)
}

func (f foretold) String() string {
	s := fmt.Sprintf("%s %s", f.due.UTC().Format("2006-01-02T15:04:05.999"), f.outcome)
	if f.reason != "" {
		s += " " + f.reason
	}
	if f.attempts > 0 {
		s += fmt.Sprintf(" %d attempts", f.attempts)
	}
	if !f.started.IsZero() {
		s += " started " + f.started.UTC().Format("15:04:05.999999999")
	}
	if f.inbox != "" {
		s += ", in the inbox a " + f.inbox
	}
	if f.tell != "" {
		s += ", told by " + f.tell + " because of " + f.news
	}
	return s
}

// disagree compares what was foretold with what the ledger has; empty when they agree.
func (p *play) disagree(t *subject) string {
	want, got := foretell(p, t), p.outcomes(t)
	for i := 0; i < len(want) || i < len(got); i++ {
		switch {
		case i >= len(want):
			return fmt.Sprintf("%s: nothing foretold, and there is %s", p.id(t), got[i])
		case i >= len(got):
			return fmt.Sprintf("%s: foretold %s, and there is nothing", p.id(t), want[i])
		}
		w, g := want[i], got[i]
		if w.String() != g.String() {
			return fmt.Sprintf("%s: foretold %s, and there is %s", p.id(t), w, g)
		}
	}
	return ""
}

// outcomes are the lines of a task, one for each instant, in order of the instants.
func (p *play) outcomes(t *subject) (list []foretold) {
	for _, l := range p.lines {
		if l.TaskID != t.id || l.Type != state.LineOccurrence {
			continue
		}
		f := foretold{due: *l.Due, outcome: l.Outcome, reason: l.Reason, attempts: l.Attempts}
		if l.Outcome == state.Skipped && l.Reason == "gate" {
			f.attempts = 0
		}
		if l.Started != nil {
			f.started = *l.Started
		}
		f.inbox, f.tell, f.news = l.Inbox, strings.Join(l.Tell, "+"), l.News
		list = append(list, f)
		if l.DueLast == nil || t.sched == nil {
			continue
		}
		for at, ok := t.sched.Next(*l.Due); ok && !at.After(*l.DueLast); at, ok = t.sched.Next(at) {
			f.due = at
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b foretold) int { return a.due.Compare(b.due) })
	return list
}

// timeline is what happened to a task, for who reads a failure.
func (p *play) timeline(id string) string {
	var b strings.Builder
	for _, h := range p.seen {
		if h.id != "" && h.id != id {
			continue
		}
		fmt.Fprintf(&b, "    +%v %s %s", h.awake, h.at.Format("2006-01-02T15:04:05.999"), h.what)
		if h.id != "" {
			fmt.Fprintf(&b, " %s/%d of %s attempt %d pid %d", h.id, h.number, h.due.Format("15:04:05"), h.attempt, h.pid)
		}
		b.WriteByte('\n')
	}
	for _, l := range p.lines {
		if l.TaskID == id {
			fmt.Fprintf(&b, "    ledger %s: %s %s", l.At.Format("2006-01-02T15:04:05.999"), l.Type, l.Event)
			if l.Due != nil {
				fmt.Fprintf(&b, " #%d %s", l.Number, l.Due.UTC().Format("2006-01-02T15:04:05.999"))
			}
			if l.DueLast != nil {
				fmt.Fprintf(&b, "..%s x%d", l.DueLast.UTC().Format("2006-01-02T15:04:05.999"), l.Count)
			}
			fmt.Fprintf(&b, " %s %s\n", l.Outcome, l.Reason)
		}
	}
	return b.String()
}
