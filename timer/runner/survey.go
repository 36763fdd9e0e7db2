package runner

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when/say"
)

// quarantineAge is how long nobody must have touched an unreadable file before it is set aside.
// Somebody may be writing it.
const quarantineAge = 2 * time.Second

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
func (g *engine) survey(ctx context.Context) {
	if g.Clock.For(ctx, surveyAfter) != nil {
		return
	}
	defer g.lull()
	moves := true
	if s, ok := state.SharedBy(g.Store); ok {
		steward, err := s.Steward(ctx)
		moves = steward && err == nil
	}
	for round := 1; ; round++ {
		n := 0
		problems, err := state.Each(ctx, g.Store, func(e state.Entry) bool {
			if round == 1 { // rules do not change while a runner lives; people may change names
				g.reread(ctx, e, g.Clock.Now())
				if moves {
					g.followZone(ctx, e)
				}
			}
			if n++; n%surveyMany == 0 {
				g.lull()
			}
			return n%surveyFew != 0 || g.Clock.For(ctx, surveyRest) == nil
		}, state.Pending, state.Running)
		if err != nil || len(problems) == 0 || ctx.Err() != nil {
			return // an error is said by the loop
		}
		moved, err := g.Store.Quarantine(ctx, quarantineAge)
		if err == nil {
			g.problems(moved)
		}
		if len(moved) == len(problems) || round == surveyRounds || g.Clock.For(ctx, quarantineAge+time.Second) != nil {
			return
		}
	}
}

// followZone moves a task to the instant that its zone's rules give today.
func (g *engine) followZone(ctx context.Context, e state.Entry) {
	to, changed := rules.DueNow(e)
	if !changed {
		return
	}
	if err := g.Store.Move(ctx, e.Task.ID, e.Due, to, g.Clock.Now()); err == nil {
		g.Say("task %s: the rules of %s have changed; due %s instead of %s", e.Task.ID, e.Task.When.Zone,
			say.Stamp(to), say.Stamp(e.Due.In(to.Location())))
	}
}
