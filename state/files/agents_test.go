package files

import (
	"os"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestAgents: each runner's agents are noted by themselves, and a note that is broken hides no other one.
func TestAgents(t *testing.T) {
	s, err := Open(t.TempDir()+"/home", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := s.Agents(ctx); err != nil || len(all) != 0 {
		t.Fatalf("where there is nothing: %v, %v", all, err)
	}
	for _, dir := range folders {
		if err := os.MkdirAll(s.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	one := state.Agents{Runner: state.Ident{PID: 7, Start: 70, Boot: "b"}, Processes: []state.AgentProcess{{Ident: state.Ident{PID: 9, Start: 90, Boot: "b", NS: "n"}, Program: "python3 'my agent.py'"}}}
	two := one
	two.Runner.PID = 8
	for _, a := range []state.Agents{one, two} {
		if err := s.NoteAgents(ctx, a); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Agents(ctx)
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, a := range all {
		if a.Runner.Start != 70 || len(a.Processes) != 1 || a.Processes[0] != one.Processes[0] {
			t.Errorf("%+v", a)
		}
	}
	if err := os.WriteFile(s.path(agentsPlace(one.Runner)), []byte("no = "), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Agents(ctx); err == nil || len(all) != 1 || all[0].Runner.PID != 8 {
		t.Errorf("with a broken one: %+v, %v", all, err)
	}
	for range 2 {
		for _, a := range []state.Agents{{Runner: one.Runner}, {Runner: two.Runner}} {
			if err := s.NoteAgents(ctx, a); err != nil {
				t.Error(err)
			}
		}
	}
	if all, err := s.Agents(ctx); err != nil || len(all) != 0 {
		t.Errorf("in the end: %+v, %v", all, err)
	}
}
