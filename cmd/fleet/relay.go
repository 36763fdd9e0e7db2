package fleet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// relay is an agent for the runner that started it, and passes the lines on to a connected agent.
type relay struct {
	call  *cli.Call
	name  string        // of the agent
	lines <-chan []byte // from the runner
	port  *jet.Port
	token string // the relay's own

	reminders int // how many the runner has sent
	// pending is the id under which the agent has the last reminder; empty once it is answered
	pending  string
	runnerID json.RawMessage // the id that the runner gave that reminder
	// returns are the places for the answers to the agent's requests, by their ids
	returns    map[string]string
	lastReturn string // the place of the last request
}

// run passes lines on until the runner closes standard input.
func (r *relay) run(ctx context.Context, servers *jet.KV) (err error) {
	r.token = rand.Text()
	if r.port, err = servers.Port(ctx, r.name, relayPlace+r.token, false); err != nil {
		return err
	}
	defer r.port.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	arrivals := make(chan received)
	go receive(ctx, r.port, arrivals)
	for err == nil {
		select {
		case line, more := <-r.lines:
			if !more {
				return nil
			}
			err = r.fromRunner(line)
		case l := <-arrivals:
			if err = l.err; err == nil {
				err = r.fromAgent(l.Line)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// fromRunner passes on a reminder, under an id that nothing else has, or the answer to a request.
func (r *relay) fromRunner(line []byte) error {
	if line == nil { // no runner writes a line that is too long
		return nil
	}
	m := parseRPC(line)
	if !m.call {
		return r.returnAnswer(string(m.id), line)
	}
	r.reminders++
	if r.pending, r.runnerID = r.token+"."+strconv.Itoa(r.reminders), m.id; r.runnerID == nil {
		r.runnerID = json.RawMessage("null")
	}
	id, _ := json.Marshal(r.pending)
	err := r.port.Send(agentPlace, relayPlace+r.token, m.withID(id))
	if errors.Is(err, fleet.ErrTooLarge) {
		return r.fail("the reminder is longer than the servers take in one message", "raise max_payload of the servers, or shorten the reminder")
	}
	return err
}

// returnAnswer sends the runner's answer to where the request with its id came from. An answer
// without a known id belongs to the last request.
func (r *relay) returnAnswer(id string, line []byte) error {
	to, known := r.returns[id]
	if !known {
		to = r.lastReturn
	}
	delete(r.returns, id)
	if to == "" {
		return nil
	}
	return r.port.Send(to, "", line)
}

// fail answers the pending reminder, if any, with an error.
func (r *relay) fail(text, hint string) error {
	if r.pending == "" {
		return nil
	}
	r.pending = ""
	return writeLine(r.call, failure(r.runnerID, problem.Failed, text, hint))
}

// fromAgent passes on the answer to the pending reminder, or a request. It drops late answers and
// everything else.
func (r *relay) fromAgent(l jet.Line) error {
	if l.Nobody {
		return r.fail(fmt.Sprintf("no agent %q is connected", r.name), "start it: ouro-timer agent connect "+r.name)
	}
	m := parseRPC(l.Text)
	var id string
	switch {
	case m.answer && json.Unmarshal(m.id, &id) == nil && id == r.pending && id != "":
		r.pending = ""
		return writeLine(r.call, m.withID(r.runnerID))
	case !m.call:
		return nil
	}
	line, param := m.checked()
	switch {
	case param == "":
	case m.id == nil:
		return nil
	default:
		return r.port.Send(l.Back, "", failure(m.id, problem.Usage, fmt.Sprintf("a connected agent may not set %q", param),
			"params is an object with "+strings.Join(allowedParams, ", ")+": a connected agent creates reminders for itself only"))
	}
	if m.id != nil && len(r.returns) < pendingMost {
		r.returns[string(m.id)] = l.Back
	}
	r.lastReturn = l.Back
	return writeLine(r.call, line)
}
