//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package proc

import "errors"

var closeRange = func(uint) error { return errors.ErrUnsupported }
