package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/timer/agent"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// readLines sends the lines of an input without their line ends, until the input ends, and then
// closes the channel. Empty lines are left out. A line that is too long becomes nil.
func readLines(ctx context.Context, in io.Reader, to chan<- []byte) {
	defer close(to)
	for lines := agent.NewLines(in); ; {
		line, long, err := lines.Next()
		if err != nil {
			return
		}
		if line = bytes.TrimSpace(line); long {
			line = nil
		} else if len(line) == 0 {
			continue
		}
		select {
		case to <- line:
		case <-ctx.Done():
			return
		}
	}
}

// writeLine writes a line to standard output.
func writeLine(s *cli.Call, line []byte) error {
	if _, err := s.World.Out.Write(append(slices.Clip(line), '\n')); err != nil {
		return cli.Unwritten(err)
	}
	return nil
}

// received is a line that has arrived at a port, or the error after which none will.
type received struct {
	jet.Line
	err error
}

// receive sends what arrives at a port, until ctx ends or the port fails.
func receive(ctx context.Context, p *jet.Port, to chan<- received) {
	for {
		l, err := p.Next(ctx)
		select {
		case to <- received{l, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// rpc is a JSON-RPC message, of which only the parts are read that decide where it goes.
type rpc struct {
	fields map[string]json.RawMessage
	id     json.RawMessage // nil when there is none
	call   bool            // it has a method: it is a request or a notification
	answer bool            // it has a result or an error
}

// parseRPC reads a line. A line that is not a JSON object becomes a message without fields.
func parseRPC(line []byte) (m rpc) {
	if json.Unmarshal(line, &m.fields) != nil {
		return rpc{}
	}
	_, m.call = m.fields["method"]
	_, result := m.fields["result"]
	_, failed := m.fields["error"]
	m.id, m.answer = m.fields["id"], !m.call && (result || failed)
	return m
}

// withID returns the message as a line, with another id.
func (m rpc) withID(id json.RawMessage) []byte {
	m.fields["id"] = id
	line, err := json.Marshal(m.fields)
	if err != nil {
		return nil // what was decoded can be encoded
	}
	return line
}

// allowedParams are the params that a connected agent may set. Whoever has its key receives
// reminders and may create some for itself. Any other param would let it run programs on the
// machines of the fleet, read their files, or make them send requests to any address.
var allowedParams = []string{"title", "when", "rrule", "description", "project_id", "priority", "id"}

// checked returns the message as a line, or the name of a param that is not allowed. A repeated
// param appears once in the line, so nothing that was checked can be overridden.
func (m rpc) checked() (line []byte, refused string) {
	params := map[string]json.RawMessage{}
	if raw, ok := m.fields["params"]; ok && string(raw) != "null" {
		if json.Unmarshal(raw, &params) != nil {
			return nil, "params"
		}
		for name := range params {
			if !slices.Contains(allowedParams, name) {
				return nil, name
			}
		}
		m.fields["params"], _ = json.Marshal(params)
	}
	line, err := json.Marshal(m.fields)
	if err != nil {
		return nil, "params"
	}
	return line, ""
}

// failure returns the line that answers a request with an error.
func failure(id json.RawMessage, why problem.Code, text, hint string) []byte {
	code := agent.CodeRefused
	if why == problem.Usage {
		code = agent.CodeParams
	}
	type data struct {
		Code problem.Code `json:"code"`
		Hint string       `json:"hint"`
	}
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id,
		"error": map[string]any{"code": code, "message": text, "data": data{why, hint}}})
	return line
}
