package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/state/lock"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// This file alone knows where the state is: in a folder of this machine, or on the servers of a
// fleet and what belongs to this machine in the folder. All others see a state.Store.

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
	st, err = files.Open(dir, files.Options{LockWait: lockWait, Check: readable, Limits: s.storeLimits,
		Waiting: waiting(s), Report: func(p state.Problem) {
			if !s.InJSON {
				// not by Warn: many tell at once
				fmt.Fprintf(s.Err, "%s warning: %s\n", s.said(Late, "ouro-timer:"), Visible(p.Error()))
			}
			if s.Opt.Bool("detached") { // nobody reads what a runner in the background says
				_ = st.SetTrouble(state.Trouble{At: s.Clock.Now(), Text: Visible(p.Error())})
			}
		}})
	if err != nil {
		return nil, err
	}
	address, err := s.StoreAddress()
	if err != nil {
		return nil, err
	}
	if s.Store = st; address != "" && s.Cmd.Name != "wait" { // who waits needs no network for it
		if s.Store, err = openFleet(s, address, st); err != nil {
			s.Store = nil
			return nil, err
		}
	} else {
		far(s, dir, st.Volume)
	}
	if s.DryRun {
		s.Store = state.Preview(s.Store)
	}
	return s.Store, nil
}

// StoreAddress is the address of the fleet whose tasks are meant; empty: they are in the folder.
func (s *Call) StoreAddress() (string, error) {
	if address := s.Getenv("OURO_STORE"); address != "" {
		if err := state.CheckStore(address); err != nil {
			return "", problem.Of(problem.T("OURO_STORE: %s", err.Error()),
				problem.T("unset it for the tasks of this machine alone"))
		}
		return address, nil
	}
	config, err := s.Settings()
	return config.Store, err
}

// openFleet returns the store of a fleet, with the folder as what stays on this machine.
func openFleet(s *Call, address string, local fleet.Local) (*fleet.Store, error) {
	servers, err := s.Servers(address)
	if err != nil {
		return nil, err
	}
	node, err := s.Node()
	if err != nil {
		return nil, err
	}
	return fleet.New(servers, fleet.Options{Local: local, Node: node, Limits: s.storeLimits,
		Rules: when.RulesVersion}), nil
}

// connections are those of this process, one to each fleet.
var connections struct {
	sync.Mutex
	to map[jet.Options]*jet.KV
}

// Servers are the servers of a fleet.
func (s *Call) Servers(address string) (*jet.KV, error) {
	config, err := s.Settings()
	if err != nil {
		return nil, err
	}
	o := jet.Options{URL: address, Creds: config.Fleet.Creds, NKey: config.Fleet.NKey, CA: config.Fleet.CA,
		Cert: config.Fleet.Cert, Key: config.Fleet.Key}
	connections.Lock()
	defer connections.Unlock()
	if k := connections.to[o]; k != nil {
		return k, nil
	}
	k, err := jet.Open(context.Background(), o)
	if err != nil {
		return nil, err
	}
	if connections.to == nil {
		connections.to = map[jet.Options]*jet.KV{}
	}
	connections.to[o] = k
	return k, nil
}

// Node is this machine, as a fleet knows it.
func (s *Call) Node() (state.Node, error) {
	config, err := s.Settings()
	if err != nil {
		return state.Node{}, err
	}
	node := state.Node{Name: config.Node.Name, Labels: config.Node.Labels}
	if node.Name == "" {
		if node.Name, err = os.Hostname(); err == nil && !state.NodeWord(node.Name) {
			err = fmt.Errorf("%q cannot be the name of a node", node.Name)
		}
		if err != nil {
			return node, problem.Of(problem.T("this machine has no host name that a fleet could know it by: %s",
				err.Error()), problem.T("give it one in %s: name = \"build-1\" under [node]", ConfigPath(s)))
		}
	}
	return node, nil
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

// waiting says for whom this call waits. Unlike a warning it is not part of an answer.
func waiting(s *Call) func(who *lock.BusyError, most time.Duration) {
	return func(who *lock.BusyError, most time.Duration) {
		if !s.InJSON {
			fmt.Fprintf(s.Err, "%s %s; waiting up to %v for it\n", s.said(Late, "ouro-timer:"),
				Visible(who.Error()), most)
		}
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
