//go:build !linux

package proc

import (
	"errors"
	"syscall"
)

// Cgroups is the part of the tree of cgroups that is ours. Only Linux has cgroups.
type Cgroups struct{}

// cgroup is that of one child.
type cgroup struct{}

var errNoCgroups = errors.New("only Linux can")

// OwnCgroups finds the cgroup that is ours to divide: there is none.
func OwnCgroups() (*Cgroups, error) { return nil, errNoCgroups }

// CanLimit says why a runner without cgroups of its own cannot limit what a child uses.
func CanLimit() error { return errNoCgroups }

func (s Spec) confine() (cgroup, error) {
	if s.Limits != (Limits{}) {
		return cgroup{}, &LimitError{errNoCgroups}
	}
	return cgroup{}, nil
}

func cgroupOf(int) cgroup { return cgroup{} }

func (cgroup) send(syscall.Signal, int) {}

func (cgroup) occupied(int) bool { return false }

func (cgroup) leave() (outOfMemory bool) { return false }

func (s Spec) limited(path string) (program string, argv []string, err error) {
	return path, s.Argv, nil
}
