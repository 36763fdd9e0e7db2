//go:build !unix

package runner

import (
	"errors"

	"github.com/ouro-timer/ouro-timer/state"
)

// AskToYield fails, because the system has no way to ask.
func AskToYield(state.Ident) error { return errors.ErrUnsupported }

// Yielding returns a channel that stays open.
func Yielding() (<-chan struct{}, func()) { return nil, func() {} }

// Continue fails, because the system does not stop processes.
func Continue(state.Ident) error { return errors.ErrUnsupported }
