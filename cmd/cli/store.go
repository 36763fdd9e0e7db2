package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/state/lock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// This file alone knows that the state is in a folder of this machine; all others see a
// state.Store.

// Open returns the store; of a dry run, its preview. Nothing is created by opening it.
func (s *Call) Open() (state.Store, error) {
	if s.Store != nil {
		return s.Store, nil
	}
	dir, err := s.Home()
	if err != nil {
		return nil, err
	}
	var st *files.Store
	st, err = files.Open(dir, files.Options{LockWait: lockWait, Check: readable, Limits: s.storeLimits, Waiting: s.waiting, Report: func(p state.Problem) {
		if !s.InJSON {
			fmt.Fprintf(s.Err, "%s warning: %s\n", s.said(Late, "ouro-timer:"), Visible(p.Error())) // not by Warn: many tell at once
		}
		if s.Opt.Bool("detached") { // nobody reads what a runner in the background says
			_ = st.NoteTrouble(state.Trouble{At: s.Clock.Now(), Text: Visible(p.Error())})
		}
	}})
	if err != nil {
		return nil, err
	}
	s.Store = st
	if s.DryRun {
		s.Store = state.Preview(st)
	}
	far(s, dir, st.Volume)
	return s.Store, nil
}

// readable says what is wrong with a task whose file can be read: its zone, or its schedule.
func readable(t state.Task) error {
	_, err := when.LoadZone(t.When.Zone)
	if err == nil {
		_, err = rules.Schedule(t)
	}
	if err != nil {
		return fmt.Errorf("has a schedule that cannot be read: %s", Explain(err))
	}
	return nil
}

// OpenToExamine returns the store in a folder, which may be unsafe or damaged, for a look at it.
// What is mended on the way is reported.
func OpenToExamine(dir string, report func(state.Problem)) (state.Examiner, error) {
	st, err := files.Open(dir, files.Options{LockWait: doctorWait, Inspect: true, Report: report})
	if err != nil {
		return nil, err
	}
	return st, nil
}

// waiting says for whom this call waits. Unlike a warning it is no part of an answer.
func (s *Call) waiting(who *lock.BusyError, most time.Duration) {
	if !s.InJSON {
		fmt.Fprintf(s.Err, "%s %s; waiting up to %v for it\n", s.said(Late, "ouro-timer:"), Visible(who.Error()), most)
	}
}

// lockWait bounds the waiting for the state lock, which is held for a millisecond or two unless the
// disk stalls. A schedule that is late by a stall is better than one that is lost.
const lockWait = 30 * time.Second

// far warns that the state is on a file system that other machines share, of the commands that
// schedule and run: once a call, for the price of one system call. It is not known everywhere, and
// no reason to refuse anything. With --json it is left for the answer of those that schedule.
func far(s *Call, dir string, volume func() (guard.Volume, error)) {
	if !slices.Contains([]string{"at", "edit", "restore", "run"}, s.Cmd.Name) {
		return
	}
	if v, err := volume(); err == nil && v.Network {
		far := Warning{warnRemote, problem.T(v.Warning(dir) + "; set OURO_HOME to a folder on a disk of this machine")}
		if s.Remote = nil; s.InJSON {
			s.Remote = []Warning{far}
		}
		s.WarnAll([]Warning{far})
	}
}

// doctorWait bounds doctor's waiting for the state lock: that it is held for so long is what it has
// to tell.
const doctorWait = 2 * time.Second
