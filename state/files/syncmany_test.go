package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSyncMany: files beyond those that are waited for one by one are taken, too, wherever they are, and one that is gone is left out.
func TestSyncMany(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "gone"), filepath.Join(dir, "no", "folder")}
	for i := range 2 * eachMost {
		p := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, p)
	}
	if err := (osDisk{}).sync(paths); err != nil {
		t.Error(err)
	}
	if left, err := syncAround(paths); err != nil || !slices.Contains(left, paths[1]) {
		t.Errorf("left %d, %v", len(left), err)
	}
}
