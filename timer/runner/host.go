package runner

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Host is the world as the engine sees it: it runs commands and tells messages. Each method returns
// at once. Later, one Event for the claim says what came of it.
type Host interface {
	// Start makes an attempt at the claim, not before its due instant: it asks the gate, notes the
	// attempt, and runs the command to its end or tells the message. last is the outcome of the
	// task's previous occurrence.
	Start(r state.Record, last string)
	// Adopt waits for the end of a command that an earlier runner started.
	Adopt(r state.Record)
	// Rest lets a pause pass.
	Rest(r state.Record, pause time.Duration)
	// Halt ends what Start began, with TERM and after a while KILL, or the pause of Rest. If the
	// claim runs already, its event says why. A second call with Killed sends KILL at once.
	Halt(r state.Record, why string)
	// Alive reports whether a process runs, here or on another machine whose runner has a lease.
	// begun says that the process may have started something for the claim in question.
	Alive(i state.Ident, begun bool) bool
}

// Event says what became of a claim that the host was given.
type Event struct {
	Record state.Record
	Rested bool // the pause is over
	Result rules.Result
}

// machine is the real host. Each claim has a supervisor, on its own goroutine, that tells of its
// end.
type machine struct {
	Options
	ctx    context.Context // ends when nothing more is started
	life   context.Context // ends when nobody waits for events any more
	agents *agent.Pool
	events chan<- Event

	outputs outputs               // of what runs
	begun   map[claim]*supervisor // used by the engine's goroutine alone
	starts  chan struct{}         // has what is being started
}

// begin makes the supervisor of a claim.
func (m *machine) begin(r state.Record) *supervisor {
	s := newSupervisor(m, r)
	m.begun[claimOf(r)] = s
	return s
}

// done forgets a claim after its event.
func (m *machine) done(r state.Record) {
	if s := m.begun[claimOf(r)]; s != nil {
		s.release()
		delete(m.begun, claimOf(r))
	}
}

func (m *machine) Start(r state.Record, last string) {
	r.Task = atHome(r.Task)
	s := m.begin(r)
	go func() { m.events <- Event{Record: r, Result: s.attempt(last)} }()
}

func (m *machine) Adopt(r state.Record) {
	s := m.begin(r)
	go func() { m.events <- Event{Record: r, Result: s.adopt()} }()
}

func (m *machine) Rest(r state.Record, pause time.Duration) {
	s := m.begin(r)
	go func() {
		s.sleep(pause)
		m.events <- Event{Record: r, Rested: true, Result: rules.Result{Halted: why(s.starting)}}
	}()
}

func (m *machine) Halt(r state.Record, why string) {
	if s := m.begun[claimOf(r)]; s != nil {
		s.end(why)
	}
}

func (m *machine) Alive(i state.Ident, begun bool) bool {
	return AliveFor(m.Self, i, Alive, func(node string) bool {
		leased, err := m.Store.Leased(m.life, node, begun)
		return leased || err != nil // what may live is not ended
	})
}

// claimOf names an open claim.
func claimOf(r state.Record) claim { return claim{r.Task.ID, r.Number} }

// claim names an open claim. A number is used once.
type claim struct {
	id     string
	number int
}
