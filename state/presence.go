package state

import (
	"context"
	"time"
)

// Presence says who waits for a task, and which agent processes runners keep.
type Presence interface {
	// Announce says that the caller waits for a pending task of type wait (Entry.Awaited), until
	// leave is called or the process ends, however it ends. Several may wait at once. The channel
	// receives, soon and at least once, after the task is no longer pending at due or, if it was
	// paused at this call, no longer paused. It may receive for no reason before that. Announce
	// returns ErrNotFound if id is not an ID.
	Announce(ctx context.Context, id string, due time.Time) (changed <-chan struct{}, leave func(), err error)

	// NoteAgents notes the agent processes that a runner keeps, or that it keeps none. The note
	// need not survive a crash of the machine, because the processes do not either.
	NoteAgents(ctx context.Context, a Agents) error

	// Agents returns all notes of agent processes. One that cannot be read is left out and reported
	// by the error.
	Agents(ctx context.Context) ([]Agents, error)
}

// Agents are the agent processes that a runner keeps. The next runner ends those that outlive it.
type Agents struct {
	Runner    Ident          `toml:"runner"`
	Processes []AgentProcess `toml:"process"`
}

// AgentProcess is one of them.
type AgentProcess struct {
	Ident
	Program string `toml:"program"` // as a line for a shell
}
