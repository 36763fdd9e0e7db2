package memory

import (
	"context"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// NoteAgents notes the agent processes that a runner keeps.
func (s *Store) NoteAgents(ctx context.Context, a state.Agents) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	s.agents = slices.DeleteFunc(s.agents, func(o state.Agents) bool { return o.Runner == a.Runner })
	if len(a.Processes) > 0 {
		a.Processes = slices.Clone(a.Processes)
		s.agents = append(s.agents, a)
	}
	return nil
}

// Agents are all notes of agent processes.
func (s *Store) Agents(ctx context.Context) (all []state.Agents, err error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, a := range s.agents {
		a.Processes = slices.Clone(a.Processes)
		all = append(all, a)
	}
	return all, nil
}
