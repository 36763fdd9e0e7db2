package fleet_test

import (
	"errors"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/fleet"
	"github.com/ouro-timer/ouro-timer/state/fleet/model"
	"github.com/ouro-timer/ouro-timer/state/memory"
)

// TestLeadRefused: a runner that cannot begin, since an outcome that was kept here is damaged, has told nobody that it lives.
func TestLeadRefused(t *testing.T) {
	ctx, local := t.Context(), memory.New()
	s := fleet.New(model.New(), fleet.Options{Local: local, Node: state.Node{Name: "n"}})
	if err := local.Spool(ctx, "x", "{"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lead(ctx, state.Leader{Ident: self}); !errors.Is(err, state.ErrUnusable) {
		t.Fatal("it begins:", err)
	}
	if list, err := s.Runners(ctx); err != nil || len(list) != 0 {
		t.Errorf("%v live: %v", list, err)
	}
	if err := local.Spool(ctx, "x", ""); err != nil {
		t.Fatal(err)
	}
	l, err := s.Lead(ctx, state.Leader{Ident: self})
	if err != nil {
		t.Fatal("without it:", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
}
