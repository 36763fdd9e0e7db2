package jet

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/nats"
)

// AgentName reports whether a text can be the name of a connected agent.
func AgentName(text string) bool { return state.NodeWord(text) && !strings.Contains(text, ".") }

// Line is a line between a connected agent and the runners of a fleet.
type Line struct {
	Text []byte
	To   string // the place to which it came
	Back string // the place to which an answer goes; empty: none
	// Nobody says that there was nobody at the place to which a line was sent. Such a Line has no
	// text, and came to the place where an answer would have come.
	Nobody bool
}

// Port receives the lines for one place of an agent. The servers keep no line: it reaches whoever
// listens at that moment.
type Port struct {
	in   *nats.Inbox
	root string
}

// Port listens at a place of an agent. Of those that share a place, one gets each line.
func (k *KV) Port(ctx context.Context, agent, place string, share bool) (*Port, error) {
	p := &Port{root: "OURO_AGENTS." + k.fleet() + "." + agent + "."}
	group := ""
	if share {
		group = "agents"
	}
	var err error
	if p.in, err = k.nc.Listen(ctx, p.root+place, group); err != nil {
		return nil, fmt.Errorf("%w: %w", fleet.ErrAway, err)
	}
	return p, nil
}

// Send sends a line to the place to. The answer, or the word that nobody is there, comes to the
// place back.
func (p *Port) Send(to, back string, text []byte) error {
	m := nats.Msg{Subject: p.root + to, Data: text}
	if back != "" {
		m.Reply = p.root + back
	}
	err := fleetError(m, p.in.Send(m))
	if err == nil || errors.Is(err, fleet.ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%w: %w", fleet.ErrAway, err)
}

// Next waits for the next line.
func (p *Port) Next(ctx context.Context) (l Line, err error) {
	m, err := p.in.Next(ctx, 0)
	if err = fleetError(m, err); err != nil {
		if ctx.Err() == nil && !errors.Is(err, fleet.ErrDenied) {
			err = fmt.Errorf("%w: %w", fleet.ErrAway, err)
		}
		return l, err
	}
	l = Line{Text: m.Data, To: strings.TrimPrefix(m.Subject, p.root), Nobody: m.Header["Status"] == "503"}
	if back, ours := strings.CutPrefix(m.Reply, p.root); ours {
		l.Back = back
	}
	return l, nil
}

// Close ends the port.
func (p *Port) Close() { p.in.Close() }
