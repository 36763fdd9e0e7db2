package jet

import "github.com/ouro-timer/ouro-timer/state/fleet/nats"

// A Role is what a login may do in a fleet. Whoever may write tasks can have commands run by those
// who run them: the roles keep programs apart that mean well, and accounts of NATS those who do
// not.
type Role string

// The roles.
const (
	Observer  Role = "observer"  // reads, and changes nothing
	Submitter Role = "submitter" // schedules and changes tasks, and has its part of the inbox, but has no runner
	Runner    Role = "runner"    // all but making the streams
	Agent     Role = "agent"     // is told reminders by runners, and answers; it reads nothing of the fleet
)

// Roles are all of them.
var Roles = []Role{Observer, Submitter, Runner, Agent}

// Permissions are the subjects that a role has to be permitted of a fleet. An agent has a name.
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
		for _, of := range []string{"s.>", "e.>", "t.>", "l.>", "k.>", "g.>", "w", "i.>", "x.>"} { // docs/fleet.md has what they are
			publish = append(publish, root+of)
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

// NewKey makes the key of a user, in a file of its own, and returns its public part.
func NewKey(path string) (public string, err error) {
	l, err := nats.NewLogin(path)
	if err != nil {
		return "", err
	}
	return l.Public(), nil
}
