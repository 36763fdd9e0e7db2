// Package fleet has the commands for the streams, servers and nodes of a fleet (fleet), and for
// agents that connect to it (agent).
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
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Command is the command fleet.
func Command() cli.Command {
	return cli.Command{
		Name: "fleet", Args: "{init | doctor | nodes | drain NODE | permit ROLE}", Short: "the same tasks on several machines",
		Long: `
A fleet is several machines that share their tasks over NATS JetStream. Each names the servers in its config.toml, as in
store = "nats://host:4222", or in OURO_STORE.

init creates the streams, once for all machines. doctor checks the servers, writes a probe, measures how far this machine's
clock is off, and lists what is unsafe; it exits with 1 when a finding is bad. nodes lists the machines whose runners are
alive, and how many tasks each runs. drain NODE stops the runner of that node from starting tasks, until drain --off; what
runs there goes on. permit ROLE prints the permissions that nats-server must give to an observer, a submitter, a runner or,
as permit agent NAME, a connected agent; --key creates a key for it.

A task runs on the machine where it was scheduled, unless you choose others with --on NODE, --on LABEL or --on any.`,
		Examples: []string{
			"ouro-timer fleet init",
			"ouro-timer fleet doctor",
			"ouro-timer fleet nodes --json",
			"ouro-timer fleet drain build-1",
			"ouro-timer fleet permit observer --key observer.nk",
		},
		Arguments: []option.Argument{
			{Name: "word", Kind: option.Word, Required: true, Choices: words},
			{Name: "node", Kind: option.Name},
			{Name: "agent", Kind: option.Name},
		},
		Options: option.Rows{
			option.Option{Name: "replicas", Kind: option.Whole, Default: "3", Help: "with init: keep the state on N servers: 1, 3 or 5"},
			option.Option{Name: "off", Kind: option.Flag, Help: "with drain: let the node start tasks again"},
			option.Option{Name: "key", Kind: option.File, Value: "FILE",
				Help: "with permit: create a key, and write its secret part to FILE, which must not exist"},
			cli.DryFlag, cli.QuietFlag.WithHelp("print nothing but errors"), cli.JSONFlag, cli.FieldsFlag,
		},
		Answers: []cli.Shape{
			{Name: "fleet-doctor", Of: doctorJSON{}, Means: "init, doctor: the servers, and the findings about them"},
			{Name: "fleet-nodes", Of: nodesJSON{}, Means: "nodes: the nodes whose runners are alive"},
			{Name: "fleet-drain", Of: drainJSON{}, Means: "drain: the node"},
			{Name: "fleet-permit", Of: permitJSON{}, Means: "permit: the subjects of the role"},
		},
		Run: run,
	}
}

const replicasDefault = 3

var words = []string{"init", "doctor", "nodes", "drain", "permit"}

