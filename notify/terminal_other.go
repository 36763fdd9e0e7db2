//go:build !unix

package notify

import (
	"context"
	"errors"

	"github.com/ouro-timer/ouro-timer/state"
)

var errNoTerminals = errors.New(noTerminal)

// Terminal is not available here: terminals are not files.
func Terminal(device, text string) error { return errNoTerminals }

// CheckTerminal refuses every name: see Terminal.
func CheckTerminal(device string) error { return permanent("%s", noTerminal) }

func readyTerminal(device string) error { return CheckTerminal(device) }

func sendTerminal(context.Context, state.Channel, Message, Env) (string, error) {
	return "", permanent("%v", errNoTerminals)
}

const noTerminal = "this system has no terminal devices to write to"

func ttys() string { return "" }

func terminals(string) []string { return nil }
