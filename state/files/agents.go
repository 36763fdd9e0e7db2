package files

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ouro-timer/ouro-timer/state"
)

// agentsPrefix begins the names of the notes of agent processes. The process ID of their runner
// follows.
const agentsPrefix = "agents-"

func agentsPlace(runner state.Ident) string {
	return fmt.Sprintf("%s/%s%d%s", runsDir, agentsPrefix, runner.PID, suffix)
}

// NoteAgents notes the agent processes that a runner keeps, and does not wait for the disk.
func (s *Store) NoteAgents(ctx context.Context, a state.Agents) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(a.Processes) == 0 {
		if err := s.disk.remove(s.path(agentsPlace(a.Runner))); err != nil && !missing(err) {
			return fail("noting the agents", err)
		}
		return nil
	}
	if err := s.ready(); err != nil {
		return err
	}
	return fail("noting the agents", s.note(agentsPlace(a.Runner), a))
}

// Agents returns all notes of agent processes.
func (s *Store) Agents(ctx context.Context) (all []state.Agents, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	notes, err := loadAll[state.Agents](s, agentsPrefix)
	return slices.Collect(maps.Values(notes)), err
}
