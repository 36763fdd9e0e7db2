package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestVolume: one look where the folder is there, the next folder above where it is not yet.
func TestVolume(t *testing.T) {
	dir := t.TempDir()
	var asked []string
	volume := func(path string) (Volume, error) {
		asked = append(asked, path)
		if _, err := os.Stat(path); err != nil {
			return Volume{}, err
		}
		return Volume{Kind: "nfs", Network: true}, nil
	}
	there := must[*Store](t)(Open(dir, Options{volume: volume}))
	if v, err := there.Volume(); err != nil || !v.Network || len(asked) != 1 {
		t.Errorf("%+v %v after %d looks", v, err, len(asked))
	}
	asked = nil
	later := must[*Store](t)(Open(filepath.Join(dir, "a", "b"), Options{volume: volume}))
	if v, err := later.Volume(); err != nil || !v.Network || len(asked) != 3 || asked[2] != dir {
		t.Errorf("%+v %v after %v", v, err, asked)
	}
	broken := must[*Store](t)(Open(dir, Options{volume: func(string) (Volume, error) { return Volume{}, os.ErrPermission }}))
	if _, err := broken.Volume(); !errors.Is(err, state.ErrUnusable) {
		t.Errorf("%v, want ErrUnusable", err)
	}
	if v, err := open(t, dir).Volume(); err != nil || v.Network && v.Kind == "" {
		t.Errorf("of this machine: %+v %v", v, err)
	}
}
