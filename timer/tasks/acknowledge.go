package tasks

import (
	"context"
	"errors"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Acknowledge ends items of the inbox for good, whoever has taken them, and messages that are still to be told by a channel, named as their
// items would be (NoticeID): those are tried no more, and the log says so. The answers stand in the order of the IDs, which are whole:
// state.ErrNotFound for one that is not there.
func Acknowledge(ctx context.Context, st state.Mail, c clock.Clock, ids []string) []error {
	errs := st.Ack(ctx, ids)
	for i, err := range errs {
		if errors.Is(err, state.ErrNotFound) {
			errs[i] = endNotice(ctx, st, c, ids[i])
		}
	}
	return errs
}

// unheard is the reason of a notice that was acknowledged while it waited to be delivered.
const unheard = "acknowledged before it was delivered"

// endNotice ends what is still to be told by a channel. An attempt that is being made goes on; nothing comes of it but what the receiver got.
func endNotice(ctx context.Context, st state.Mail, c clock.Clock, id string) error {
	for range Attempts { // the runner may postpone it between the look and the end
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

// Notices are all messages that are still to be told, as far as they can be read.
func Notices(ctx context.Context, st state.Mail) ([]state.Notice, error) {
	list, _, _, err := st.Outbox(ctx, state.EndOfTime, 0)
	return list, err
}

// NoticeID is what the item of a notice would be called, were it given up.
func NoticeID(n state.Notice) string { return state.ItemID(n.Of(state.Line{})) }
