package fleet

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// permit answers with the permissions that a role needs on the servers, and creates a key for it
// with --key. It connects to no server.
func permit(s *cli.Call, address string) error {
	role, agent := jet.Role(""), ""
	if len(s.Args) > 1 {
		role = jet.Role(s.Args[1])
	}
	if role == jet.Agent {
		if len(s.Args) != 3 || !jet.AgentName(s.Args[2]) {
			return problem.Of(problem.T("permit agent needs the name of one agent: letters, digits, - and _"),
				problem.T("%s", problem.To("fleet", "permit", "agent", "helper")))
		}
		agent = s.Args[2]
	} else if !slices.Contains(jet.Roles, role) || len(s.Args) > 2 {
		return problem.Of(problem.T("permit needs one role: observer, submitter, runner, or agent and its name"),
			problem.T("%s", problem.To("fleet", "permit", "observer")))
	}
	_, name, err := state.SplitStore(address)
	if err != nil {
		return err
	}
	a := permitJSON{Now: s.Stamp(), Fleet: name, Role: string(role), Agent: agent, DryRun: s.DryRun}
	a.Publish, a.Subscribe = jet.Permissions(name, role, agent)
	if path := s.Opt.Text("key"); path != "" {
		if s.DryRun {
			err = free(path)
		} else {
			a.NKey, err = jet.NewKey(path)
		}
		if err != nil {
			return problem.Of(problem.T("the key cannot be written: %s", err.Error()),
				problem.T("name a file that does not exist, in a folder that you may write to"))
		}
		a.File = path
	}
	s.Answer(a)
	return nil
}

// free returns why no file can be created at a path, as far as can be seen without creating one.
func free(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrExist}
	}
	_, err := os.Stat(filepath.Dir(path))
	return err
}

// permitJSON is the answer of permit.
type permitJSON struct {
	Now       time.Time `json:"now"`
	Fleet     string    `json:"fleet"`
	Role      string    `json:"role"`
	Agent     string    `json:"agent,omitempty" jsonschema:"with the role agent: the name of the agent"`
	Publish   []string  `json:"publish"`
	Subscribe []string  `json:"subscribe"`
	NKey      string    `json:"nkey,omitempty" jsonschema:"the public part of the key that was created"`
	File      string    `json:"file,omitempty" jsonschema:"the file with its secret part"`
	DryRun    bool      `json:"dry_run,omitempty" jsonschema:"no key was created: this is where it would be"`
}

// Text writes an entry of users for the configuration of nats-server, and the same as a call of
// nsc.
func (a permitJSON) Text(o *cli.Out) {
	if a.DryRun {
		o.Line("%s a key to %s", o.Verb("written"), cli.Visible(a.File))
	}
	who := a.NKey
	if who == "" {
		who = "THE PUBLIC KEY"
	}
	fmt.Fprintf(o.Stdout, "# an entry of authorization { users: [ ... ] }, or of the users of an account: the role %s in the fleet %s\n", a.Role, a.Fleet)
	fmt.Fprintf(o.Stdout, "{ nkey: %q, permissions: {\n  publish: [\n", who)
	for _, subject := range a.Publish {
		fmt.Fprintf(o.Stdout, "    %q\n", subject)
	}
	fmt.Fprintf(o.Stdout, "  ]\n  subscribe: [\"%s\"]\n} }\n", strings.Join(a.Subscribe, `", "`))
	fmt.Fprintf(o.Stdout, "# the same with nsc: nsc add user %s --allow-pub '%s' --allow-sub '%s'\n", a.Role,
		strings.Join(a.Publish, ","), strings.Join(a.Subscribe, ","))
}
