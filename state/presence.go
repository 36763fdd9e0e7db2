package state

import (
	"context"
	"time"
)

// Presence says who is there: who waits for a task, and which agent processes runners keep.
type Presence interface {
	// Attend says that the caller waits for a pending task of type wait, until leave is called or
	// the process ends, however it does: Entry.Attended. Several may at once. The channel receives,
	// soon and at least once, after the task is no longer pending at due, or if it is paused when
	// this is called, no longer paused; it may receive before that for no reason. ErrNotFound for what is no ID.
	Attend(ctx context.Context, id string, due time.Time) (changed <-chan struct{}, leave func(), err error)

	// NoteAgents notes the agent processes that a runner keeps; without any, that it keeps none.
	// The note need not outlive the machine: one that lost its power has no processes left either.
	NoteAgents(ctx context.Context, a Agents) error

	// Agents are all notes of agent processes. One that cannot be read is left out, and told by the
	// error.
	Agents(ctx context.Context) ([]Agents, error)
}

// Agents are the agent processes that a runner keeps, so that the next one can end those that
// outlive it.
type Agents struct {
	Runner    Ident          `toml:"runner"`
	Processes []AgentProcess `toml:"process"`
}

// AgentProcess is one of them.
type AgentProcess struct {
	Ident
	Program string `toml:"program"` // as a line for a shell
}
