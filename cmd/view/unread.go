package view

import (
	"context"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// UnreadItems is how many items of the inbox nobody has acknowledged or leased. Items that cannot
// be read do not count; inbox warns about them.
func UnreadItems(ctx context.Context, s *cli.Call, st state.Mail) int {
	items, more, _, err := st.Inbox(ctx, state.Query{Limit: 1, Free: true, Now: s.Clock.Now()})
	if err != nil {
		return 0
	}
	return len(items) + more
}

// ShowUnread writes how many items nobody has acknowledged, if there are any and the answer goes to
// a terminal.
func ShowUnread(o *cli.Out, unread int) {
	if _, terminal := o.Width(); unread > 0 && terminal {
		o.Line("%s", o.Paint().As(cli.Unread, o.Render(problem.T("%d unread: %s", unread, problem.To("inbox")))))
	}
}
