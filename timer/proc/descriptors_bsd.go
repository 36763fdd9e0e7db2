//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package proc

import "errors"

// closeRange is not supported: these systems have no such call.
var closeRange = func(uint) error { return errors.ErrUnsupported }
