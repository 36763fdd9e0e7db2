package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/guard"
)

// TestVolume: what cannot be looked at is a state that cannot be used; a folder that is not there yet will be on the file system of the
// one above it.
func TestVolume(t *testing.T) {
	dir := t.TempDir()
	broken := must[*Store](t)(Open(dir, Options{volume: func(string) (guard.Volume, error) { return guard.Volume{}, os.ErrPermission }}))
	if _, err := broken.Volume(); !errors.Is(err, state.ErrUnusable) {
		t.Errorf("%v, want ErrUnusable", err)
	}
	for _, dir := range []string{dir, filepath.Join(dir, "a", "b")} {
		if v, err := open(t, dir).Volume(); err != nil || v.Network && v.Kind == "" {
			t.Errorf("of this machine: %+v %v", v, err)
		}
	}
}
