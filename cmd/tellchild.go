package cmd

import (
	"context"

	"github.com/ouro-timer/ouro-timer/notify"
)

// tellCommand is what our own program starts to tell a service of something: the library that speaks to services has a process to
// itself. It reads one JSON object and answers with one; see package notify.
func tellCommand() command {
	return command{
		name: notify.TellCommand, short: "tell a service what standard input says, for our own use",
		hidden: true,
		run: func(ctx context.Context, s *session) error {
			return notify.Tell(ctx, s.In, s.Out, s.Getenv)
		},
	}
}
