//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package cli

// Spaces are not heard of here.
func Spaces(World) (pressed <-chan struct{}, stop func()) { return nil, func() {} }