func run(ctx context.Context, s *cli.Call) error {
	word := ""
	if len(s.Args) > 0 {
		word = s.Args[0]
	}
	if err := checkWords(s, word); err != nil {
		return err
	}
	replicas := replicasDefault
	if s.Opt.Has("replicas") {
		if replicas = s.Opt.Int("replicas"); !slices.Contains([]int{1, 3, 5}, replicas) {
			return problem.Of(problem.T("%s must be 1, 3 or 5, and %d is none of them", problem.Option("replicas"), replicas),
				problem.T("%s", problem.To("fleet", "init").With("replicas", replicasDefault)))
		}
	}
	address, err := s.StoreAddress()
	if err != nil {
		return err
	}
	if address == "" {
		return noFleet(s)
	}
	if word == "permit" {
		return permit(s, address)
	}
	servers, err := s.Servers(address)
	if err != nil {
		return err
	}
	if word == "init" && !s.DryRun {
		switch err := servers.Init(ctx, replicas); {
		case errors.Is(err, jet.ErrFewServers):
			return problem.Of(problem.T("%s", err.Error()),
				problem.T("start more servers, or use %s, with which the state is lost when one disk fails", problem.To("fleet", "init").With("replicas", 1)))
		case err != nil:
			return err
		}
	}
	if word == "init" || word == "doctor" {
		return examine(ctx, s, servers, address)
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	f, ok := st.(*fleet.Store)
	if word == "nodes" && ok {
		return listNodes(ctx, s, f)
	}
	if ok { // not a dry run
		if err := drain(ctx, s, f); err != nil {
			return err
		}
	}
	s.Answer(drainJSON{s.Stamp(), s.Args[1], !s.Opt.Bool("off"), s.DryRun})
	return nil
}

// checkWords refuses a subcommand that does not exist, and arguments and options that do not belong
// to it.
func checkWords(s *cli.Call, word string) error {
	switch {
	case word == "":
		return problem.Of(problem.T("fleet needs one word: init, doctor, nodes, drain or permit"), problem.T("%s", problem.To("fleet", "doctor")))
	case !slices.Contains(words, word):
		return cli.Usage("fleet has no "+cli.Quote(word), "use init, doctor, nodes, drain or permit")
	case word == "drain" && len(s.Args) != 2:
		return problem.Of(problem.T("drain needs the name of one node"), problem.T("%s lists them", problem.To("fleet", "nodes")))
	case word != "drain" && word != "permit" && len(s.Args) > 1:
		return cli.Usage("fleet "+word+" takes no further word, but was given "+cli.Quote(s.Args[1]), "leave it out")
	case s.Opt.Bool("off") && word != "drain":
		return cli.Usage("--off goes with fleet drain", "leave it out")
	case s.Opt.Has("replicas") && word != "init":
		return cli.Usage("--replicas goes with fleet init", "leave it out")
	case s.Opt.Has("key") && word != "permit":
		return cli.Usage("--key goes with fleet permit", "leave it out")
	case s.DryRun && word != "drain" && word != "init" && !s.Opt.Has("key"):
		return cli.Usage("--dry-run is for calls that change something, and this one does not", "leave it out")
	}
	return nil
}

// noFleet is the problem of a machine without an address of servers.
func noFleet(s *cli.Call) error {
	home, err := s.Home()
	if err != nil {
		home = "a folder of this machine"
	}
	return problem.Of(problem.T("there is no fleet: the tasks are in %s", home),
		problem.T("name its servers in config.toml, as in store = %q, or in OURO_STORE", "nats://host:4222"))
}

// drain drains the named node, or undoes that. It warns when no runner of that name is alive,
// because the name may be mistyped.
func drain(ctx context.Context, s *cli.Call, f *fleet.Store) error {
	name := s.Args[1]
	list, err := f.Nodes(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(r fleet.Runner) bool { return r.Name == name }) {
		s.WarnAlways("warning: no runner is alive on a machine called %s; ouro-timer fleet nodes lists those that are", cli.Quote(name))
	}
	return f.Drain(ctx, name, !s.Opt.Bool("off"))
}

// listNodes answers which runners are alive. It warns when the one with the name of this machine
// runs on another machine.
func listNodes(ctx context.Context, s *cli.Call, f *fleet.Store) error {
	list, err := f.Nodes(ctx)
	if err != nil {
		return err
	}
	twins, err := handover.TwinWarnings(ctx, s, f)
	if err != nil {
		return err
	}
	answer := nodesJSON{Now: s.Stamp(), Nodes: []nodeJSON{}}
	for _, r := range list {
		twin := len(twins) > 0 && r.Name == f.Here().Name
		answer.Nodes = append(answer.Nodes,
			nodeJSON{r.Name, r.Labels, r.Leader.Version, r.Leader.Ident.PID, r.Leader.Since.In(answer.Now.Location()), r.Runs, r.Free, r.Drained, twin})
	}
	s.Answer(answer)
	s.WarnAll(twins)
	return nil
}

// drainJSON is the answer of drain.
type drainJSON struct {
	Now     time.Time `json:"now"`
	Node    string    `json:"node"`
	Drained bool      `json:"drained"`
	DryRun  bool      `json:"dry_run,omitempty" jsonschema:"nothing was changed: this is what would have been done"`
}

// Text writes one line.
func (a drainJSON) Text(o *cli.Out) {
	what := "starts tasks again"
	if a.Drained {
		what = "starts no more tasks; what runs there goes on"
	}
	o.LineUnlessQuiet("%s %s", cli.Visible(a.Node), what)
}

// nodesJSON is the answer of nodes.
type nodesJSON struct {
	Now   time.Time  `json:"now"`
	Nodes []nodeJSON `json:"nodes"`
}

// nodeJSON is a node whose runner is alive.
type nodeJSON struct {
	Name    string    `json:"name"`
	Labels  []string  `json:"labels,omitempty"`
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Running int       `json:"running"`
	Free    int       `json:"free" jsonschema:"free places for commands, according to its last heartbeat"`
	Drained bool      `json:"drained,omitempty"`
	Twin    bool      `json:"twin,omitempty" jsonschema:"it is on another machine, and this machine has the same name"`
}

// Text writes one line for each node.
func (a nodesJSON) Text(o *cli.Out) {
	if len(a.Nodes) == 0 {
		o.WriteError("no runner is alive\n")
	}
	for _, n := range a.Nodes {
		drained := ""
		if n.Drained {
			drained = "\tdrained"
		}
		fmt.Fprintf(o.Stdout, "%s\t%s\t%d running\tsince %s%s\n", cli.Visible(n.Name), cli.Visible(strings.Join(n.Labels, ",")),
			n.Running, n.Since.Format(time.RFC3339), drained)
	}
}
