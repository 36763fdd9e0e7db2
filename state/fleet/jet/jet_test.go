package jet_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/jet"
	"github.com/ouro-timer/ouro-timer/state/fleet/natstest"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/state/storetest"
)

// open connects to a fleet, which is made when it is not there.
func open(t testing.TB, s *natstest.Servers, name string, replicas int) *jet.KV {
	t.Helper()
	k, err := jet.Open(context.Background(), jet.Options{URL: s.URL() + "/" + name})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) { // servers that have just begun have no leader yet
		if err = k.Init(context.Background(), replicas); err == nil {
			return k
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// conform holds two stores, each with a connection of its own, to the suite.
func conform(t *testing.T, replicas int) {
	servers := natstest.Start(t, replicas)
	fleets := map[*testing.T]string{}
	locals := map[*testing.T]*memory.Store{}
	storetest.Run(t, func(t *testing.T, limits func() (state.Limits, error)) state.Store {
		if locals[t] == nil {
			locals[t], fleets[t] = memory.New(), fmt.Sprint("t", len(fleets))
			locals[t].Folder = t.TempDir()
		}
		return fleet.New(open(t, servers, fleets[t], replicas), fleet.Options{Local: locals[t], Limits: limits, Patience: time.Minute})
	}, storetest.Presence)
}

func TestOneServerKeepsThePromises(t *testing.T)   { conform(t, 1) }
func TestThreeServersKeepThePromises(t *testing.T) { conform(t, 3) }
