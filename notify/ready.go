package notify

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// TakesRecipient reports whether a message through a channel of that type can name its recipient.
// Other channels have the recipient in their URL, or reach whoever is there.
func TakesRecipient(kind string) bool {
	switch kind {
	case Email, TTY, Webhook, Exec:
		return true
	}
	return false
}

// NeedsRecipient reports whether a channel works only when the message names a recipient.
func NeedsRecipient(c state.Channel) bool { return c.Type == Email && c.To == "" }

// Target describes where a channel leads, in a few words without secrets.
func Target(c state.Channel) string {
	switch c.Type {
	case Desktop:
		return "the desktop"
	case TTY:
		return cmp.Or(plain.Line(c.To), "your terminals")
	case Email:
		if c.Host == "" {
			return "Resend"
		}
		way := cmp.Or(strings.ToLower(c.TLS), startTLS)
		return "SMTP " + net.JoinHostPort(plain.Line(c.Host), strconv.Itoa(cmp.Or(c.Port, usualPort[way])))
	case Exec:
		if len(c.Command) > 0 {
			return plain.Line(c.Command[0]) // the arguments can be secrets
		}
	}
	return Redact(cmp.Or(c.URL, c.OK))
}

// Ready says why a channel could not work here and now, as far as can be seen without sending
// anything; nil when nothing is wrong. uses says where the settings of email come from.
func Ready(c state.Channel, env Env) (uses []string, err error) {
	c, err = FromURL(c)
	if err != nil {
		return nil, err
	}
	if c.Exposed != "" {
		return nil, exposed(c)
	}
	switch c.Type {
	case Desktop:
		if hasBuses && SessionBus(env.Getenv) == "" {
			err = errors.New(noBus)
		}
	case TTY:
		if c.To != "" {
			err = readyTerminal(c.To)
		} else if len(terminals(ttys())) == 0 {
			err = errors.New(noTerminal)
		}
	case Email:
		return readyEmail(c, env)
	case Webhook, Heartbeat: // FromURL has checked its URL
	case Exec:
		if len(c.Command) == 0 {
			return nil, localError("channel %s has no command", c.Name)
		}
		_, _, err = env.command(c.Command)
	default:
		err = CheckService(c.URL)
	}
	return nil, err
}

func readyEmail(c state.Channel, env Env) (uses []string, err error) {
	from, _, uses, err := emailSettings(c, env)
	if err != nil {
		return nil, err
	}
	if _, err := Address(from); err != nil {
		return nil, localError("the sender: %v", err)
	}
	return uses, nil
}

func exposed(c state.Channel) *Error {
	return exposedError(c.Exposed, "the secrets of channel %s are in %s, which others may read: chmod 600 it", c.Name, c.Exposed)
}

// command returns the program and the arguments that are executed for a command.
func (env Env) command(argv []string) (program string, args []string, err error) {
	if env.Elsewhere != nil {
		if program, args, ok := env.Elsewhere(argv); ok {
			return program, args, nil
		}
	}
	program, err = env.look(argv[0])
	return program, argv, err
}

// look finds a program.
func (env Env) look(name string) (string, error) {
	if env.LookPath != nil {
		return env.LookPath(name)
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return path, nil
}
