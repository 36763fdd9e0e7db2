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
	Commit   *float64      `json:"commit_seconds,omitempty" jsonschema:"how long a write took, the median of five; absent when this key may not write"`
	Ahead    *float64      `json:"clock_ahead_seconds,omitempty" jsonschema:"how far this machine's clock is ahead of the server's; absent when this key may not write"`
	Findings []findingJSON `json:"findings"`
}

// add adds a finding.
func (a *doctorJSON) add(level state.Level, hint, text string, args ...any) {
	a.Findings = append(a.Findings, findingJSON{level, fmt.Sprintf(text, args...), hint})
}

// findingJSON is one finding about the fleet, with what to do about it.
type findingJSON struct {
	Status state.Level `json:"status"`
	Text   string      `json:"text"`
	Hint   string      `json:"hint,omitempty"`
}

// Text writes one line about the fleet, and one for each finding.
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

// examine answers init and doctor with what it finds on the servers. It examines what the key of
// this machine permits, and says what it left out.
func examine(ctx context.Context, s *cli.Call, servers *jet.KV, address string) error {
	shape, err := servers.Shape(ctx)
	if err != nil {
		return err
	}
	a := doctorJSON{
		Now: s.Stamp(), Fleet: shape.Fleet, Servers: shape.Servers, Version: shape.Version, Leader: shape.Leader,
		Replicas: shape.Replicas, Messages: shape.Messages, Bytes: shape.Bytes, Findings: []findingJSON{},
	}
	if err := a.measure(ctx, servers); err != nil {
		return err
	}
	if shape.Replicas < 3 {
		a.add(state.Odd, "run three servers, then ouro-timer fleet init", "the state is on %d server, and is lost with its disk", shape.Replicas)
	}
	if len(shape.Behind) > 0 {
		a.add(state.Odd, "check that they run and can reach the others", "these servers do not have the whole state: %s", cli.Visible(strings.Join(shape.Behind, ", ")))
	}
	if !strings.Contains(address, "tls://") && !strings.Contains(address, "127.0.0.1") && !strings.Contains(address, "localhost") {
		a.add(state.Odd, "use tls:// addresses",
			"the connection is not encrypted: anyone on the network can read tasks, and change what runs")
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
			a.add(state.Wrong, "ouro-timer fleet nodes", "%s", s.Render(w.Text))
		}
		homeless, err := f.Homeless(ctx)
		if err != nil {
			return err
		}
		if len(homeless) > 0 {
			a.add(state.Odd, "start a runner there: ouro-timer service install",
				"%s that no living runner may run, such as %s", handover.TasksWait(len(homeless)), homeless[0])
		}
	}
	s.Answer(a)
	if slices.ContainsFunc(a.Findings, func(f findingJSON) bool { return f.Status == state.Wrong }) {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}

// measure writes probes to measure how long a write takes and how far this machine's clock is off.
func (a *doctorJSON) measure(ctx context.Context, servers *jet.KV) error {
	var seconds []float64
	var ahead time.Duration
	for range 5 {
		took, off, err := servers.Probe(ctx)
		if errors.Is(err, fleet.ErrDenied) {
			a.add(state.Odd, "run ouro-timer fleet doctor on a machine whose key has the role runner",
				"not measured: how long a write takes, and how far this machine's clock is off; its key may not write a probe")
			return nil
		}
		if err != nil {
			return err
		}
		seconds, ahead = append(seconds, took.Seconds()), off
	}
	slices.Sort(seconds)
	aheadSeconds := ahead.Seconds()
	a.Commit, a.Ahead = &seconds[2], &aheadSeconds
	switch off := ahead.Abs(); {
	case off > state.ClockWrong:
		a.add(state.Wrong, "synchronize it with a time server", "this machine's clock is %v off", off.Round(time.Millisecond))
	case off > state.ClockOdd:
		a.add(state.Odd, "synchronize it with a time server", "this machine's clock is %v off", off.Round(time.Millisecond))
	}
	return nil
}
