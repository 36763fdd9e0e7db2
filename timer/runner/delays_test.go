package runner

import (
	"context"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// A runner that gives up the lock because there is no work, and takes it back because there is,
// still puts off what it has put off, and others are told why at once.
func TestDelaysOutliveTheLock(t *testing.T) {
	s := memory.New()
	lease, err := s.Lead(t.Context(), state.Leader{})
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now().Add(-time.Minute)
	delays := map[string]delay{"b42p": {since: begun, until: begun.Add(2 * time.Minute), pause: time.Minute, why: "text file busy"}}
	ended, end := context.WithCancel(t.Context())
	end() // it starts nothing
	o := Options{Store: s, Clock: clock.System, MaxParallel: AtMost(1), Say: t.Logf, Ended: func(state.Record, state.Line) {}}
	if _, _, err := serve(ended, o, lease, known{delays, map[string]bool{}}); err != nil && ended.Err() == nil {
		t.Fatal(err)
	}
	who, led, err := s.Led(t.Context())
	if err != nil || !led || len(who.Delays) != 1 || who.DelayOf("b42p") != "text file busy" || !who.Delays[0].Since.Equal(begun) {
		t.Errorf("others are told %+v, %v, %v", who, led, err)
	}
	if d := delays["b42p"]; d.pause != time.Minute {
		t.Errorf("it is put off %+v", d)
	}
}
