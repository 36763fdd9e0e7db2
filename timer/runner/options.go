package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/relay"
	"github.com/ouro-timer/ouro-timer/timer/rules"
)

// Mode says when the loop ends.
type Mode int

// The modes.
const (
	Forever Mode = iota // until it is told to end
	Drain               // when nothing is pending and nothing runs
	Once                // when what is due now was done
)

// Options is what the loop works with. What has no word about nil or about being set is required.
type Options struct {
	Store state.Store
	Clock clock.Clock
	// Commands starts the command of a claim. It calls begin when nothing is left to do that may
	// take long. If begin fails, it starts nothing and returns the error. If ctx ends before that,
	// it starts nothing, either.
	Commands interface {
		Start(ctx context.Context, r state.Record, env []string, stdout, stderr state.Stream, begin func() error) (Command, error)
	}
	// Deliver tells a message. An error is a channel's, not the task's.
	Deliver func(r state.Record) error
	// Allow returns the patterns of what may run at this moment ([run] allow); nil allows
	// everything. It is called before each attempt, from any goroutine. A nil Allow allows
	// everything, too.
	Allow func() []string
	// Asked answers a request of an agent process that was last told of r. An *agent.Error is
	// passed on as it is. A nil Asked answers nothing. It may be called from any goroutine.
	Asked func(ctx context.Context, r state.Record, method string, params json.RawMessage) (any, error)
	// AgentStderr gets what agent processes write to their standard error, besides their files;
	// nil: nobody does.
	AgentStderr io.Writer
	// Relay passes on what commands write, and the kept output of agents, while they write it; nil:
	// it is only kept.
	Relay *relay.Relay
	// Say writes a line into the runner's own log.
	Say func(format string, a ...any)
	// Warn writes a line about a problem of the runner, into its log and for whoever asks later;
	// nil: Say does.
	Warn func(format string, a ...any)
	// Begun, if set, is called for each run except manual ones after its first attempt has started.
	// It is called from any goroutine, and must not block.
	Begun func(r state.Record)
	// Ended is called with each outcome after it is in the ledger.
	Ended func(r state.Record, line state.Line)

	// Awake measures time-outs and pauses without the time that the machine sleeps. Nil: Clock
	// does.
	Awake clock.Clock

	Self   state.Ident
	Leader state.Leader
	Mode   Mode
	// MaxParallel returns how many commands may run at once. It is called whenever something may
	// start. Tasks without a place stay in the queue.
	MaxParallel func() int
	// Again receives when MaxParallel or DayFile may answer differently; nil: never.
	Again <-chan struct{}
	// Keep returns how much of the past to keep. It is called whenever some of it is to be dropped.
	// Nil: all is kept.
	Keep func() state.Keep
	// NoClaimAhead claims no occurrence before its instant.
	NoClaimAhead bool
	// Kill, when closed, ends the running commands, with the usual grace.
	Kill <-chan struct{}
	// Yield, when closed, makes the runner step down: it gives up the lock at once, claims nothing
	// more, sees what it has begun to its end, and then ends.
	Yield <-chan struct{}
	// DayFile returns the content of a file of days that tasks leave out. It is called when a
	// runner starts, when Again receives, and before a task that names a file starts. Nil: the days
	// stay as they were when the task was made.
	DayFile func(ctx context.Context, path string) (string, error)
	// Standing returns who is told of tasks that name nobody. It is called whenever somebody is to
	// be told, from any goroutine; nil: nobody is told.
	Standing func() rules.TellDefaults
	// Send makes an attempt to deliver a notice, within ctx. detail is a word for people. An error
	// may be a *notifier.SendError; any other error may be gone at the next try. Nil: nobody is
	// told, and notices wait in the outbox. It is called from many goroutines.
	Send func(ctx context.Context, n state.Notice) (detail string, err error)
	// Told, if set, is called for each notice that has ended, after that is in the ledger.
	Told func(n state.Notice, line state.Line)
	// GiveUp returns how long a notice is tried, which may change; nil or 0: notifier.TellFor.
	GiveUp func() time.Duration
	// Linger makes a Drain runner stay as long as there is anything in the outbox. Without it, the
	// runner makes one attempt at due notices when nothing else is to be done, and leaves the rest
	// to a runner that stays.
	Linger bool
	// Mute leaves inbox and outbox alone: no line says who is told.
	Mute bool
	// Standby makes Run wait as long as another runner has the lock. StandsBy, if set, is called
	// when the wait begins.
	Standby  bool
	StandsBy func()
	// OnLead, if set, is called after the lock was taken and all that was due then was looked at.
	OnLead func()
	// Probe, if set, delivers functions that the loop calls as long as it turns. They must not
	// block.
	Probe <-chan func()
	// Lull, if set, is called when nothing has happened for a second, and during and after a look
	// through all tasks, from any goroutine.
	Lull func()
	// Idle, if set, is called when nothing has happened for a minute and nothing will happen soon.
	// The function that it returns is called when something does.
	Idle func() (wake func())
}

// AtMost is a MaxParallel that does not change.
func AtMost(n int) func() int { return func() int { return n } }

// warn reports a problem of the runner itself. That something was not done because the runner was
// told to end is none.
func (o Options) warn(format string, a ...any) {
	for _, v := range a {
		if err, ok := v.(error); ok && errors.Is(err, context.Canceled) {
			return
		}
	}
	if o.Warn == nil {
		o.Warn = o.Say
	}
	o.Warn(format, a...)
}
