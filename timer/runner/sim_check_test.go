package runner_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/audit"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner/sim"
)

// wrong is what is wrong with a play; empty when nothing is.
func (p *play) wrong() string {
	for _, l := range p.lines {
		if t := p.byID[l.TaskID]; l.Event == state.EventClock {
			t.rewound = true
			if !l.Schedule.Start.Equal(t.t.When.Start) && (!t.edited || t.begins) { // it begins earlier from there on
				t.edited, t.begins = true, true
				t.sched, _ = rules.Schedule(state.Task{When: *l.Schedule})
			}
		}
	}
	if text := p.believed(); text != "" {
		return text
	}
	if p.calm {
		for _, t := range p.tasks {
			if t.id == "" {
				continue
			}
			if text := p.disagree(t); text != "" {
				return text
			}
		}
	}
	entries, _, err := state.All(context.Background(), p.w.Store)
	if err != nil {
		return err.Error()
	}
	if text := p.letters(); text != "" {
		return text
	}
	if text := p.room(); text != "" {
		return text
	}
	for _, f := range p.audit(entries) {
		if f.Kind == audit.Twice && p.rewound(f.TaskID) {
			continue // decision 0007 has instants run again after the clock was put back by hours
		}
		return fmt.Sprintf("the audit finds %+v", f)
	}
	for _, t := range p.tasks {
		i := slices.IndexFunc(entries, func(e state.Entry) bool { return e.Task.ID == t.id })
		if i < 0 {
			continue
		}
		for _, check := range []func(*subject, state.Entry) string{p.ran, p.numbers, p.once, p.lives, p.tidings} {
			if text := check(t, entries[i]); text != "" {
				return p.id(t) + ": " + text
			}
		}
	}
	return ""
}

// room: no more commands run at once than there are places, whoever started them. Two runners have places of their own.
func (p *play) room() string {
	if p.parallel == 0 || slices.ContainsFunc(p.events, func(e happening) bool { return e.what == "second" || e.what == "fire" }) {
		return ""
	}
	living := map[int]bool{}
	for _, h := range p.seen {
		switch h.what {
		case sim.Starts:
			if p.everNoted(h.pid) { // else its runner died before it could note it, and nobody knows of it
				living[h.pid] = true
			}
		case sim.Ends:
			delete(living, h.pid)
		}
		if len(living) > p.parallel {
			return fmt.Sprintf("%d commands run at once, of %d at most, at +%v", len(living), p.parallel, h.awake)
		}
	}
	return ""
}

// stamp is an instant in a failure.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999999999Z") }

// ran holds what was seen of a task's processes and messages to the rules, and to the ledger.
func (p *play) ran(t *subject, e state.Entry) string {
	type attempt struct {
		number, attempt int
	}
	begun := map[attempt]int{}
	numbers := map[int]int{} // how often something was begun under a number
	byDue := map[time.Time][]int{}
	living := map[int]bool{}
	for _, h := range p.seen {
		if h.id != t.id {
			continue
		}
		switch h.what {
		case sim.Starts, sim.Tells:
			numbers[h.number]++
			if !slices.Contains(byDue[h.due], h.number) {
				byDue[h.due] = append(byDue[h.due], h.number)
			}
			if h.at.Before(h.due) && h.peak.Before(h.due) { // a clock that is put back while the gate is asked calls nothing off
				return fmt.Sprintf("begun at %s, before its instant %s", stamp(h.at), stamp(h.due))
			}
			a := attempt{h.number, h.attempt}
			begun[a]++
			if begun[a] > 1 && !t.message {
				return fmt.Sprintf("number %d: attempt %d was begun twice", h.number, h.attempt)
			}
			most := 1 + t.policy.Retries
			if t.policy.Rerun {
				most += 3
			}
			if h.attempt > most {
				return fmt.Sprintf("number %d: attempt %d, of %d at most", h.number, h.attempt, most)
			}
			if h.what == sim.Starts {
				if len(living) > 0 && t.policy.Overlap != state.OverlapAllow {
					return fmt.Sprintf("number %d was begun at %s beside another", h.number, stamp(h.at))
				}
				// A process whose runner died before it could note it is not known to anybody.
				if p.everNoted(h.pid) {
					living[h.pid] = true
				}
			}
		case sim.Ends:
			delete(living, h.pid)
		}
	}
	if !t.message {
		for due, list := range byDue {
			if len(list) > 1 {
				return fmt.Sprintf("%s was run as numbers %v", stamp(due), list)
			}
		}
	}
	for _, l := range p.lines {
		if l.TaskID != t.id || l.Type != state.LineOccurrence {
			continue
		}
		began := numbers[l.Number]
		switch {
		case l.Outcome == state.OK && began == 0 && l.ExitCode != nil, l.Outcome == state.TimedOut && began == 0:
			return fmt.Sprintf("number %d ended %s and was never begun", l.Number, l.Outcome)
		case t.message && l.Outcome == state.OK && began == 0:
			return fmt.Sprintf("the message %d was never told", l.Number)
		case t.message && l.Outcome == state.Interrupted && len(t.ops) == 0 && !t.edited:
			return fmt.Sprintf("the message %d was interrupted, and not told again", l.Number)
		case l.Reason == "runner_died" && began == 0 && p.clean() && t.policy.If == "" && len(t.ops) == 0:
			return fmt.Sprintf("number %d was never begun, and is interrupted", l.Number)
		case (l.Outcome == state.Skipped || l.Outcome == state.Missed) && began > 0:
			return fmt.Sprintf("number %d was begun and is %s %s", l.Number, l.Outcome, l.Reason)
		case l.Started != nil && l.Started.Before(*l.Due) && p.peak.Before(*l.Due):
			return fmt.Sprintf("number %d of %s started at %s, it says", l.Number, stamp(*l.Due), stamp(*l.Started))
		case t.message && (l.Outcome == state.Missed && l.Reason == "window" || l.Outcome == state.Skipped && l.Reason == "overlap"):
			return fmt.Sprintf("the message %d was %s %s", l.Number, l.Outcome, l.Reason)
		}
	}
	return ""
}

