package runner

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

const (
	forgetEvery = time.Hour
	// forgetAfter is after how many runs the past is looked at before the hour is over, so that a
	// task that runs every second does not keep an hour's output.
	forgetAfter = 50
	// forgetRest is the least pause between two looks, each of which reads many names.
	forgetRest = 10 * time.Second
)

// forget makes the store drop what is older than is kept, concurrently with the loop: soon after
// the start, and then again and again until ctx ends.
func (l *loop) forget(ctx context.Context) {
	if l.Keep == nil {
		return
	}
	for pause := surveyAfter; l.Clock.For(ctx, pause) == nil; pause = forgetRest {
		keep := l.Keep()
		p, err := l.Store.Prune(ctx, keep, l.Clock.Now())
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			l.warn("what is old could not be forgotten: %v", err)
		case p.Tasks > 0 || p.Runs > 0 || p.Lines > 0:
			l.Say("forgot what is older or more than is kept: %d ended tasks, %d outputs (%d bytes), %d lines of the ledger", p.Tasks, p.Runs, p.Bytes, p.Lines)
		}
		if err == nil && p.Items > 0 {
			l.Say("dropped the %d oldest items that nobody had acknowledged: the inbox keeps %d of each task and %d in all", p.Items, keep.Items, keep.Inbox)
		}
		waiting, stop := clock.WithTimeout(ctx, l.Clock, forgetEvery)
		select {
		case <-waiting.Done():
		case <-l.many:
		}
		stop()
	}
}

// count counts a run that has ended, for forget.
func (l *loop) count(line state.Line) {
	if line.Started == nil {
		return
	}
	if l.ran++; l.ran%forgetAfter == 0 {
		select {
		case l.many <- struct{}{}:
		default:
		}
	}
}
