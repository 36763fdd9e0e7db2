//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package cli

// Spaces reports no presses on this system.
func Spaces(World) (pressed <-chan struct{}, stop func()) { return nil, func() {} }
