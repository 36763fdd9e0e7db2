package runner

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// asked is a store that counts how often it is asked for all that is in the queue.
type asked struct {
	state.Store
	times int
}

func (a *asked) List(ctx context.Context, phases ...state.Phase) (state.Listing, error) {
	a.times++
	return a.Store.List(ctx, phases...)
}

func (a *asked) Follow(ctx context.Context) (state.Queue, error) {
	q, err := a.Store.Follow(ctx)
	return counting{q, a}, err
}

type counting struct {
	state.Queue
	*asked
}

func (c counting) Take(ctx context.Context) (iter.Seq[state.Slot], bool, error) {
	slots, whole, err := c.Queue.Take(ctx)
	if whole {
		c.times++
	}
	return slots, whole, err
}

// TestABacklogIsReadOnce: at the end of each of many runs the queue is not looked at anew.
func TestABacklogIsReadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Drain)
		counted := &asked{Store: w.o.Store}
		w.o.Store, w.cmds.takes = counted, time.Millisecond
		const n = 200
		var want []string
		for i := range n {
			w.add(t, "once", time.Second+time.Duration(i), "true")
			want = append(want, fmt.Sprintf("m%03d/1@%v", i+1, time.Minute+time.Duration(i/w.o.MaxParallel())*time.Millisecond))
		}
		time.Sleep(time.Minute)
		if err := Run(t.Context(), w.o); err != nil {
			t.Fatal(err)
		}
		got := slices.Sorted(slices.Values(w.cmds.started)) // those that start together do so in any order
		if !slices.Equal(got, want) {
			t.Errorf("started %v\nwant %v", got, want)
		}
		if list := w.outcomes(t); len(list) != n {
			t.Errorf("%d outcomes", len(list))
		}
		if counted.times != 2 { // at the begin, and whether something is left
			t.Errorf("asked %d times what is in the queue", counted.times)
		}
	})
}

// TestABacklogIsWhatTheQueueSays takes tasks out of a backlog that has been read, and has a recurring one stand in the middle of it.
func TestABacklogIsWhatTheQueueSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(Forever)
		w.o.MaxParallel, w.cmds.takes = AtMost(1), 10*time.Millisecond
		var ids, want []string
		for i := range 60 {
			text := "once"
			if i == 30 {
				text = "every 1h"
			}
			ids = append(ids, w.add(t, text, time.Second+time.Duration(i), "true").Task.ID)
			if i != 8 && i != 9 && i != 25 {
				want = append(want, fmt.Sprintf("m%03d", i+1))
			}
		}
		time.Sleep(time.Minute)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- Run(ctx, w.o) }()
		time.Sleep(55 * time.Millisecond)
		if _, err := w.store.Pause(ctx, ids[8], time.Time{}, time.Now()); err != nil {
			t.Error(err)
		}
		for _, i := range []int{9, 25} {
			if _, err := w.store.Remove(ctx, ids[i], time.Now()); err != nil {
				t.Error(err)
			}
		}
		time.Sleep(time.Minute)
		stop()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range w.cmds.started {
			id, _, _ := strings.Cut(s, "/")
			got = append(got, id)
		}
		if !slices.Equal(got, want) {
			t.Errorf("started %v\nwant    %v", got, want)
		}
	})
}
