package fleet

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// permit says what a role has to be permitted on the servers, and makes a key for it where one is
// asked for. It asks no server.
func permit(s *cli.Call, address string) error {
	role := jet.Role("")
	if len(s.Args) > 1 {
		role = jet.Role(s.Args[1])
	}
	agent := ""
	switch {
	case role == jet.Agent && (len(s.Args) != 3 || !jet.AgentName(s.Args[2])):
		return problem.Of(problem.T("permit agent needs the name of one agent: letters, digits, - and _"), problem.T("%s", problem.To("fleet", "permit", "agent", "helper")))
	case role == jet.Agent:
		agent = s.Args[2]
	case !slices.Contains(jet.Roles, role) || len(s.Args) > 2:
		return problem.Of(problem.T("permit needs one role: observer, submitter, runner, or agent and its name"), problem.T("%s", problem.To("fleet", "permit", "observer")))
	}
	_, name, err := state.SplitStore(address)
	if err != nil {
		return err
	}
	a := permitJSON{Now: s.Stamp(), Fleet: name, Role: string(role), Agent: agent}
	a.Publish, a.Subscribe = jet.Permissions(name, role, agent)
	if path := s.Opt.Text("key"); path != "" {
		if a.NKey, err = jet.NewKey(path); err != nil {
			return problem.Of(problem.T("the key cannot be written: %s", err.Error()), problem.T("name a file that is not there yet, in a folder of yours"))
		}
		a.File = path
	}
	s.Answer(a)
	return nil
}

// permitJSON is the answer of permit.
type permitJSON struct {
	Now       time.Time `json:"now"`
	Fleet     string    `json:"fleet"`
	Role      string    `json:"role"`
	Agent     string    `json:"agent,omitempty" jsonschema:"of the role agent: its name"`
	Publish   []string  `json:"publish"`
	Subscribe []string  `json:"subscribe"`
	NKey      string    `json:"nkey,omitempty" jsonschema:"the public part of the key that was made"`
	File      string    `json:"file,omitempty" jsonschema:"where its secret part is"`
}

// Text is an entry of users in the configuration of nats-server, and the same for nsc.
func (a permitJSON) Text(o *cli.Out) {
	who := a.NKey
	if who == "" {
		who = "THE PUBLIC KEY"
	}
	fmt.Fprintf(o.Stdout, "# one of authorization { users: [ ... ] }, or of the users of an account: the role %s in the fleet %s\n{ nkey: %q, permissions: {\n  publish: [\n", a.Role, a.Fleet, who)
	for _, subject := range a.Publish {
		fmt.Fprintf(o.Stdout, "    %q\n", subject)
	}
	fmt.Fprintf(o.Stdout, "  ]\n  subscribe: [\"%s\"]\n} }\n", strings.Join(a.Subscribe, `", "`))
	fmt.Fprintf(o.Stdout, "# the same with nsc: nsc add user %s --allow-pub '%s' --allow-sub '%s'\n", a.Role, strings.Join(a.Publish, ","), strings.Join(a.Subscribe, ","))
}
