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
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
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
			cli.DryFlag(), cli.QuietFlag("print nothing but errors"), cli.JsonFlag(), cli.FieldsFlag(),
		},
		Answers: []cli.Shape{
			{Name: "fleet-doctor", Of: doctorJSON{}, Says: "init, doctor: the servers and what is to be said of them"},
			{Name: "fleet-nodes", Of: nodesJSON{}, Says: "nodes: the runners that live"},
			{Name: "fleet-drain", Of: drainJSON{}, Says: "drain: the node"},
			{Name: "fleet-permit", Of: permitJSON{}, Says: "permit: the subjects of the role"},
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
	list, err := f.Nodes(ctx)
	if err != nil {
		return err
	}
	answer := nodesJSON{Now: s.Stamp(), Nodes: []nodeJSON{}}
	for _, r := range list {
		answer.Nodes = append(answer.Nodes, nodeJSON{r.Name, r.Labels, r.Leader.Version, r.Leader.Ident.PID, r.Leader.Since, r.Runs, r.Free, r.Drained})
	}
	s.Answer(answer)
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
	o.Tell("%s %s\n", cli.Visible(a.Node), what)
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
}

// Text is a line each.
func (a nodesJSON) Text(o *cli.Out) {
	if len(a.Nodes) == 0 {
		o.Remark("no runner lives\n")
	}
	for _, n := range a.Nodes {
		drained := ""
		if n.Drained {
			drained = "\tdrained"
		}
		fmt.Fprintf(o.Stdout, "%s\t%s\t%d running\tsince %s%s\n", cli.Visible(n.Name), cli.Visible(strings.Join(n.Labels, ",")), n.Running, n.Since.Format(time.RFC3339), drained)
	}
}

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
	Commit   float64       `json:"commit_seconds" jsonschema:"how long a write took, the median of five"`
	Ahead    float64       `json:"clock_ahead_seconds" jsonschema:"how far this machine's clock is ahead of the server's"`
	Findings []findingJSON `json:"findings"`
}

// findingJSON is something to be said.
type findingJSON struct {
	Status state.Level `json:"status"`
	Text   string      `json:"text"`
	Hint   string      `json:"hint,omitempty"`
}

// Text is a line each.
func (a doctorJSON) Text(o *cli.Out) {
	fmt.Fprintf(o.Stdout, "ok\tfleet %s on %s (%s), %s, %s in %d bytes; a write takes %.1f ms\n",
		a.Fleet, cli.Visible(strings.Join(a.Servers, ", ")), cli.Visible(a.Version), cli.Plural(int(a.Replicas), "replica"), cli.Plural(int(a.Messages), "message"), a.Bytes, 1000*a.Commit)
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

// examine looks at the servers.
func examine(ctx context.Context, s *cli.Call, servers *jet.KV, address string) error {
	shape, err := servers.Shape(ctx)
	if err != nil {
		return err
	}
	a := doctorJSON{Now: s.Stamp(), Fleet: shape.Fleet, Servers: shape.Servers, Version: shape.Version, Leader: shape.Leader, Replicas: shape.Replicas,
		Messages: shape.Messages, Bytes: shape.Bytes, Findings: []findingJSON{}}
	tell := func(level state.Level, hint, text string, args ...any) {
		a.Findings = append(a.Findings, findingJSON{level, fmt.Sprintf(text, args...), hint})
	}
	var took []time.Duration
	var ahead time.Duration
	for range 5 {
		one, off, err := servers.Probe(ctx)
		if err != nil {
			return err
		}
		took, ahead = append(took, one), off
	}
	slices.Sort(took)
	a.Commit, a.Ahead = took[2].Seconds(), ahead.Seconds()
	switch off := ahead.Abs(); {
	case off > aheadWrong:
		tell(state.Wrong, "let a time server set it", "this machine's clock is %v off", off.Round(time.Millisecond))
	case off > aheadOdd:
		tell(state.Odd, "let a time server set it", "this machine's clock is %v off", off.Round(time.Millisecond))
	}
	if shape.Replicas < 3 {
		tell(state.Odd, "run three servers, and ouro-timer fleet init", "the state is on %d server, and lost with its disk", shape.Replicas)
	}
	if len(shape.Behind) > 0 {
		tell(state.Odd, "see whether they are up", "servers that do not have all: %s", cli.Visible(strings.Join(shape.Behind, ", ")))
	}
	if address, err := s.StoreAddress(); err == nil && !strings.Contains(address, "tls://") && !strings.Contains(address, "127.0.0.1") && !strings.Contains(address, "localhost") {
		tell(state.Odd, "use tls:// addresses", "whoever is on the network between can read tasks, and change what is run")
	}
	st, err := s.Open()
	if err != nil {
		return err
	}
	if f, ok := st.(*fleet.Store); ok {
		homeless, err := f.Homeless(ctx)
		if err != nil {
			return err
		}
		if len(homeless) > 0 {
			tell(state.Odd, "start a runner there: ouro-timer service install", "%s that no living runner may run, such as %s", waiting(len(homeless)), homeless[0])
		}
	}
	s.Answer(a)
	if slices.ContainsFunc(a.Findings, func(f findingJSON) bool { return f.Status == state.Wrong }) {
		return cli.ExitCode(cli.ExitFailed)
	}
	return nil
}
