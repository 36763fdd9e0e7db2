package proc

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// TestAdopted: one that is not our child is ended as our own children are, its whole group with it, and of its result nothing is known.
func TestAdopted(t *testing.T) {
	t.Run("the group ends by itself", func(t *testing.T) {
		p, dir := startShell(t, stubborn("echo bye >bye; exit"))
		left := identities(t, filepath.Join(dir, "pid"), 1)[0]
		a := Adopt(t.Context(), p.Identity())
		if err := a.Stop(never{}, time.Hour); err != nil {
			t.Fatal(err)
		}
		if left.Alive() {
			t.Error("the grandchild is alive")
		}
		lines(t, filepath.Join(dir, "bye"), 1)
		if r := a.Wait(); !r.Unknown || r.Signal != "" {
			t.Errorf("ended with %+v", r)
		}
	})
	t.Run("the rest of the group is killed when the grace is over", func(t *testing.T) {
		p, dir := startShell(t, stubborn(""))
		left := identities(t, filepath.Join(dir, "pid"), 1)[0]
		a := Adopt(t.Context(), p.Identity())
		grace, stopped := make(gate), make(chan error)
		go func() { stopped <- a.Stop(grace, 10*time.Second) }()
		p.Wait()
		if !left.Alive() {
			t.Error("the grandchild had no grace")
		}
		select {
		case <-a.Done():
			t.Error("it is done, and the grace is not over")
		default:
		}
		close(grace)
		if err := <-stopped; err != nil {
			t.Fatal(err)
		}
		eventually(t, "the grandchild is killed", func() bool { return !left.Alive() })
	})
	t.Run("without grace at once", func(t *testing.T) {
		p, dir := startShell(t, stubborn(""))
		left := identities(t, filepath.Join(dir, "pid"), 1)[0]
		if err := EndGroup(t.Context(), p.Identity(), never{}, 0); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the grandchild is killed", func() bool { return !left.Alive() })
		if r := p.Wait(); r.Signal != "SIGKILL" {
			t.Errorf("ended with %+v, want SIGKILL", r)
		}
	})
	t.Run("nobody is signalled who has the number now", func(t *testing.T) {
		other, _ := startShell(t, "while :; do sleep 0.02; done")
		id := other.Identity()
		id.Start--
		a := newProcess(t.Context())
		a.adopted, a.pid, a.identity = true, id.PID, id
		if err := a.end(never{}, 0); err != nil {
			t.Error(err)
		}
		if !other.Identity().Alive() {
			t.Error("another process was killed")
		}
	})
	t.Run("who watches no more kills nobody", func(t *testing.T) {
		p, dir := startShell(t, `trap "" TERM; echo $$ >pid; while :; do sleep 0.02; done`)
		identities(t, filepath.Join(dir, "pid"), 1) // TERM is ignored from here on
		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan error)
		go func() { stopped <- EndGroup(ctx, p.Identity(), never{}, time.Hour) }()
		stop()
		if err := <-stopped; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		if !p.Identity().Alive() {
			t.Error("it was killed")
		}
	})
}

// TestAge: of a process that was just started it is little, and of one of another boot nothing is known.
func TestAge(t *testing.T) {
	before := time.Now()
	p, _ := startShell(t, "while :; do sleep 0.02; done")
	age, ok := p.Identity().Age()
	if most := time.Since(before) + 20*time.Millisecond; !ok || age > most { // the kernel counts in hundredths of a second
		t.Errorf("%v, %v, started less than %v ago", age, ok, most)
	}
	other := p.Identity()
	other.Boot = "another"
	if _, ok := other.Age(); ok {
		t.Error("the age of a process of another boot")
	}
}
