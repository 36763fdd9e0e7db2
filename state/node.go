package state

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// AnyNode is the node of a fleet's task that may run everywhere.
const AnyNode = "any"

// Node is a machine of a fleet.
type Node struct {
	Name   string   `json:"name"`
	Labels []string `json:"labels,omitempty"`
}

// Fits reports whether a task with these nodes or labels may run here. An empty list allows all
// nodes.
func (n Node) Fits(on []string) bool {
	return len(on) == 0 || slices.ContainsFunc(on, func(o string) bool { return o == AnyNode || o == n.Name || slices.Contains(n.Labels, o) })
}

// Shared is a store whose tasks are run by the runners of several machines.
type Shared interface {
	// Here is this machine.
	Here() Node
	// Living are the machines that begin tasks: their runners were heard of lately, and are not
	// drained.
	Living(ctx context.Context) ([]Node, error)
	// Leaders are the runners that were heard of lately, by the names of their machines.
	Leaders(ctx context.Context) (map[string]Leader, error)
	// MayLead reports whether the servers permit this machine to have a runner.
	MayLead(ctx context.Context) (bool, error)
	// Twin returns the runner of another machine that has the name of this one.
	Twin(ctx context.Context) (Leader, bool, error)
	// Steward reports whether this machine's runner moves tasks when the rules of zones change: the
	// one of the newest rules among those that live.
	Steward(ctx context.Context) (bool, error)
	// Rank is this machine's place, from 0, among the living machines with free places that may
	// begin a task's occurrence. All machines agree on it, as far as they know the same. It asks no
	// server, and is 0 for a task of this machine alone.
	Rank(id string, due time.Time) int
	// Homeless returns the waiting tasks that none of those machines may run.
	Homeless(ctx context.Context) ([]string, error)
}

// SharedBy returns the shared store that st is or is a preview of.
func SharedBy(st any) (Shared, bool) {
	for {
		if s, ok := st.(Shared); ok {
			return s, true
		}
		outer, ok := st.(interface{ Unwrap() Store })
		if !ok {
			return nil, false
		}
		st = outer.Unwrap()
	}
}

const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// NodeWord reports whether a text can be the name of a node, or a label.
func NodeWord(text string) bool {
	return text != "" && len(text) <= 64 && text != AnyNode && strings.Trim(text, wordLetters+".") == ""
}

// DefaultFleet is the name of a fleet whose address has none.
const DefaultFleet = "ouro"

// SplitStore splits the address of a fleet: nats://HOST:PORT or tls://HOST:PORT, several with
// commas between, and after a slash the fleet's name.
func SplitStore(address string) (servers, name string, err error) {
	name = DefaultFleet
	var list []string
	for one := range strings.SplitSeq(address, ",") {
		scheme, rest, ok := strings.Cut(strings.TrimSpace(one), "://")
		host, path, _ := strings.Cut(rest, "/")
		switch {
		case strings.Contains(host, "@"):
			return "", "", fmt.Errorf("an address must not hold a password; put it into a file, and name that as creds under [fleet] of config.toml")
		case !ok || host == "" || scheme != "nats" && scheme != "tls":
			return "", "", fmt.Errorf("%q is not an address of NATS servers; write it as nats://host:4222 or nats://host:4222/fleet", one)
		case strings.Trim(path, wordLetters) != "":
			return "", "", fmt.Errorf("%q is not a name of a fleet; use letters, digits, - and _", path)
		case path != "":
			name = path
		}
		list = append(list, scheme+"://"+host)
	}
	return strings.Join(list, ","), name, nil
}

// CheckStore says what is wrong with the address of a fleet.
func CheckStore(address string) error {
	_, _, err := SplitStore(address)
	return err
}
