package runner

import (
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestAliveFor holds whose word counts about a process: what the system shows of those that self
// would see, the lease of those of another machine or container, and nothing of those before.
func TestAliveFor(t *testing.T) {
	self := state.Ident{Node: "a", Boot: "b1", NS: "n1"}
	for _, c := range []struct {
		name         string
		of           state.Ident
		here, leased bool
		lives        bool
	}{
		{"it runs here", state.Ident{Node: "a", Boot: "b1", NS: "n1"}, true, false, true},
		{"it is gone from here, whatever the lease", state.Ident{Node: "a", Boot: "b1", NS: "n1"}, false, true, false},
		{"of another node on this machine, it is gone", state.Ident{Node: "c", Boot: "b1", NS: "n1"}, false, true, false},
		{"in another container with a lease", state.Ident{Node: "c", Boot: "b1", NS: "n2"}, false, true, true},
		{"in another container without one", state.Ident{Node: "c", Boot: "b1", NS: "n2"}, true, false, false},
		{"before the container was started anew", state.Ident{Node: "a", Boot: "b1", NS: "n0"}, true, true, false},
		{"on another machine with a lease", state.Ident{Node: "d", Boot: "b2", NS: "n1"}, false, true, true},
		{"on another machine without one", state.Ident{Node: "d", Boot: "b2", NS: "n1"}, true, false, false},
		{"before the machine was booted", state.Ident{Node: "a", Boot: "b0", NS: "n1"}, true, true, false},
	} {
		got := AliveFor(self, c.of, func(state.Ident) bool { return c.here }, func(string) bool { return c.leased })
		if got != c.lives {
			t.Errorf("%s: lives is %v", c.name, got)
		}
	}
}

// TestDistant: nobody here can see a process of another machine of a fleet. Alone, there is none.
func TestDistant(t *testing.T) {
	self, err := SelfIn(onNode{name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if self.Node != "a" {
		t.Errorf("a machine of a fleet is known as %q", self.Node)
	}
	far := state.Ident{Node: "b", Boot: "another", PID: 1}
	for _, c := range []struct {
		name    string
		of      state.Record
		distant bool
	}{
		{"here", state.Record{Runner: self, Node: "a"}, false},
		{"of a folder", state.Record{Runner: far}, false},
		{"on another machine", state.Record{Runner: far, Node: "b"}, true},
		{"of an earlier boot of this one", state.Record{Runner: state.Ident{Node: "a", Boot: "another", PID: 1}, Node: "a", Past: true}, false},
	} {
		if got := Distant(c.of); got != c.distant {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
