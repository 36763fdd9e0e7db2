package fleet

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// AgentCommand is agent, by which a process on any machine is an agent of a fleet.
func AgentCommand() cli.Command {
	return cli.Command{
		Name: "agent", Args: "{connect | relay} NAME", Short: "be an agent of a fleet from anywhere",
		Long: `
connect NAME speaks with the fleet's runners as an agent does that a runner has started: reminders come as lines of JSON-RPC
on standard output, answers and requests are read from standard input, whose end ends it. It needs the addresses of the
servers (store in config.toml, or OURO_STORE) and a key: fleet permit agent NAME. With that key it is told reminders, may
answer and ask, and sees nothing else of the fleet. It goes on by itself when the servers were away.

A reminder for it is one for the program "ouro-timer agent relay NAME", which runners start, and which passes the lines on.
Each reminder has an id, and only an answer with that id counts. Several may connect by one NAME: each reminder goes to one.`,
		Examples: []string{
			"ouro-timer agent connect helper",
			`ouro-timer at every day at 6pm --on any --agent "ouro-timer agent relay helper" --title "Self-review"`,
			"ouro-timer fleet permit agent helper --key helper.nk",
		},
		Arguments: []option.Argument{{Name: "word", Kind: option.Word, Required: true, Choices: []string{"connect", "relay"}}, {Name: "name", Kind: option.Name, Required: true}},
		Options:   option.Rows{cli.QuietFlag("print nothing but errors on standard error")},
		Run:       runAgent,
	}
}

func runAgent(ctx context.Context, s *cli.Call) error {
	word := ""
	if len(s.Args) > 0 {
		word = s.Args[0]
	}
	switch {
	case word != "connect" && word != "relay":
		return problem.Of(problem.T("agent needs one word of connect and relay"), problem.T("%s", problem.To("agent", "connect", "NAME")))
	case len(s.Args) != 2 || !jet.AgentName(s.Args[1]):
		return problem.Of(problem.T("%s needs the name of one agent: letters, digits, - and _", word), problem.T("%s", problem.To("agent", word, "helper")))
	}
	address, err := s.StoreAddress()
	if err != nil {
		return err
	}
	if address == "" {
		return problem.Of(problem.T("there is no fleet whose runners could tell an agent"),
			problem.T("name its servers in config.toml, as in store = %q, or in OURO_STORE; on one machine the runner starts agents itself, at --agent", "nats://host:4222"))
	}
	servers, err := s.Servers(address)
	if err != nil {
		return err
	}
	lines := make(chan []byte)
	go readLines(ctx, s.In, lines)
	if word == "relay" {
		return (&relayed{call: s, name: s.Args[1], lines: lines, asked: map[string]string{}}).run(ctx, servers)
	}
	a := &connected{call: s, name: s.Args[1], lines: lines}
	for {
		switch err := a.run(ctx, servers); {
		case err == nil || ctx.Err() != nil || !a.established || !errors.Is(err, fleet.ErrAway):
			return err
		case !a.away:
			a.away = true
			s.Warn("%v; trying again until they do", err)
		}
		if err := s.Clock.For(ctx, again); err != nil {
			return err
		}
	}
}

// rpcMost bounds a line, as timer/agent does.
const rpcMost = 1 << 20

