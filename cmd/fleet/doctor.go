package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/handover"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
)

// doctorJSON is the answer of init and doctor.
type doctorJSON struct {
	Now      time.Time     `json:"now"`
	Fleet    string        `json:"fleet"`
	Servers  []string      `json:"servers"`
	Version  string        `json:"version"`
	Leader   string        `json:"leader,omitempty"`
	Replicas int           `json:"replicas"`
	Messages uint64        `json:"messages"`
	Bytes    uint64        `json:"bytes"`
	Commit   *float64      `json:"commit_seconds,omitempty" jsonschema:"how long a write took, the median of five; absent: this key may not write"`
	Ahead    *float64      `json:"clock_ahead_seconds,omitempty" jsonschema:"how far this machine's clock is ahead of the server's; absent: this key may not write"`
	Findings []findingJSON `json:"findings"`
}

// tell adds a finding.
func (a *doctorJSON) tell(level state.Level, hint, text string, args ...any) {
	a.Findings = append(a.Findings, findingJSON{level, fmt.Sprintf(text, args...), hint})
}

// findingJSON is something to be said.
type findingJSON struct {
	Status state.Level `json:"status"`
	Text   string      `json:"text"`
	Hint   string      `json:"hint,omitempty"`
}

// Text is a line each.
func (a doctorJSON) Text(o *cli.Out) {
	took := ""
	if a.Commit != nil {
		took = fmt.Sprintf("; a write takes %.1f ms", 1000**a.Commit)
	}
	fmt.Fprintf(o.Stdout, "ok\tfleet %s on %s (%s), %s, %s in %d bytes%s\n", a.Fleet,
		cli.Visible(strings.Join(a.Servers, ", ")), cli.Visible(a.Version), cli.Plural(int(a.Replicas), "replica"),
		cli.Plural(int(a.Messages), "message"), a.Bytes, took)
	for _, f := range a.Findings {
		fmt.Fprintf(o.Stdout, "%s\t%s\t%s\n", f.Status, f.Text, f.Hint)
	}
}

// waiting says how many tasks wait.
func waiting(n int) string {
	if n == 1 {
		return "1 task waits"
	}
	return fmt.Sprint(n, " tasks wait")
}

// Clocks that differ by so much.
const (
	aheadOdd   = time.Second
	aheadWrong = 5 * time.Second
)

// examine looks at the servers. What this key may not look at is said, and the rest goes on.
func examine(ctx context.Context, s *cli.Call, servers *jet.KV, address string) error {
	shape, err := servers.Shape(ctx)
	if err != nil {
		return err
	}
	a := doctorJSON{Now: s.Stamp(), Fleet: shape.Fleet, Servers: shape.Servers, Version: shape.Version, Leader: shape.Leader, Replicas: shape.Replicas,
		Messages: shape.Messages, Bytes: shape.Bytes, Findings: []findingJSON{}}
	if err := a.measure(ctx, servers); err != nil {
		return err
	}
	if shape.Replicas < 3 {
		a.tell(state.Odd, "run three servers, and ouro-timer fleet init", "the state is on %d server, and lost with its disk", shape.Replicas)
	}
	if len(shape.Behind) > 0 {
		a.tell(state.Odd, "see whether they are up", "servers that do not have all: %s", cli.Visible(strings.Join(shape.Behind, ", ")))
	}
	if !strings.Contains(address, "tls://") && !strings.Contains(address, "127.0.0.1") && !strings.Contains(address, "localhost") {
		a.tell(state.Odd, "use tls:// addresses", "whoever is on the network between can read tasks, and change what is run")
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	if f, ok := st.(*fleet.Store); ok {
		twins, err := handover.TwinWarnings(ctx, s, f)
		if err != nil {
			return err
		}
		for _, w := range twins {
			a.tell(state.Wrong, "ouro-timer fleet nodes", "%s", s.Render(w.Text))
		}
		homeless, err := f.Homeless(ctx)
		if err != nil {
			return err
		}
		if len(homeless) > 0 {
			a.tell(state.Odd, "start a runner there: ouro-timer service install", "%s that no living runner may run, such as %s", waiting(len(homeless)), homeless[0])
		}
	}
	s.Answer(a)
	if slices.ContainsFunc(a.Findings, func(f findingJSON) bool { return f.Status == state.Wrong }) {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// measure measures by writing how long a write takes and how far this machine's clock is off.
func (a *doctorJSON) measure(ctx context.Context, servers *jet.KV) error {
	var took []float64
	var ahead time.Duration
	for range 5 {
		one, off, err := servers.Probe(ctx)
		if errors.Is(err, fleet.ErrDenied) {
			a.tell(state.Odd, "call ouro-timer fleet doctor where the key has the role runner",
				"not measured: how long a write takes, and how far this machine's clock is off; its key may not write a probe")
			return nil
		}
		if err != nil {
			return err
		}
		took, ahead = append(took, one.Seconds()), off
	}
	slices.Sort(took)
	seconds := ahead.Seconds()
	a.Commit, a.Ahead = &took[2], &seconds
	switch off := ahead.Abs(); {
	case off > aheadWrong:
		a.tell(state.Wrong, "let a time server set it", "this machine's clock is %v off", off.Round(time.Millisecond))
	case off > aheadOdd:
		a.tell(state.Odd, "let a time server set it", "this machine's clock is %v off", off.Round(time.Millisecond))
	}
	return nil
}
