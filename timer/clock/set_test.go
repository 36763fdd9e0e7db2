package clock

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// TestNapSets: a clock that was set is noticed at the next look, in both directions; one that is kept right is not.
func TestNapSets(t *testing.T) {
	offsets := []time.Duration{0, 0, 300 * time.Millisecond, -5 * time.Hour, -5 * time.Hour, time.Minute, time.Minute}
	look, told := 0, []int{}
	napSets(t.Context(),
		func() time.Duration { look++; return offsets[look-1] },
		func(_ context.Context, d time.Duration) error {
			if look == len(offsets) {
				return errors.New("enough")
			}
			return nil
		},
		func() { told = append(told, look-1) })
	if want := []int{3, 5}; !slices.Equal(told, want) {
		t.Errorf("told at looks %v, want %v", told, want)
	}
}

// TestSetsEnds: it ends with its context, and a clock that nobody sets is not set.
func TestSetsEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() {
		defer close(over)
		System.(Settable).Sets(ctx, func() { t.Log("somebody set the clock of this machine") })
	}()
	stop()
	<-over
}
