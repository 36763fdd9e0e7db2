package guard

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNearest: one look where the folder is there, the next folder above where it is not yet.
func TestNearest(t *testing.T) {
	dir := t.TempDir()
	var asked []string
	ask := func(path string) (Volume, error) {
		asked = append(asked, path)
		if _, err := os.Stat(path); err != nil {
			return Volume{}, err
		}
		return Volume{Kind: "nfs", Network: true}, nil
	}
	if v, err := nearest(dir, ask); err != nil || !v.Network || len(asked) != 1 {
		t.Errorf("%+v %v after %d looks", v, err, len(asked))
	}
	asked = nil
	if v, err := nearest(filepath.Join(dir, "a", "b"), ask); err != nil || !v.Network || len(asked) != 3 || asked[2] != dir {
		t.Errorf("%+v %v after %v", v, err, asked)
	}
}
