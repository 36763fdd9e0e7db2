package mcp

import (
	"os"
	"os/exec"
	"testing"
)

// TestBeforeTheLibrary starts with a value of MCPGODEBUG at which the library panics when it is
// initialised, and still hands it on.
func TestBeforeTheLibrary(t *testing.T) {
	const value = "nonsense"
	if os.Getenv("OURO_TEST_BEFORE") != "" {
		if got := os.Getenv("MCPGODEBUG"); got != value {
			t.Errorf("what is started from here sees %q", got)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestBeforeTheLibrary$")
	cmd.Env = append(os.Environ(), "OURO_TEST_BEFORE=1", "MCPGODEBUG="+value, "GORACE=atexit_sleep_ms=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
