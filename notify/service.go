package notify

import (
	"context"

	"github.com/ouro-timer/ouro-timer/state"
)

// sendService tells it by the service that the channel's URL names.
func sendService(_ context.Context, c state.Channel, _ Message, _ Env) (string, error) {
	return "", permanent("channel %s: there is no service %q", c.Name, c.Type)
}
