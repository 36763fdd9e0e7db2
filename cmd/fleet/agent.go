package fleet

import (
	"context"
	"slices"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// AgentCommand is the command agent, with which a process on any machine becomes an agent of a
// fleet.
func AgentCommand() cli.Command {
	return cli.Command{
		Name: "agent", Args: "{connect | relay} NAME", Short: "connect an agent to a fleet from any machine",
		Long: `
connect NAME talks with the runners of a fleet like an agent that a runner has started: reminders arrive as lines of JSON-RPC
on standard output, and answers and requests are read from standard input until that ends. It needs the addresses of the
servers (store in config.toml, or OURO_STORE) and a key, which fleet permit agent NAME creates. With that key it receives
reminders, answers them and sends requests, and sees nothing else of the fleet. When the servers were away, it reconnects.

A reminder for it has the agent "ouro-timer agent relay NAME": runners start that program, which passes the lines on. Each
reminder has an id, and only an answer with that id counts. Several processes may connect as NAME: each reminder goes to one.`,
		Examples: []string{
			"ouro-timer agent connect helper",
			`ouro-timer at every day at 6pm --on any --agent "ouro-timer agent relay helper" --title "Self-review"`,
			"ouro-timer fleet permit agent helper --key helper.nk",
		},
		Arguments: []option.Argument{
			{Name: "word", Kind: option.Word, Required: true, Choices: agentWords},
			{Name: "name", Kind: option.Name, Required: true},
		},
		Options: option.Rows{cli.QuietFlag.WithHelp("print nothing but errors on standard error")},
		Run:     runAgent,
	}
}

var agentWords = []string{"connect", "relay"}

func runAgent(ctx context.Context, s *cli.Call) error {
	word := ""
	if len(s.Args) > 0 {
		word = s.Args[0]
	}
	switch {
	case !slices.Contains(agentWords, word):
		return problem.Of(problem.T("agent needs one word: connect or relay"), problem.T("%s", problem.To("agent", "connect", "NAME")))
	case len(s.Args) != 2 || !jet.AgentName(s.Args[1]):
		return problem.Of(problem.T("%s needs the name of one agent: letters, digits, - and _", word),
			problem.T("%s", problem.To("agent", word, "helper")))
	}
	address, err := s.StoreAddress()
	if err != nil {
		return err
	}
	if address == "" {
		return problem.Of(problem.T("there is no fleet whose runners could send reminders to an agent"),
			problem.T("name its servers in config.toml, as in store = %q, or in OURO_STORE; on one machine the runner starts agents itself, at --agent",
				"nats://host:4222"))
	}
	servers, err := s.Servers(address)
	if err != nil {
		return err
	}
	lines := make(chan []byte)
	go readLines(ctx, s.In, lines)
	if word == "relay" {
		return (&relay{call: s, name: s.Args[1], lines: lines, returns: map[string]string{}}).run(ctx, servers)
	}
	return (&connection{call: s, name: s.Args[1], lines: lines}).run(ctx, servers)
}

// An agent and the relays of its reminders exchange lines through places, which are subjects that
// begin with the agent's name:
//
//	c           where connected agents receive reminders
//	r.TOKEN     where the relay with that token receives answers and requests
//	k.TOKEN.N   where the agent with that token receives the answer to its request N
const (
	agentPlace  = "c"
	relayPlace  = "r."
	answerPlace = "k."
)

// pendingMost bounds the requests of an agent that have no answer yet.
const pendingMost = 1000
