package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// connection connects the agent behind standard input and output to the runners of a fleet.
type connection struct {
	call        *cli.Call
	name        string        // of the agent
	lines       <-chan []byte // from the agent
	established bool          // the servers were reached at least once
	away        bool          // the loss of the servers was reported

	port  *jet.Port
	token string // of the present session
	// relay is the place of the relay that sent the last reminder; empty before the first
	relay    string
	requests int // how many the agent has sent
	// pending are the ids of requests without an answer, by the places for their answers
	pending map[string]json.RawMessage
}

// reconnectPause is the pause before the next attempt to reach the servers.
const reconnectPause = time.Second

// run serves the agent until standard input ends. It reconnects after the servers were away, but
// fails when the first attempt does not reach them.
func (a *connection) run(ctx context.Context, servers *jet.KV) error {
	for {
		switch err := a.session(ctx, servers); {
		case err == nil || ctx.Err() != nil || !a.established || !errors.Is(err, fleet.ErrAway):
			return err
		case !a.away:
			a.away = true
			a.call.Warn("%v; trying again until they do", err)
		}
		if err := a.call.Clock.For(ctx, reconnectPause); err != nil {
			return err
		}
	}
}

// session passes lines on until the connection to the servers breaks or standard input ends.
func (a *connection) session(ctx context.Context, servers *jet.KV) error {
	a.token, a.relay, a.pending = rand.Text(), "", map[string]json.RawMessage{}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	arrivals := make(chan received)
	for _, at := range []struct {
		place string
		share bool
	}{{answerPlace + a.token + ".*", false}, {agentPlace, true}} {
		p, err := servers.Port(ctx, a.name, at.place, at.share)
		if err != nil {
			return err
		}
		defer p.Close()
		a.port = p
		go receive(ctx, p, arrivals)
	}
	// This line comes back once the servers know both places.
	err := a.port.Send(a.answersAt(0), "", nil)
	lines := a.lines
	if !a.established {
		lines = nil
	}
	for err == nil {
		select {
		case line, more := <-lines:
			if !more {
				return nil
			}
			err = a.fromAgent(line)
		case l := <-arrivals:
			switch {
			case l.err != nil:
				err = l.err
			case l.To == a.answersAt(0):
				if !a.call.Quiet {
					a.call.Note("Connected as the agent %s. The end of standard input ends it.", a.name)
				}
				a.established, a.away, lines = true, false, a.lines
			default:
				err = a.fromRunner(l.Line)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, id := range a.pending {
		if id != nil {
			_ = writeLine(a.call, failure(id, problem.Failed, "the connection broke before the answer came", "ask again"))
		}
	}
	return err
}

// answersAt returns the place for the answer to request n. No request is number 0.
func (a *connection) answersAt(n int) string {
	return answerPlace + a.token + "." + strconv.Itoa(n)
}

// fromRunner passes on a reminder, or the answer to a request.
func (a *connection) fromRunner(l jet.Line) error {
	if l.To == agentPlace {
		a.relay = l.Back
		return writeLine(a.call, l.Text)
	}
	id := a.pending[l.To]
	delete(a.pending, l.To)
	switch {
	case l.Nobody && id == nil:
		return nil
	case l.Nobody:
		return writeLine(a.call, failure(id, problem.Failed, "the runner that sent the last reminder has gone",
			"ask after the next reminder, or schedule by the command line"))
	}
	return writeLine(a.call, l.Text)
}

// fromAgent passes on a line of the agent, or says what is wrong with it. An answer goes to the
// relay that its id names, and anything else to the relay that sent the last reminder.
func (a *connection) fromAgent(line []byte) error {
	if complaint := agent.Complaint(line); complaint != nil {
		return writeLine(a.call, complaint)
	}
	m := parseRPC(line)
	if m.answer {
		var id string
		_ = json.Unmarshal(m.id, &id)
		token, _, ours := strings.Cut(id, ".")
		if !ours || len(token) != len(a.token) || strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
			a.call.Warn("an answer without the id of a reminder is dropped; answer with the id of the reminder")
			return nil
		}
		return a.sent(m, a.port.Send(relayPlace+token, "", line))
	}
	switch {
	case a.relay == "" && m.call && m.id != nil:
		return writeLine(a.call, failure(m.id, problem.Failed, "no reminder has come yet, and only the runner that sent the last one takes requests",
			"ask after a reminder, or schedule by the command line"))
	case a.relay == "":
		a.call.Warn("a line before the first reminder is dropped: %s", excerpt(line))
		return nil
	case len(a.pending) >= pendingMost:
		a.call.Warn("a line is dropped, because %d requests have no answer yet: %s", pendingMost, excerpt(line))
		return nil
	}
	a.requests++
	place := a.answersAt(a.requests)
	a.pending[place] = m.id
	return a.sent(m, a.port.Send(a.relay, place, line))
}

// sent returns the error of a message that was sent. When the servers refuse the message as too
// large, it answers the agent instead.
func (a *connection) sent(m rpc, err error) error {
	if !errors.Is(err, fleet.ErrTooLarge) {
		return err
	}
	if !m.answer {
		delete(a.pending, a.answersAt(a.requests))
	}
	if m.call && m.id != nil {
		return writeLine(a.call, failure(m.id, problem.Failed, "the line is longer than the servers take in one message", "shorten it"))
	}
	a.call.Warn("a line is dropped: it is longer than the servers take in one message")
	return nil
}

// excerpt returns the beginning of a line as warnings quote it.
func excerpt(line []byte) string {
	return cli.Quote(cli.Visible(string(line[:min(len(line), 80)])))
}
