package runner

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// Processes starts the commands of claims as processes of this machine.
type Processes struct {
	// Scratch makes a nameless file with a script for its shell to read. Only tasks with a script
	// need it.
	Scratch func(text string) (*os.File, error)
	// Cgroups are where a run gets a cgroup of its own; nil: nowhere.
	Cgroups *proc.Cgroups
}

// Command is a started command. The methods may be called from any goroutine.
type Command interface {
	Identity() proc.Identity
	Done() <-chan struct{} // closed when it has ended
	Wait() proc.Result     // called once
	// Stop ends it and its group: with TERM, and with KILL after the grace.
	Stop(grace time.Duration)
}

type command struct{ *proc.Process }

// adopted is a command that an earlier runner started.
type adopted struct {
	command
	started time.Time // as that runner noted it
}

func (a adopted) Wait() proc.Result {
	r := a.command.Wait()
	r.Started = a.started
	return r
}

func (c command) Stop(grace time.Duration) {
	// If the system does not let us end it, nobody can. Its end is awaited all the same.
	_ = c.Process.Stop(clock.Awake, grace)
}

// Start starts the command of a claim with its output in the two streams, or without output if they
// are nil. A further attempt writes over the output of the one before. If the start is put off
// (proc.Passing), or begin prevents it, no file is left.
func (p Processes) Start(ctx context.Context, r state.Record, env []string, stdout, stderr state.Stream, begin func() error) (c Command, err error) {
	spec := proc.Spec{Argv: argv(r.Task.Run), Dir: r.Task.Run.Dir, Env: env, Umask: r.Task.Run.Umask}
	began := !spec.MayHang()
	if began {
		if err := begin(); err != nil {
			return nil, err
		}
	}
	if stdout != nil { // it is the run, and not a question before it
		if spec.Limits, err = limitsOf(r.Task.Policy); err != nil {
			return nil, err
		}
		spec.Cgroups, spec.Unit = p.Cgroups, fmt.Sprintf("ouro-%s-%d-%d", r.Task.ID, r.Number, max(r.Attempt, 1))
		defer func() {
			if err != nil && (!began || proc.Passing(err)) {
				_ = stdout.Drop(context.WithoutCancel(ctx)) // the next attempt makes them anew
				_ = stderr.Drop(context.WithoutCancel(ctx))
			}
		}()
		out, err := stdout.Create(ctx)
		if err != nil {
			return nil, err
		}
		defer out.Close()
		errs, err := stderr.Create(ctx)
		if err != nil {
			return nil, err
		}
		defer errs.Close()
		spec.Stdout, spec.Stderr = out, errs
	}
	if r.Task.Run.Script != "" {
		script, err := p.Scratch(r.Task.Run.Script)
		if err != nil {
			return nil, err
		}
		defer script.Close()
		spec.Stdin = script
	}
	child, err := proc.StartWhen(ctx, spec, func() error {
		if began {
			return nil
		}
		err := begin()
		began = err == nil
		return err
	})
	if err != nil {
		return nil, err
	}
	return command{child}, nil
}

// limitsOf is what a run may use of the machine.
func limitsOf(p state.Policy) (l proc.Limits, err error) {
	l = proc.Limits{Nice: p.Nice, Memory: p.Memory, CPU: p.CPU}
	if p.IONice != "" {
		l.IO, err = proc.ParseIOPriority(p.IONice)
	}
	return l, err
}

// How many bytes of a run's output are kept, of its beginning and of its end.
const (
	keepHead = 64 << 10
	keepTail = 192 << 10
)

// trim trims what a run has written and returns what is left. Output that cannot be trimmed stays
// whole.
func trim(ctx context.Context, stream state.Stream) state.Output {
	out, _ := stream.Trim(ctx, keepHead, keepTail)
	return out
}

// sumOf is the checksum by which kept output is compared with that of another run. Output that
// cannot be read counts as none.
func sumOf(ctx context.Context, stream state.Stream) string {
	sum := sha256.New()
	if f, err := stream.Open(ctx); err == nil {
		defer f.Close()
		_, _ = io.Copy(sum, io.LimitReader(f, matchMost))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// matchMost is how much of a run's output is searched for --until-output.
const matchMost = 64 << 20

// matches reports whether the regular expression matches in what a run has written. An empty
// expression matches nothing.
func matches(ctx context.Context, stream state.Stream, expr string) bool {
	if expr == "" {
		return false
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return false // refused when the task was made
	}
	f, err := stream.Open(ctx)
	if err != nil {
		return false
	}
	defer f.Close()
	return re.MatchReader(bufio.NewReader(io.LimitReader(f, matchMost)))
}

func occurrence(r state.Record) string { return state.OccurrenceID(r.Task.ID, r.Number) }

func ident(p proc.Identity) state.Ident {
	return state.Ident{Node: proc.Node(), Boot: p.Boot, NS: p.PIDNS, PID: p.PID, Start: p.Start}
}

func identity(i state.Ident) proc.Identity {
	return proc.Identity{PID: i.PID, Start: i.Start, Boot: i.Boot, PIDNS: i.NS}
}

// Self is the identity of this process.
func Self() (state.Ident, error) {
	id, err := proc.Self()
	if err != nil {
		return state.Ident{}, fmt.Errorf("telling this process's identity: %w", err)
	}
	return ident(id), nil
}

// SelfIn is Self as other runners of a store know it. In a fleet, the name of the node stands for
// the machine, because machines may be copies of each other and containers have no machine-id(5).
func SelfIn(st any) (state.Ident, error) {
	self, err := Self()
	if shared, ok := state.SharedBy(st); ok {
		self.Node = shared.Here().Name
	}
	return self, err
}
