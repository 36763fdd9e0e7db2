// Package fleet has the command that sees to a fleet: its streams, its servers and its nodes.
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

func Command() cli.Command {
	return cli.Command{
		Name: "fleet", Args: "{init | doctor | nodes | drain NODE | permit ROLE}", Short: "the same tasks on several machines",
		Long: `
A fleet is several machines that share their tasks over NATS JetStream: store = "nats://host:4222" in config.toml of each,
or OURO_STORE. init makes its streams, once for all machines; doctor looks at the servers, writes a probe, measures how far
this machine's clock is off, and names what is unsafe: it exits with 1 when something is bad. nodes says whose runners live
and what they run. drain NODE has that node's runner begin nothing more, until drain --off; what runs there goes on.
permit ROLE says what nats-server has to permit an observer, a submitter, a runner or, with its NAME, an agent that connects,
and --key makes a key for it.

A task runs on the machine where it was scheduled; at --on NODE, --on LABEL and --on any say otherwise.`,
		Examples: []string{"ouro-timer fleet init", "ouro-timer fleet doctor", "ouro-timer fleet nodes --json", "ouro-timer fleet drain build-1",
			"ouro-timer fleet permit observer --key observer.nk"},
		Arguments: []option.Argument{{Name: "word", Kind: option.Word, Required: true, Choices: words}, {Name: "node", Kind: option.Name}, {Name: "agent", Kind: option.Name}},
		Options: option.Rows{
			option.Option{Name: "replicas", Kind: option.Whole, Default: "3", Help: "with init: keep the state on N servers: 1, 3 or 5"},
			option.Option{Name: "off", Kind: option.Flag, Help: "with drain: let the node begin tasks again"},
			option.Option{Name: "key", Kind: option.File, Value: "FILE", Help: "with permit: make a key, and write its secret part to FILE, which is not there yet"},
			cli.DryFlag(), cli.QuietFlag("print nothing but errors"), cli.JSONFlag(), cli.FieldsFlag(),
		},
		Answers: []cli.Shape{
			{Name: "fleet-doctor", Of: doctorJSON{}, Means: "init, doctor: the servers and what is to be said of them"},
			{Name: "fleet-nodes", Of: nodesJSON{}, Means: "nodes: the runners that live"},
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
	switch {
	case word == "":
		return problem.Of(problem.T("fleet needs one word: init, doctor, nodes, drain or permit"), problem.T("%s", problem.To("fleet", "doctor")))
	case !slices.Contains(words, word):
		return cli.Usage("fleet has no "+cli.Quote(word), "it is init, doctor, nodes, drain or permit")
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
	case s.DryRun && word != "drain" && word != "init":
		return cli.Usage("--dry-run is for calls that change something, and this one does not", "leave it out")
	}
	replicas := replicasDefault
	if s.Opt.Has("replicas") {
		if replicas = s.Opt.Int("replicas"); !slices.Contains([]int{1, 3, 5}, replicas) {
			return problem.Of(problem.T("%s is %d, and servers agree in numbers that are odd", problem.Option("replicas"), replicas), problem.T("it is 1, 3 or 5"))
		}
	}
	address, err := s.StoreAddress()
	if err != nil {
		return err
	}
	if address == "" {
		return problem.Of(problem.T("there is no fleet: the tasks are in %s", homeOf(s)), problem.T("name its servers in config.toml, as in store = %q, or in OURO_STORE", "nats://host:4222"))
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
			return problem.Of(problem.T("%s", err.Error()), problem.T("start more of them, or %s, which one failure of a disk ends", problem.To("fleet", "init").With("replicas", 1)))
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
	if !ok { // a dry run
		s.Answer(drainJSON{s.Stamp(), s.Args[1], !s.Opt.Bool("off")})
		return nil
	}
	if word == "drain" {
		if err := knownNode(ctx, s, f, s.Args[1]); err != nil {
			return err
		}
		if err := f.Drain(ctx, s.Args[1], !s.Opt.Bool("off")); err != nil {
			return err
		}
		s.Answer(drainJSON{s.Stamp(), s.Args[1], !s.Opt.Bool("off")})
		return nil
	}
	return listNodes(ctx, s, f)
}

// listNodes answers whose runners live, and warns of one by the name of this machine that is
// another one's.
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
		answer.Nodes = append(answer.Nodes, nodeJSON{r.Name, r.Labels, r.Leader.Version, r.Leader.Ident.PID, r.Leader.Since, r.Runs,
			r.Free, r.Drained, twin})
	}
	s.Answer(answer)
	s.WarnAll(twins)
	return nil
}

// knownNode warns of a node whose runner does not live: the name may be mistyped.
func knownNode(ctx context.Context, s *cli.Call, f *fleet.Store, name string) error {
	list, err := f.Nodes(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(r fleet.Runner) bool { return r.Name == name }) {
		s.Warn("no runner lives on a machine called %s now; ouro-timer fleet nodes lists those that live", cli.Quote(name))
	}
	return nil
}

func homeOf(s *cli.Call) string {
	home, err := s.Home()
	if err != nil {
		return "a folder of this machine"
	}
	return home
}

// drainJSON is the answer of drain.
type drainJSON struct {
	Now     time.Time `json:"now"`
	Node    string    `json:"node"`
	Drained bool      `json:"drained"`
}

// Text says it in a line.
func (a drainJSON) Text(o *cli.Out) {
	what := "begins tasks again"
	if a.Drained {
		what = "begins nothing more; what runs there goes on"
	}
	o.LineUnlessQuiet("%s %s\n", cli.Visible(a.Node), what)
}

// nodesJSON is the answer of nodes.
type nodesJSON struct {
	Now   time.Time  `json:"now"`
	Nodes []nodeJSON `json:"nodes"`
}

// nodeJSON is a runner that lives.
type nodeJSON struct {
	Name    string    `json:"name"`
	Labels  []string  `json:"labels,omitempty"`
	Version string    `json:"version"`
	PID     int       `json:"pid"`
	Since   time.Time `json:"since"`
	Running int       `json:"running"`
	Free    int       `json:"free" jsonschema:"places for commands, as its last heartbeat said"`
	Drained bool      `json:"drained,omitempty"`
	Twin    bool      `json:"twin,omitempty" jsonschema:"it is on another machine than this one, which has its name, too"`
}

// Text is a line each.
func (a nodesJSON) Text(o *cli.Out) {
	if len(a.Nodes) == 0 {
		o.WriteError("no runner lives\n")
	}
	for _, n := range a.Nodes {
		drained := ""
		if n.Drained {
			drained = "\tdrained"
		}
		fmt.Fprintf(o.Stdout, "%s\t%s\t%d running\tsince %s%s\n", cli.Visible(n.Name), cli.Visible(strings.Join(n.Labels, ",")), n.Running, n.Since.Format(time.RFC3339), drained)
	}
}
