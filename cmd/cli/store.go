package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
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
	"github.com/ouro-timer/ouro-timer/timer/proc"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/runner"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// Only this file knows where the state is: in a folder of this machine, or on the servers of a
// fleet with a folder for what belongs to this machine. All other files see a state.Store.

// Open returns the store, or in a dry run its preview. Opening creates nothing.
func (s *Call) Open() (state.Store, error) {
	if s.Store != nil {
		return s.Store, nil
	}
	dir, err := s.Home()
	if err != nil {
		return nil, err
	}
	var st *files.Store
	st, err = files.Open(dir, files.Options{LockWait: lockWaitOf(s), Check: checkSchedule, Limits: s.storeLimits,
		// No answer has it as a warning that it waits for another process.
		Waiting: func(who *lock.BusyError, most time.Duration) {
			if !s.InJSON {
				fmt.Fprintf(s.Err, "%s %s; waiting up to %v for it\n", s.label(Late, "ouro-timer:"), Visible(who.Error()), most)
			}
		}, Report: func(p state.Problem) {
			if !s.InJSON {
				// Several goroutines report, and Warn is not safe for that.
				fmt.Fprintf(s.Err, "%s warning: %s\n", s.label(Late, "ouro-timer:"), Visible(p.Error()))
			}
			if s.Opt.Bool("detached") { // a runner in the background has no reader
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
	if s.Store = st; address != "" && s.Cmd.Name != "wait" { // wait needs no network
		if s.Store, err = openFleet(s, address, st); err != nil {
			s.Store = nil
			return nil, err
		}
	} else {
		warnNetworkVolume(s, dir, st.Volume)
	}
	if s.DryRun {
		s.Store = state.Preview(s.Store)
	}
	return s.Store, nil
}

// OpenInZone returns the store and the zone of the call. A zone that is not known is refused first.
func OpenInZone(s *Call) (state.Store, *time.Location, error) {
	zone, err := s.Zone()
	if err != nil {
		return nil, nil, err
	}
	st, err := s.Open()
	return st, zone, err
}

// unsafePath is the problem of a path that cannot be trusted or used, with what to do about it. It
// is nil for other errors.
func unsafePath(err error) *problem.Problem {
	var unsafe *guard.Error
	if !errors.As(err, &unsafe) {
		return nil
	}
	return problem.New(problem.Unusable, problem.T("%v: %s", state.ErrUnusable, unsafe.Text),
		problem.T("%s", unsafe.Hint()))
}

// StoreAddress is the address of the fleet; empty when the tasks are in the state folder.
func (s *Call) StoreAddress() (string, error) {
	if address := s.Getenv("OURO_STORE"); address != "" {
		if err := state.CheckStore(address); err != nil {
			return "", problem.Of(problem.T("OURO_STORE: %s", err.Error()),
				problem.T("correct it, or unset it to use the tasks of this machine alone"))
		}
		return address, nil
	}
	config, err := s.Settings()
	return config.Store, err
}

// openFleet returns the store of a fleet. local keeps what stays on this machine.
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
		Rules: civil.RulesVersion, Gone: runner.HasEnded, Boot: proc.Boot()}), nil
}

// connections are the connections of this process, one for each fleet.
var connections struct {
	sync.Mutex
	to map[jet.Options]*jet.KV
}

// Servers returns the connection to the servers of a fleet.
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
	if err := checkFiles(s, config); err != nil {
		return nil, err
	}
	k, err := jet.Open(context.Background(), o)
	if err != nil && !errors.Is(err, state.ErrUnusable) {
		return nil, problem.New(problem.Unusable, problem.T("%s", err.Error()),
			problem.T("name another file below [fleet] in %s; %s makes a key", ConfigPath(s), newKey("FILE")))
	}
	if err != nil {
		return nil, err
	}
	if connections.to == nil {
		connections.to = map[jet.Options]*jet.KV{}
	}
	connections.to[o] = k
	return k, nil
}

// newKey is the call that makes a key.
func newKey(path string) problem.Call {
	return problem.To("fleet", "permit", "ROLE").With("key", path)
}

