package files

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// agentsPrefix is what the names of the notes of agent processes begin with; the process ID of who keeps them follows.
const agentsPrefix = "agents-"

func agentsPlace(runner state.Ident) string {
	return fmt.Sprintf("%s/%s%d%s", runsDir, agentsPrefix, runner.PID, suffix)
}

// NoteAgents notes the agent processes that a runner keeps. The note is not awaited by the disk.
func (s *Store) NoteAgents(ctx context.Context, a state.Agents) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	path := s.path(agentsPlace(a.Runner))
	if len(a.Processes) == 0 {
		if err := s.disk.remove(path); err != nil && !missing(err) {
			return fail("noting the agents", err)
		}
		return nil
	}
	if err := s.lately(&s.furnished, s.furnish); err != nil {
		return err
	}
	data, err := codec.Encode(a)
	if err != nil {
		return fail("noting the agents", err)
	}
	temp := fresh(s.path(runsDir))
	if err = s.disk.create(temp, data); err == nil {
		err = s.disk.rename(temp, path)
	}
	if err != nil {
		s.disk.remove(temp)
	}
	return fail("noting the agents", err)
}

// Agents are all notes of agent processes.
func (s *Store) Agents(ctx context.Context) (all []state.Agents, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	names, err := readNames(s.path(runsDir))
	if err != nil {
		return nil, fail("looking for agents", err)
	}
	var problems []error
	for _, name := range names {
		if !strings.HasPrefix(name, agentsPrefix) || !strings.HasSuffix(name, suffix) {
			continue
		}
		var a state.Agents
		path := s.path(runsDir + "/" + name)
		data, err := readFile(path, tallyLimit)
		if err == nil {
			err = codec.Decode(data, &a)
		}
		switch {
		case missing(err): // its runner has none any more
		case err != nil:
			problems = append(problems, fmt.Errorf("%s: %w", path, err))
		default:
			all = append(all, a)
		}
	}
	return all, errors.Join(problems...)
}
