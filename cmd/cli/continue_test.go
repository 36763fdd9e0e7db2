package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestProgram: what is to be pasted back calls this program, as it was called where its own name
// does not.
func TestProgram(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	installed, renamed, foreign := t.TempDir(), t.TempDir(), t.TempDir()
	for path, to := range map[string]string{filepath.Join(installed, plainName): own, filepath.Join(renamed, "ot"): own, filepath.Join(foreign, plainName): "/bin/sh"} {
		if err := os.Symlink(to, path); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range []struct{ called, path, program, itself string }{
		{"ouro-timer", installed, "ouro-timer", "ouro-timer"},
		{"ot", installed + ":" + renamed, "ouro-timer", "ot"},
		{"ot", renamed, "ot", "ot"},
		{"./ouro-timer", foreign, "./ouro-timer", "/here/ouro-timer"},
		{"./ouro-timer", installed, "ouro-timer", "/here/ouro-timer"},
		{"/opt/x/ouro-timer", "", "/opt/x/ouro-timer", "/opt/x/ouro-timer"},
		{"ouro-timer", foreign, own, own}, // somebody started it by its path, and gave it the name
		{"ot", foreign, own, own},
	} {
		s := NewCall(World{Getenv: func(string) string { return c.path }, Getwd: func() (string, error) { return "/here", nil }})
		s.Called = c.called
		if got := s.Program(); got != c.program {
			t.Errorf("called %s, with %s on the PATH, it is %s, not %s", c.called, c.path, got, c.program)
		}
		if got := OwnName(s); got != c.itself {
			t.Errorf("called %s, with %s on the PATH, it goes on as %s, not %s", c.called, c.path, got, c.itself)
		}
	}
}