// checkFiles refuses a file of [fleet] that is not there, and a secret that others may write or
// read. It only warns of one that others may read and that is not ours, as ssh does: who mounts
// secrets into a container decides on their permissions, and we could not change them.
func checkFiles(s *Call, config state.Config) error {
	f := config.Fleet
	for _, of := range []struct {
		key, path string
		secret    bool
	}{{"nkey", f.NKey, true}, {"creds", f.Creds, true}, {"key", f.Key, true}, {"cert", f.Cert, false},
		{"ca", f.CA, false}} {
		if of.path == "" {
			continue
		}
		info, err := os.Stat(of.path)
		if why, ok := errors.AsType[*fs.PathError](err); ok {
			err = why.Err
		}
		mend := problem.T("correct %s below [fleet] in %s", of.key, ConfigPath(s))
		if of.key == "nkey" {
			mend = problem.T("make a key there: %s, and let the servers know it; or correct nkey in %s", newKey(of.path),
				ConfigPath(s))
		}
		switch {
		case err != nil:
			return problem.New(problem.Unusable, problem.T("the file that %s below [fleet] names cannot be used: %s: %s",
				of.key, of.path, err.Error()), mend)
		case !of.secret || runtime.GOOS == "windows":
		case info.Mode().Perm()&0o022 != 0:
			return problem.New(problem.Unusable, problem.T("others may write %s, which says who this machine is (mode %04o)",
				of.path, info.Mode().Perm()), problem.T("chmod 600 %s", ShellQuote(of.path)))
		case info.Mode().Perm()&0o004 == 0:
		case ours(info):
			return problem.New(problem.Unusable, problem.T("others may read the secret in %s (mode %04o)", of.path,
				info.Mode().Perm()), problem.T("chmod 600 %s", ShellQuote(of.path)))
		default:
			s.Warn("warning: others may read the secret in %s (mode %04o): chmod 600 %s", Visible(of.path),
				info.Mode().Perm(), ShellQuote(of.path))
		}
	}
	return nil
}

// ours reports whether a file belongs to this user.
func ours(info fs.FileInfo) bool {
	owner, ok := guard.Owner(info)
	return ok && owner == os.Geteuid()
}

// Node is this machine as a node of a fleet.
func (s *Call) Node() (state.Node, error) {
	config, err := s.Settings()
	if err != nil {
		return state.Node{}, err
	}
	node := state.Node{Name: config.Node.Name, Labels: config.Node.Labels}
	if node.Name == "" {
		if node.Name, err = os.Hostname(); err == nil && !state.NodeWord(node.Name) {
			err = fmt.Errorf("%q is not a valid name for a node", node.Name)
		}
		if err != nil {
			return node, problem.Of(problem.T("this machine has no host name that can be its name in a fleet: %s",
				err.Error()), problem.T("name it in %s: name = \"build-1\" under [node]", ConfigPath(s)))
		}
	}
	return node, nil
}

// checkSchedule refuses a task whose zone or schedule cannot be read.
func checkSchedule(t state.Task) error {
	_, err := civil.LoadZone(t.When.Zone)
	if err == nil {
		_, err = rules.Schedule(t)
	}
	if err != nil {
		return fmt.Errorf("has a schedule that cannot be read: %s", Explain(err))
	}
	return nil
}

// OpenToExamine opens a folder that may be unsafe or damaged. report gets what opening repairs.
func OpenToExamine(dir string, report func(state.Problem)) (state.Examiner, error) {
	st, err := files.Open(dir, files.Options{LockWait: doctorWait, Inspect: true, Report: report})
	if err != nil {
		return nil, err
	}
	return st, nil
}

// lockWait is how long a call waits for the state lock. It is held for a millisecond or two unless
// the disk stalls, and a task that is added late by a stall is better than one that is lost.
const lockWait = 30 * time.Second

// leastLockWait is how long it waits at least, however short its own bound is.
const leastLockWait = 2 * time.Second

// lockWaitOf is lockWait, or the bound of the call if that is shorter. Nobody waits for a runner,
// so the bound of the call that has started it is none of its own.
func lockWaitOf(s *Call) time.Duration {
	if most, err := Bound(s); err == nil && most > 0 && s.Cmd.Name != "run" {
		return min(lockWait, max(most, leastLockWait))
	}
	return lockWait
}

// warnNetworkVolume warns, for commands that schedule or run, that the state is on a network file
// system. With --json the answer has the warning. The check costs one system call. Nothing is
// refused for it, because not every system knows.
func warnNetworkVolume(s *Call, dir string, volume func() (guard.Volume, error)) {
	if !slices.Contains([]string{"at", "edit", "restore", "run"}, s.Cmd.Name) {
		return
	}
	if v, err := volume(); err == nil && v.Network {
		warning := Warning{warnNetwork, problem.T(v.Warning(dir) + "; set OURO_HOME to a folder on a disk of this machine")}
		if s.NetworkWarnings = nil; s.InJSON {
			s.NetworkWarnings = []Warning{warning}
		}
		s.WarnAll([]Warning{warning})
	}
}

// doctorWait is how long doctor waits for the state lock. A holder that keeps it for longer is a
// finding.
const doctorWait = 2 * time.Second
