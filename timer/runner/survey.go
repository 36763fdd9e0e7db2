package runner

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// settle is how long nobody must have touched an unreadable file before it is set aside. Somebody
// may be writing it.
const settle = 2 * time.Second

// The survey begins shortly after the runner does, and rests after every few tasks. What is due
// comes first, and the machine has other things to do.
const (
	surveyAfter = 100 * time.Millisecond
	surveyFew   = 64
	surveyRest  = 2 * time.Millisecond
	// surveyMany is after how many tasks their memory is given back.
	surveyMany = 1 << 13
	// surveyRounds is how often everything is read, at most, because of files that cannot be read
	// but may just be written.
	surveyRounds = 3
)

// survey reads the whole queue once, concurrently with the loop, which itself reads only names and
// what is due. It sets aside what cannot be read. It moves tasks whose zone's rules, or whose files
// of days, have changed since their due instant was computed. It holds few tasks at a time, however
// many there are.
func (l *engine) survey(ctx context.Context) {
	if l.Clock.For(ctx, surveyAfter) != nil {
		return
	}
	defer l.lull()
	moves := true
	if s, ok := state.SharedBy(l.Store); ok {
		steward, err := s.Steward(ctx)
		moves = steward && err == nil
	}
	for round := 1; ; round++ {
		n := 0
		problems, err := state.Each(ctx, l.Store, func(e state.Entry) bool {
			if round == 1 { // rules do not change while a runner lives; people may change names
				l.reread(ctx, e, l.Clock.Now())
				if moves {
					l.follow(ctx, e)
				}
			}
			if n++; n%surveyMany == 0 {
				l.lull()
			}
			return n%surveyFew != 0 || l.Clock.For(ctx, surveyRest) == nil
		}, state.Pending, state.Running)
		if err != nil || len(problems) == 0 || ctx.Err() != nil {
			return // an error is said by the loop
		}
		moved, err := l.Store.Quarantine(ctx, settle)
		if err == nil {
			l.problems(moved)
		}
		if len(moved) == len(problems) || round == surveyRounds || l.Clock.For(ctx, settle+time.Second) != nil {
			return
		}
	}
}

// follow moves a task to the instant that its zone's rules give today.
func (l *engine) follow(ctx context.Context, e state.Entry) {
	to, changed := rules.DueNow(e)
	if !changed {
		return
	}
	if err := l.Store.Move(ctx, e.Task.ID, e.Due, to, l.Clock.Now()); err == nil {
		l.Say("task %s: the rules of %s have changed; due %s instead of %s", e.Task.ID, e.Task.When.Zone,
			when.Stamp(to), when.Stamp(e.Due.In(to.Location())))
	}
}
