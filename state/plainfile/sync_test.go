package plainfile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReplace: a file is there whole, with its mode, or nothing has changed.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"one", "two"} {
		if err := Replace(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if got, _ := os.ReadFile(path); err != nil || string(got) != text || os.PathSeparator == '/' && info.Mode() != 0o640 {
			t.Errorf("%q, %v, %v", got, info.Mode(), err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "folder", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Replace(filepath.Join(dir, "folder"), []byte("text"), 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
