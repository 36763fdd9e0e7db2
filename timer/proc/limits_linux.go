package proc

import (
	"errors"
	"os"
	"strconv"
)

// Niceness and I/O priority belong to a thread, and must be set before the child's program begins.
// This very program sets them in the child, as a limiter, and then executes the program. Memory and
// processor time are bounded by a cgroup (cgroups(7), version 2): one below a cgroup that was
// delegated to us, or else the scope that systemd-run(1) makes.

// withLimits returns what is to be executed instead of the program at path, so that its limits
// apply: itself, or a limiter, or systemd-run with a limiter.
func (s Spec) withLimits(path string) (program string, argv []string, err error) {
	scope := s.Limits.needCgroup() && s.Cgroups == nil
	if s.Limits.Nice == 0 && s.Limits.IO == 0 && !scope {
		return path, s.Argv, nil
	}
	self, err := Executable()
	if err != nil {
		return "", nil, err
	}
	if scope && self == selfLink {
		self = "/proc/" + strconv.Itoa(os.Getpid()) + "/exe" // the link would be systemd-run's
	}
	argv = limiterWords(self, s.Limits, path, s.Argv)
	if !scope {
		return self, argv, nil
	}
	program, err = systemdRun()
	if err != nil {
		return "", nil, err
	}
	words := []string{program, "--scope", "--quiet", "--collect", "--unit=" + s.Unit}
	if os.Geteuid() != 0 {
		words = append(words, "--user")
	}
	if s.Limits.Memory > 0 {
		words = append(words, "--property=MemoryMax="+strconv.FormatInt(s.Limits.Memory, 10))
	}
	if s.Limits.CPU > 0 {
		words = append(words, "--property=CPUQuota="+strconv.Itoa(s.Limits.CPU)+"%")
	}
	return program, append(append(words, "--"), argv...), nil
}

// systemdRuns is there where systemd manages the machine (sd_booted(3)). Tests change it.
var systemdRuns = "/run/systemd/system"

// systemdRun returns the path of systemd-run, which makes scopes. The error says why no scope can
// be made.
func systemdRun() (string, error) {
	if _, err := os.Lstat(systemdRuns); err != nil {
		return "", errors.New("the runner has no cgroup of its own, and systemd does not run here")
	}
	path, err := LookPath("systemd-run", os.Getenv("PATH"), "")
	if err != nil {
		return "", errors.New("the runner has no cgroup of its own, and systemd-run is not installed")
	}
	return path, nil
}

// CanLimit returns why a runner without cgroups of its own cannot limit what a child uses, or nil.
func CanLimit() error {
	_, err := systemdRun()
	return err
}