// believed says of which clock that was put back instants came again although it had not stayed so for a minute, which it has to at the least.
func (p *play) believed() string {
	for _, l := range p.lines {
		if l.Type != state.LineTask || l.Event != state.EventClock {
			continue
		}
		first, by, stayed := int64(-1), int64(0), false
		for i, s := range p.shifts {
			by += s.by
			if s.by < 0 && first < 0 {
				first = s.awake
			}
			at := int64(l.At.Sub(p.start)) - by // when the line was written, if it was between this shift and the next
			if at < s.awake || i+1 < len(p.shifts) && at > p.shifts[i+1].awake {
				continue
			}
			stayed = stayed || first >= 0 && at-first >= int64(time.Minute)
		}
		if !stayed {
			return fmt.Sprintf("%s: instants come again from %s on, and the clock has not stayed back", l.TaskID, stamp(*l.Due))
		}
	}
	return ""
}

// clean: no runner was killed, nor the power taken, after it was noted that something is about to start and before it was; nor
// was such a note lost.
func (p *play) clean() bool {
	return len(p.powers) == 0 && p.failing == 0 && p.slow == 0 && !slices.Contains(p.crashed, "started")
}

func (p *play) everNoted(pid int) bool {
	if p.noted == nil {
		p.noted = map[int]bool{}
		for _, h := range p.seen {
			if h.what == sim.Ends && h.noted {
				p.noted[h.pid] = true
			}
		}
		for _, pid := range p.w.Noted() {
			p.noted[pid] = true
		}
	}
	return p.noted[pid]
}

// numbers: each occurrence has its own, and later instants have higher ones.
func (p *play) numbers(t *subject, e state.Entry) string {
	type one struct {
		first, last int
		line        state.Line
	}
	var list []one
	for _, l := range p.lines {
		if l.TaskID == t.id && l.Counts() && l.Type != state.LineTask {
			list = append(list, one{l.Number, l.Number + max(l.Count, 1) - 1, l})
		}
	}
	slices.SortStableFunc(list, func(a, b one) int { return a.first - b.first })
	var before *state.Line
	for i, o := range list {
		if o.first < 1 || i > 0 && o.first <= list[i-1].last {
			return fmt.Sprintf("the number %d is given twice", o.first)
		}
		if o.line.Type != state.LineOccurrence {
			continue
		}
		if before != nil && !t.rewound && !o.line.Due.After(*before.Due) {
			return fmt.Sprintf("number %d of %s comes after %d of %s", o.first, stamp(*o.line.Due), before.Number, stamp(*before.Due))
		}
		before = &list[i].line
	}
	return ""
}

