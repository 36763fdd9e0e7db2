package fleet

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// Runner is a runner of the fleet, as it describes itself.
type Runner struct {
	state.Node
	Leader state.Leader `json:"leader"`
	Rules  string       `json:"tzdata,omitempty"` // the version of the zone rules
	// free places for commands, according to the heartbeat
	Free    int  `json:"free"`
	Drained bool `json:"-"` // it starts nothing
	Runs    int  `json:"-"` // its open claims
}

// runnerIn returns the runner whose heartbeat is in a cell. A heartbeat that cannot be decoded, as
// a newer version may write it, says no more than that there is a runner (lives).
func runnerIn(c Cell) (r Runner, there bool) {
	if len(c.Data) == 0 || decode(c, &r) != nil || r.Leader.Ident == (state.Ident{}) {
		return Runner{}, false
	}
	return r, true
}

// Runners returns the living runners, in order of their nodes.
func (s *Store) Runners(ctx context.Context) (list []Runner, err error) {
	cells, _, err := s.all(ctx, heartbeats)
	return runnersIn(cells), err
}

// runnersIn returns the runners whose heartbeats can be decoded, in order of their nodes.
func runnersIn(cells []Cell) (list []Runner) {
	for _, c := range cells {
		if r, there := runnerIn(c); there {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Runner) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Leaders returns the living runners by the names of their nodes.
func (s *Store) Leaders(ctx context.Context) (map[string]state.Leader, error) {
	list, err := s.Runners(ctx)
	leaders := map[string]state.Leader{}
	for _, r := range list {
		leaders[r.Name] = r.Leader
	}
	return leaders, err
}

// Here returns this machine.
func (s *Store) Here() state.Node { return s.o.Node }

// MayLead reports whether these credentials permit a heartbeat. It tries to write one that expects
// an impossible revision, so nothing is ever written.
func (s *Store) MayLead(ctx context.Context) (bool, error) {
	never := Op{Cell: Cell{Key: heartbeatKey(s.o.Node.Name), Rev: 1 << 62, Data: []byte("{}")}}
	err := s.patiently(ctx, func(ctx context.Context) error {
		if err := s.kv.Commit(ctx, []Op{never}); !errors.Is(err, ErrMoved) {
			return err
		}
		return nil
	})
	if errors.Is(err, ErrDenied) {
		return false, nil
	}
	return err == nil, err
}

// Steward reports whether the runner of this machine is the first of those with the newest zone
// rules.
func (s *Store) Steward(ctx context.Context) (bool, error) {
	list, err := s.Runners(ctx)
	if err != nil || len(list) == 0 {
		return false, err
	}
	newest := slices.MaxFunc(list, func(a, b Runner) int { return strings.Compare(a.Rules, b.Rules) })
	return newest.Name == s.o.Node.Name, nil
}

// living returns the living runners, with the drained ones marked.
func (s *Store) living(ctx context.Context) ([]Runner, error) {
	list, err := s.Runners(ctx)
	if err != nil {
		return nil, err
	}
	drained, _, err := s.all(ctx, drains)
	for i, r := range list {
		list[i].Drained = slices.ContainsFunc(drained, func(c Cell) bool { return c.Key == hashKey(drains, r.Name) })
	}
	return list, err
}

// Nodes returns the living runners, with the number of their open claims.
func (s *Store) Nodes(ctx context.Context) ([]Runner, error) {
	list, err := s.living(ctx)
	if err != nil {
		return nil, err
	}
	open, _, err := s.Open(ctx)
	for i, r := range list {
		for _, c := range open {
			if c.Runner == r.Leader.Ident {
				list[i].Runs++
			}
		}
	}
	return list, err
}

// Drain stops the runner of a node from starting tasks, or lets it start them again.
func (s *Store) Drain(ctx context.Context, node string, drained bool) error {
	for {
		c, err := s.get(ctx, hashKey(drains, node))
		if err != nil || drained == (len(c.Data) > 0) {
			return err
		}
		var data []byte
		if drained {
			data = []byte(node)
		}
		if _, err = s.commit(ctx, []Op{c.with(data)}); !errors.Is(err, ErrMoved) {
			return err
		}
	}
}

// Living returns the nodes whose runners are alive and not drained.
func (s *Store) Living(ctx context.Context) (nodes []state.Node, err error) {
	list, err := s.living(ctx)
	for _, r := range list {
		if !r.Drained {
			nodes = append(nodes, r.Node)
		}
	}
	return nodes, err
}

// Homeless returns the waiting tasks that no living runner may run.
func (s *Store) Homeless(ctx context.Context) (ids []string, err error) {
	nodes, err := s.Living(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.taskStates(ctx, "", false)
	for _, f := range list {
		if f.waits && !slices.ContainsFunc(nodes, func(n state.Node) bool { return n.Fits(f.on) }) {
			ids = append(ids, f.id)
		}
	}
	slices.Sort(ids)
	return ids, err
}

// delivers returns a function that reports whether this node delivers the notices of a node: its
// own, and, when it is the first node with a runner, those of nodes without one.
func (s *Store) delivers(ctx context.Context) (func(node string) bool, error) {
	cells, _, err := s.all(ctx, heartbeats)
	if err != nil {
		return nil, err
	}
	runners := runnersIn(cells)
	first := len(runners) == 0 || runners[0].Name == s.o.Node.Name
	return func(node string) bool {
		return node == s.o.Node.Name || first && !slices.ContainsFunc(cells, func(c Cell) bool { return c.Key == heartbeatKey(node) })
	}, nil
}

// lives reports whether a runner sends heartbeats. One of its node that cannot be decoded may be
// its own.
func (s *Store) lives(ctx context.Context, i state.Ident) (bool, error) {
	cells, _, err := s.all(ctx, heartbeats)
	return slices.ContainsFunc(cells, func(c Cell) bool {
		r, readable := runnerIn(c)
		return r.Leader.Ident == i || !readable && c.Key == heartbeatKey(i.Node)
	}), err
}
