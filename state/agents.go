package state

// Agents are the agent processes that a runner keeps, so that the next one can end those that outlive it.
type Agents struct {
	Runner    Ident          `toml:"runner"`
	Processes []AgentProcess `toml:"process"`
}

// AgentProcess is one of them.
type AgentProcess struct {
	Ident
	Program string `toml:"program"` // as a line for a shell
}
