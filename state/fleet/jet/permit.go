package jet

import "github.com/ouro-timer/ouro-timer/state/fleet/nats"

// Role is what a login may do in a fleet. Whoever may write tasks can make the runners run any
// command, so roles only protect against mistakes. Accounts of NATS separate people who do not
// trust each other.
type Role string

// The roles.
const (
	// Observer reads, and changes nothing.
	Observer Role = "observer"
	// Submitter schedules and changes tasks, reads and acknowledges the inbox, and has no runner.
	Submitter Role = "submitter"
	// Runner does everything but create the streams.
	Runner Role = "runner"
	// Agent receives reminders from runners and answers them. It reads nothing of the fleet.
	Agent Role = "agent"
)

// Roles are all roles.
var Roles = []Role{Observer, Submitter, Runner, Agent}

// Permissions returns the subjects that the servers must permit to a role. name is that of the
// agent.
func Permissions(fleet string, r Role, name string) (publish, subscribe []string) {
	agents := "OURO_AGENTS." + fleet + "."
	if r == Agent {
		return []string{agents + name + ".r.*", agents + name + ".k.>"}, []string{agents + name + ".c", agents + name + ".k.>"}
	}
	root, stream := "OURO."+fleet+".", "OURO_"+fleet
	publish = []string{
		"$JS.API.STREAM.INFO." + stream, "$JS.API.STREAM.MSG.GET." + stream, "$JS.API.DIRECT.GET." + stream, "$JS.API.DIRECT.GET." + stream + ".>",
		"$JS.API.CONSUMER.CREATE." + stream + ".>", "$JS.FC." + stream + ".>", "$JS.API.STREAM.MSG.GET.OURO_OUTPUTS_" + fleet,
	}
	switch r {
	case Submitter:
		// docs/fleet.md has the table of the keys.
		for _, keys := range []string{"s.>", "e.>", "t.>", "l.>", "k.>", "g.>", "w", "i.>", "x.>"} {
			publish = append(publish, root+keys)
		}
	case Runner:
		publish = append(publish, root+">", "OURO_OUTPUTS."+fleet+".>", "$JS.API.STREAM.PURGE."+stream)
	}
	if r != Observer {
		publish = append(publish, "OURO_NUMBERS."+fleet)
	}
	if subscribe = []string{"_INBOX.>"}; r == Runner {
		publish, subscribe = append(publish, agents+">"), append(subscribe, agents+"*.r.*")
	}
	return publish, subscribe
}

// NewKey creates the key of a user in a new file, and returns its public part.
func NewKey(path string) (public string, err error) {
	l, err := nats.NewLogin(path)
	if err != nil {
		return "", err
	}
	return l.Public(), nil
}