// readLines gives the lines of an input, without their ends, until it ends: nil for one that is too
// long.
func readLines(ctx context.Context, in io.Reader, to chan<- []byte) {
	defer close(to)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		var line []byte
		var err error
		long := false
		for more := true; more; {
			var part []byte
			part, err = r.ReadSlice('\n')
			if more = errors.Is(err, bufio.ErrBufferFull); len(line)+len(part) > rpcMost+1 {
				long, part = true, nil
			}
			line = append(line, part...)
		}
		if line = bytes.TrimSpace(line); long {
			line = nil
		}
		if long || len(line) > 0 {
			select {
			case to <- line:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// rpc is a line as far as its way depends on it.
type rpc struct {
	fields map[string]json.RawMessage
	id     json.RawMessage // nil: none
	call   bool            // it has a method: it asks, or tells
	answer bool            // it has a result or an error
}

// readRPC reads a line. What is not an object has no fields.
func readRPC(line []byte) (m rpc) {
	if json.Unmarshal(line, &m.fields) != nil {
		return rpc{}
	}
	_, m.call = m.fields["method"]
	_, well := m.fields["result"]
	_, badly := m.fields["error"]
	m.id, m.answer = m.fields["id"], !m.call && (well || badly)
	return m
}

// as is the line with another id.
func (m rpc) as(id json.RawMessage) []byte {
	m.fields["id"] = id
	line, err := json.Marshal(m.fields)
	if err != nil {
		return nil // it was read
	}
	return line
}

// failure is the line that says that what has an id was not done.
func failure(id json.RawMessage, text string, hint string) []byte {
	type data struct {
		Code problem.Code `json:"code"`
		Hint string       `json:"hint"`
	}
	line, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": refused, "message": text, "data": data{problem.Failed, hint}}})
	return line
}

// refused is the code of what was understood and not done, as timer/agent has it.
const refused = -32000

// pump gives what comes to a port, until ctx or the port ends.
func pump(ctx context.Context, p *jet.Port, to chan<- arrived) {
	for {
		l, err := p.Next(ctx)
		select {
		case to <- arrived{l, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// arrived is a line that came, or why no more come.
type arrived struct {
	jet.Line
	err error
}

// write writes a line to standard output.
func write(s *cli.Call, line []byte) error {
	if _, err := s.World.Out.Write(append(slices.Clip(line), '\n')); err != nil {
		return cli.Unwritten(err)
	}
	return nil
}

// relayed stands for a connected agent, where a runner has started it: it passes the lines on.
type relayed struct {
	call  *cli.Call
	name  string
	lines <-chan []byte
	port  *jet.Port
	token string

	told int
	// flight is the id of what the agent was told last and has not answered; empty: nothing
	flight string
	was    json.RawMessage   // the id that the runner gave it
	asked  map[string]string // where the answers to the agent's requests go, by id
	last   string            // where that of the last goes
}

func (r *relayed) run(ctx context.Context, servers *jet.KV) (err error) {
	r.token = rand.Text()
	if r.port, err = servers.Port(ctx, r.name, "r."+r.token, false); err != nil {
		return err
	}
	defer r.port.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	come := make(chan arrived)
	go pump(ctx, r.port, come)
	for err == nil {
		select {
		case line, more := <-r.lines:
			if !more {
				return nil
			}
			err = r.fromRunner(line)
		case l := <-come:
			if err = l.err; err == nil {
				err = r.fromAgent(l.Line)
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// fromRunner passes on a reminder, with an id that nothing else has, or the answer to a request.
func (r *relayed) fromRunner(line []byte) error {
	if line == nil { // the runner writes none that is too long
		return nil
	}
	m := readRPC(line)
	if !m.call {
		id := string(m.id)
		to, known := r.asked[id]
		if !known {
			to = r.last
		}
		delete(r.asked, id)
		if to == "" {
			return nil
		}
		return r.port.Send(to, "", line)
	}
	r.told++
	if r.flight, r.was = r.token+"."+strconv.Itoa(r.told), m.id; r.was == nil {
		r.was = json.RawMessage("null")
	}
	id, _ := json.Marshal(r.flight)
	err := r.port.Send("c", "r."+r.token, m.as(id))
	if errors.Is(err, fleet.ErrTooLarge) {
		return r.fails("the reminder is longer than the servers take in one message", "raise max_payload of the servers, or say it in fewer words")
	}
	return err
}

// fails answers the runner that the agent was not told.
func (r *relayed) fails(text, hint string) error {
	if r.flight == "" {
		return nil
	}
	r.flight = ""
	return write(r.call, failure(r.was, text, hint))
}

// harmless are the params of requests that a connected agent may use. Whoever has its key is told
// reminders and may make some for itself. The others would let it run programs on the machines of
// the fleet, read their files, or have them ask any address.
var harmless = []string{"title", "when", "rrule", "description", "project_id", "priority", "id"}

// checked is a request with only harmless params. It returns the param that is refused, if any.
func (m rpc) checked() (line []byte, refused string) {
	params := map[string]json.RawMessage{}
	if raw, ok := m.fields["params"]; ok && string(raw) != "null" {
		if json.Unmarshal(raw, &params) != nil {
			return nil, "params"
		}
		for name := range params {
			if !slices.Contains(harmless, name) {
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

// fromAgent passes on an answer to what the agent was told last, or what it asks. A late answer is
// dropped, and so is what is neither.
func (r *relayed) fromAgent(l jet.Line) error {
	if l.Nobody {
		return r.fails(fmt.Sprintf("no agent %q is connected", r.name), "start it: ouro-timer agent connect "+r.name)
	}
	m := readRPC(l.Text)
	var id string
	switch {
	case m.answer && json.Unmarshal(m.id, &id) == nil && id == r.flight && id != "":
		r.flight = ""
		return write(r.call, m.as(r.was))
	case !m.call:
		return nil
	}
	line, param := m.checked()
	switch {
	case param == "":
	case m.id == nil:
		return nil
	default:
		return r.port.Send(l.Back, "", failure(m.id, fmt.Sprintf("a connected agent must not give %q", param),
			"leave it out: what it makes is a reminder for itself"))
	}
	if m.id != nil && len(r.asked) < pendingMost {
		r.asked[string(m.id)] = l.Back
	}
	r.last = l.Back
	return write(r.call, line)
}

// connected is a process elsewhere that is an agent.
type connected struct {
	call        *cli.Call
	name        string
	lines       <-chan []byte
	established bool
	away        bool // it was said that the connection broke

	port  *jet.Port
	token string
	told  string // the place of the relay that told it last; empty: none yet
	asks  int    // requests
	// the ids of those without an answer, by the place where that comes
	pending map[string]json.RawMessage
}

const (
	pendingMost = 1000        // requests without an answer
	again       = time.Second // the pause before the next try to reach the servers
)

// run is one connection to the servers: until it breaks, or standard input ends.
func (a *connected) run(ctx context.Context, servers *jet.KV) error {
	a.token, a.told, a.pending = rand.Text(), "", map[string]json.RawMessage{}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	come := make(chan arrived)
	for _, at := range []struct {
		place string
		share bool
	}{{"k." + a.token + ".*", false}, {"c", true}} {
		p, err := servers.Port(ctx, a.name, at.place, at.share)
		if err != nil {
			return err
		}
		defer p.Close()
		a.port = p
		go pump(ctx, p, come)
	}
	err := a.port.Send(a.own(0), "", nil) // once it is back, the servers know where we listen
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
		case l := <-come:
			switch {
			case l.err != nil:
				err = l.err
			case l.To == a.own(0):
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
			_ = write(a.call, failure(id, "the connection broke before the answer came", "ask again"))
		}
	}
	return err
}

// own is where the answer to a request comes.
func (a *connected) own(n int) string { return "k." + a.token + "." + strconv.Itoa(n) }

// fromRunner passes on a reminder, or the answer to a request.
func (a *connected) fromRunner(l jet.Line) error {
	if l.To == "c" {
		a.told = l.Back
		return write(a.call, l.Text)
	}
	id := a.pending[l.To]
	delete(a.pending, l.To)
	switch {
	case l.Nobody && id == nil:
		return nil
	case l.Nobody:
		return write(a.call, failure(id, "the runner that told the last reminder is not there any more", "ask after the next reminder, or schedule by the command line"))
	}
	return write(a.call, l.Text)
}

// fromAgent passes on an answer to who told what it is of, and all else to who told last.
func (a *connected) fromAgent(line []byte) error {
	if line == nil {
		a.call.Warn("a line of more than 1 MiB is dropped")
		return nil
	}
	m := readRPC(line)
	if m.answer {
		var id string
		_ = json.Unmarshal(m.id, &id)
		token, _, ours := strings.Cut(id, ".")
		if !ours || len(token) != len(a.token) || strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
			a.call.Warn("an answer without the id of a reminder is dropped; answer with the id that it has")
			return nil
		}
		return a.sent(m, a.port.Send("r."+token, "", line))
	}
	switch {
	case a.told == "" && m.call && m.id != nil:
		return write(a.call, failure(m.id, "nothing was told yet, and a request is one of the last reminder", "ask after a reminder, or schedule by the command line"))
	case a.told == "" || len(a.pending) >= pendingMost:
		a.call.Warn("a line is dropped: %s", cli.Quote(cli.Visible(beginning(line))))
		return nil
	}
	a.asks++
	a.pending[a.own(a.asks)] = m.id
	return a.sent(m, a.port.Send(a.told, a.own(a.asks), line))
}

// sent is the error of what was sent. What the servers do not take is told to the agent.
func (a *connected) sent(m rpc, err error) error {
	if !errors.Is(err, fleet.ErrTooLarge) {
		return err
	}
	delete(a.pending, a.own(a.asks))
	if m.call && m.id != nil {
		return write(a.call, failure(m.id, "the line is longer than the servers take in one message", "say it in fewer words"))
	}
	a.call.Warn("a line is dropped: it is longer than the servers take in one message")
	return nil
}

// beginning is as much of a line as a warning shows.
func beginning(line []byte) string {
	return string(line[:min(len(line), 80)])
}
