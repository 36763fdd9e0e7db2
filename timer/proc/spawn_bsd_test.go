//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package proc

import "testing"

func withoutSpawner(*testing.T) {}

func threadsHaveUmask() bool { return false }
