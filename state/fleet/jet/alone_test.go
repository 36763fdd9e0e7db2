package jet_test

import (
	"errors"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// TestServerAlone: who is connected to a server that is cut off from the others goes on with one of these.
func TestServerAlone(t *testing.T) {
	ctx, servers := t.Context(), natstest.StartLinked(t, 3)
	kv := open(t, servers, "alone", 3) // by the first of them
	commit := func() error {
		return kv.Commit(ctx, []fleet.Op{{Cell: fleet.Cell{Key: "d.a", Rev: fleet.Any, Data: []byte("x")}}})
	}
	if err := commit(); err != nil {
		t.Fatal(err)
	}
	for _, k := range servers.Links(0) {
		k.Deafen()
	}
	late := time.Now().Add(2 * time.Minute)
	for err := commit(); err != nil; err = commit() {
		if time.Now().After(late) {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	// and who begins now, too
	again, err := jet.Open(ctx, jet.Options{URL: servers.URL() + "/alone"})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	s := fleet.New(again, fleet.Options{Local: memory.New()})
	if _, err := s.Find(ctx, "bcdf"); !errors.Is(err, state.ErrNotFound) {
		t.Error("for a call of 5 s:", err)
	}
}
