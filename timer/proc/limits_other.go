//go:build !linux

package proc

import (
	"errors"
	"syscall"
)

// Cgroups is the part of the tree of cgroups that is ours. Only Linux has cgroups.
type Cgroups struct{}

// cgroup is that of one child: none.
type cgroup struct{}

var errNoCgroups = errors.New("only Linux has cgroups")

// OwnCgroups returns an error, because this system has no cgroups.
func OwnCgroups() (*Cgroups, error) { return nil, errNoCgroups }

// CanLimit returns why a runner without cgroups of its own cannot limit what a child uses.
func CanLimit() error { return errNoCgroups }

func (s Spec) makeCgroup() (cgroup, error) {
	if s.Limits != (Limits{}) {
		return cgroup{}, &LimitError{errNoCgroups}
	}
	return cgroup{}, nil
}

func cgroupOf(int) cgroup { return cgroup{} }

func (cgroup) send(syscall.Signal, int) {}

func (cgroup) occupied(int) bool { return false }

func (cgroup) remove() (outOfMemory bool) { return false }

func (s Spec) withLimits(path string) (program string, argv []string, err error) {
	return path, s.Argv, nil
}
