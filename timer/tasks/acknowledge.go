package tasks

import (
	"context"
	"errors"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Acknowledge ends items of the inbox for good, even if somebody has taken them. It also ends
// messages that are still to be sent through a channel, named as their items would be (NoticeID):
// no further attempt is made, and the log says so. The answers are in the order of the IDs, which
// must be whole. An ID that does not exist is state.ErrNotFound.
func Acknowledge(ctx context.Context, st state.Mail, c clock.Clock, ids []string) []error {
	errs := st.Ack(ctx, ids)
	for i, err := range errs {
		if errors.Is(err, state.ErrNotFound) {
			errs[i] = endNotice(ctx, st, c, ids[i])
		}
	}
	return errs
}

// unheard is the reason of a notice that was acknowledged before it was delivered.
const unheard = "acknowledged before it was delivered"

// endNotice ends a message that is still to be sent. An attempt that is running goes on, but its
// result is dropped.
func endNotice(ctx context.Context, st state.Mail, c clock.Clock, id string) error {
	for range Attempts { // the runner may postpone it in between
		list, err := Notices(ctx, st)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(list, func(n state.Notice) bool { return NoticeID(n) == id })
		if at < 0 {
			return state.ErrNotFound
		}
		n := list[at]
		err = st.Told(ctx, n, state.Line{At: c.Now(), Description: n.Line.Description, News: n.Line.News, Due: n.Line.Due, Attempts: n.Attempts, Reason: unheard})
		if !errors.Is(err, state.ErrNotFound) {
			return err
		}
	}
	return state.ErrNotFound
}

// Notices returns all messages that are still to be sent, as far as they can be read.
func Notices(ctx context.Context, st state.Mail) ([]state.Notice, error) {
	list, _, _, err := st.Outbox(ctx, state.EndOfTime, 0)
	return list, err
}

// NoticeID returns the ID that the item of a notice would have if it were given up.
func NoticeID(n state.Notice) string { return state.ItemID(n.Of(state.Line{})) }
