package proc

import (
	"os"
	"path/filepath"
	"testing"
)

// TestNodeOf gives each machine-id a name of its own, and nothing else one.
func TestNodeOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "machine-id")
	name := func(text string) string {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return nodeOf(file)
	}
	a, b := name("0123456789abcdef0123456789abcdef\n"), name("0123456789abcdef0123456789abcde0\n")
	if len(a) != 16 || len(b) != 16 || a == b || a != name("0123456789abcdef0123456789abcdef") {
		t.Errorf("%q, %q", a, b)
	}
	for _, text := range []string{"", "uninitialized\n", "0123456789abcdef", "0123456789abcdef0123456789abcdeg\n"} {
		if got := name(text); got != "" {
			t.Errorf("%q is %q", text, got)
		}
	}
	if got := nodeOf(filepath.Join(filepath.Dir(file), "none")); got != "" {
		t.Errorf("no file is %q", got)
	}
}
