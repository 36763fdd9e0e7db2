package runner

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// settle is how long a file that cannot be read must have been left alone before it is moved aside: somebody may be
// writing it.
const settle = 2 * time.Second

// The survey begins shortly after the runner does, and rests after every few tasks: what is due comes first, and the machine
// has other things to do.
const (
	surveyAfter = 100 * time.Millisecond
	surveyFew   = 64
	surveyRest  = 2 * time.Millisecond
	// surveyMany is after how many tasks memory is given back that was used for them.
	surveyMany = 1 << 13
	// surveyRounds is how often all is read, at the most, for the sake of what cannot be read, and was being written perhaps.
	surveyRounds = 3
)

// survey reads the whole queue once, beside the loop, which itself reads only names and what is due: it moves aside what
// cannot be read, and moves tasks whose zone's rules, or whose files of days, have changed since their due instant was computed. It
// holds few tasks at a time, however many there are.
func (l *engine) survey(ctx context.Context) {
	if l.Clock.For(ctx, surveyAfter) != nil {
		return
	}
	defer l.lull()
	for round := 1; ; round++ {
		n := 0
		problems, err := state.Each(ctx, l.Store, func(e state.Entry) bool {
			if round == 1 { // rules do not change while a runner lives; names do, by hand
				l.reread(ctx, e, l.Clock.Now())
				l.follow(ctx, e)
			}
			if n++; n%surveyMany == 0 {
				l.lull()
			}
			return n%surveyFew != 0 || l.Clock.For(ctx, surveyRest) == nil
		}, state.Pending, state.Running)
		if err != nil || len(problems) == 0 || ctx.Err() != nil {
			return // an error is said by the loop
		}
		moved, err := l.Store.SetAside(ctx, settle)
		if err == nil {
			l.problems(moved)
		}
		if len(moved) == len(problems) || round == surveyRounds || l.Clock.For(ctx, settle+time.Second) != nil {
			return
		}
	}
}

// follow moves a task to where its zone's rules have its instant today.
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