// once: each instant from the first due one to the next has exactly one outcome, or is open.
func (p *play) once(t *subject, e state.Entry) string {
	got := map[time.Time]string{}
	from := t.due // the first instant that is owed an outcome, since the clock was last put back
	put := func(at time.Time, what string) string {
		at = at.UTC()
		if was, ok := got[at]; ok {
			return fmt.Sprintf("%s has two outcomes, %s and %s", stamp(at), was, what)
		}
		got[at] = what
		return ""
	}
	lines := p.lines
	if t.begins { // before that it had another schedule
		for i, l := range p.lines {
			if l.TaskID == t.id && l.Event == state.EventClock {
				lines = p.lines[i:]
			}
		}
	}
	for _, l := range lines {
		if l.TaskID == t.id && l.Type == state.LineTask && l.Event == state.EventClock {
			from = *l.Due
			for at := range got {
				if !at.Before(*l.Due) {
					delete(got, at) // it comes again
				}
			}
		}
		if l.TaskID != t.id || l.Type != state.LineOccurrence {
			continue
		}
		if text := put(*l.Due, string(l.Outcome)); text != "" {
			return text
		}
		if l.DueLast == nil {
			if l.Count != 1 {
				return fmt.Sprintf("a line of one instant, %s, counts %d", stamp(*l.Due), l.Count)
			}
			continue
		}
		if t.edited && !t.begins || t.sched == nil {
			continue
		}
		n := 1
		for at, ok := t.sched.Next(*l.Due); ok && !at.After(*l.DueLast); at, ok = t.sched.Next(at) {
			if text := put(at, string(l.Outcome)); text != "" {
				return text
			}
			n++
		}
		if n != l.Count {
			return fmt.Sprintf("the line from %s to %s counts %d, of %d", stamp(*l.Due), stamp(*l.DueLast), l.Count, n)
		}
	}
	for _, r := range e.Open {
		if !r.Manual && !r.Due.Before(from) {
			if text := put(r.Due, "open"); text != "" {
				return text
			}
		}
	}
	if t.edited && !t.begins {
		return ""
	}
	if t.sched == nil {
		if _, ok := got[t.due.UTC()]; !ok && e.Phase == state.Ended {
			return "it has ended without an outcome"
		}
		return ""
	}
	until := e.Due
	_, last := got[until.UTC()]
	ended := e.Phase == state.Ended || last && (e.Phase == state.Running || e.Phase == state.Removed) // fired by hand, or removed, since
	if ended {
		if i := slices.IndexFunc(p.lines, func(l state.Line) bool { return l.TaskID == t.id && l.Event == state.EventFinished }); i >= 0 {
			until = *p.lines[i].Due
		} else {
			until = until.Add(1)
		}
	}
	n := 0
	for at, ok := from, true; ok && at.Before(until); at, ok = t.sched.Next(at) {
		if _, ok := got[at.UTC()]; !ok {
			return fmt.Sprintf("%s has no outcome", stamp(at))
		}
		n++
	}
	for at := range got {
		if !at.Before(until) && !ended {
			return fmt.Sprintf("%s has an outcome, and the next is %s", stamp(at), stamp(until))
		}
	}
	return ""
}

// lives: at rest nothing is due that could run, nothing is open that nobody sees to, and no task waits for a time that the clock
// showed once.
func (p *play) lives(t *subject, e state.Entry) string {
	if p.calm || p.parallel > 0 || p.slow > time.Second {
		return ""
	}
	for _, r := range e.Open {
		if !r.Manual && r.Retry.IsZero() && !p.w.Runs(r) && p.w.Now().Sub(r.Claimed) > time.Hour {
			return fmt.Sprintf("number %d of %s is open, and nobody sees to it", r.Number, stamp(r.Due))
		}
	}
	if e.Held || len(e.Open) > 0 || e.Phase != state.Pending {
		return ""
	}
	now := p.w.Now()
	if late := now.Sub(e.Due); late > time.Minute {
		return fmt.Sprintf("due since %v, and nobody runs it", late)
	}
	hidden := time.Minute // what small steps back may have hidden
	for _, ev := range p.events {
		if ev.what == "back" {
			hidden += 3 * time.Hour
		}
	}
	if t.sched != nil && !t.edited {
		if next, ok := t.sched.Next(now.Add(hidden)); ok && e.Due.After(next) {
			return fmt.Sprintf("due at %s, though there is %s", stamp(e.Due), stamp(next))
		}
	}
	return ""
}

// rewound reports whether the clock was put back by hours under a task.
func (p *play) rewound(id string) bool {
	return slices.ContainsFunc(p.lines, func(l state.Line) bool { return l.TaskID == id && l.Event == state.EventClock })
}

// audit is what log --audit does.
func (p *play) audit(entries []state.Entry) []audit.Finding {
	a := audit.New(audit.Options{})
	for _, l := range p.lines {
		a.Add(l)
	}
	for _, e := range entries {
		a.Stand(e)
	}
	return a.Result().Findings
}
