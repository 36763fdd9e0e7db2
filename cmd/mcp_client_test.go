package cmd

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestMCPIndependentClient has a client of another make use all that the server has. It is run where node is, and OURO_TEST_MCP names the
// folder of modules that @modelcontextprotocol/sdk is in.
func TestMCPIndependentClient(t *testing.T) {
	modules := os.Getenv("OURO_TEST_MCP")
	node, err := exec.LookPath("node")
	if err != nil || modules == "" {
		t.Skip("no node, or OURO_TEST_MCP does not name a node_modules with @modelcontextprotocol/sdk")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	// The name by which this program is ours, as in the sessions.
	program := filepath.Join(dir, "ouro-timer")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "testdata/mcp/client.mjs", program)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "OURO_HOME=" + filepath.Join(dir, "home"), "OURO_AUTOSTART=0", "TZ=Europe/Warsaw",
		"NODE_PATH=" + modules, "GORACE=atexit_sleep_ms=0"}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
}
