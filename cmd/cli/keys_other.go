//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package cli

// SpaceBar reports no presses on this system.
func SpaceBar(World) (pressed <-chan struct{}, stop func()) { return nil, func() {} }
