package cmd

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/ouro-timer/ouro-timer"

// allowed says which packages of ours each may import. Data flows one way: an arrow that is not here is a mistake.
var allowed = map[string][]string{
	"":                      {"cmd", "cmd/cli", "timer/proc"},
	"cmd":                   {"cmd/cli", "cmd/daemon", "cmd/fleet", "cmd/guide", "cmd/healthwait", "cmd/history", "cmd/manage", "cmd/schedule", "cmd/simulate", "cmd/tell", "cmd/top", "cmd/transfer", "cmd/waiting", "timer/proc"},
	"cmd/cli":               {"cmd/option", "notify", "state", "state/files", "state/fleet", "state/fleet/jet", "state/guard", "state/lock", "state/plain", "state/settings", "timer/clock", "timer/needs", "timer/problem", "timer/proc", "timer/rules", "timer/runner", "timer/service", "timer/tasks", "timer/when", "timer/when/civil", "timer/when/fault"},
	"cmd/view":              {"cmd/cli", "state", "state/output", "timer/await", "timer/problem", "timer/rules", "timer/tasks", "timer/when", "timer/when/fault", "timer/when/say"},
	"cmd/rhythm":            {"cmd/cli", "state/plain", "timer/when", "timer/when/civil", "timer/when/recur", "timer/when/say"},
	"cmd/handover":          {"cmd/cli", "cmd/view", "notify", "state", "state/plain", "state/plainfile", "timer/clock", "timer/needs", "timer/problem", "timer/proc", "timer/rules", "timer/runner", "timer/tasks"},
	"cmd/schedule":          {"cmd/cli", "cmd/handover", "cmd/option", "cmd/rhythm", "cmd/view", "state", "timer/agent", "timer/await", "timer/needs", "timer/problem", "timer/proc", "timer/rules", "timer/runner", "timer/tasks", "timer/when", "timer/when/fault", "timer/when/recur"},
	"cmd/transfer":          {"cmd/cli", "cmd/handover", "cmd/option", "cmd/schedule", "cmd/view", "state", "state/codec", "state/plain", "timer/crontab", "timer/problem", "timer/proc", "timer/rules", "timer/tasks", "timer/unit", "timer/when", "timer/when/civil"},
	"cmd/manage":            {"cmd/cli", "cmd/handover", "cmd/option", "cmd/schedule", "cmd/view", "notify", "state", "timer/clock", "timer/problem", "timer/rules", "timer/runner", "timer/tasks", "timer/when", "timer/when/say"},
	"cmd/history":           {"cmd/cli", "cmd/handover", "cmd/option", "cmd/view", "state", "state/output", "state/plain", "timer/audit", "timer/await", "timer/problem", "timer/relay", "timer/rules", "timer/runner", "timer/tasks", "timer/when", "timer/when/say"},
	"cmd/top":               {"cmd/cli", "cmd/handover", "cmd/history", "cmd/manage", "cmd/option", "cmd/schedule", "cmd/view", "state", "state/output", "timer/problem", "timer/rules", "timer/runner", "timer/tasks", "timer/when", "timer/when/say"},
	"cmd/healthwait":        {"cmd/cli", "cmd/option", "cmd/view", "state", "state/plain", "timer/clock", "timer/health", "timer/needs", "timer/problem", "timer/proc", "timer/rules", "timer/runner", "timer/tasks", "timer/when", "timer/when/say"},
	"cmd/simulate":          {"cmd/cli", "cmd/handover", "cmd/option", "cmd/schedule", "cmd/view", "state", "timer/clock", "timer/problem", "timer/proc", "timer/rules", "timer/runner", "timer/runner/sim", "timer/tasks", "timer/when", "timer/when/fault", "timer/when/say"},
	"cmd/waiting":           {"cmd/cli", "cmd/handover", "cmd/healthwait", "cmd/option", "cmd/view", "state", "timer/await", "timer/clock", "timer/health", "timer/problem", "timer/rules", "timer/tasks", "timer/when", "timer/when/fault", "timer/when/say"},
	"cmd/daemon":            {"cmd/cli", "cmd/handover", "cmd/option", "cmd/schedule", "cmd/view", "notify", "state", "state/output", "state/plain", "state/plainfile", "state/settings", "timer/clock", "timer/doctor", "timer/metrics", "timer/notifier", "timer/problem", "timer/proc", "timer/relay", "timer/rules", "timer/runner", "timer/service", "timer/tasks", "timer/when/say"},
	"cmd/tell":              {"cmd/cli", "cmd/handover", "cmd/option", "notify", "state", "state/settings", "timer/clock", "timer/problem", "timer/tasks"},
	"cmd/fleet":             {"cmd/cli", "cmd/handover", "cmd/option", "state", "state/fleet", "state/fleet/jet", "timer/agent", "timer/problem"},
	"cmd/guide":             {"cmd/cli", "cmd/client", "cmd/mcp", "cmd/option", "cmd/schema", "cmd/view", "completions", "docs/man", "notify", "state", "timer/clock", "timer/problem", "timer/proc", "timer/runner", "timer/tasks", "timer/when", "timer/when/fault", "timer/when/say"},
	"cmd/client":            {"cmd/option", "state/codec", "state/plain", "state/plainfile", "timer/problem"},
	"cmd/clitest":           {"cmd/cli", "timer/clock"},
	"cmd/option":            {"state", "state/plain", "timer/problem", "timer/when"},
	"cmd/schema":            {},
	"cmd/mcp":               {"cmd/mcp/before", "cmd/option", "state/plain", "timer/problem", "timer/when"},
	"cmd/mcp/before":        {},
	"completions":           {},
	"docs/man":              {},
	"notify":                {"state", "state/plain", "timer/proc"},
	"notify/notifytest":     {},
	"state":                 {"state/plain"},
	"state/codec":           {"state", "state/plain"},
	"state/files":           {"state", "state/codec", "state/files/ledger", "state/guard", "state/lease", "state/lock", "state/output", "state/plain", "state/plainfile", "state/watch"},
	"state/fleet":           {"state", "state/codec"},
	"state/fleet/jet":       {"state", "state/fleet", "state/fleet/nats"},
	"state/fleet/nats":      {},
	"state/fleet/model":     {"state/fleet"},
	"state/fleet/natstest":  {},
	"state/files/ledger":    {"state", "state/codec", "state/plainfile"},
	"state/guard":           {"state"},
	"state/lease":           {"state", "state/lock"},
	"state/lock":            {"state", "state/plainfile"},
	"state/memory":          {"state", "state/output", "state/plainfile"},
	"state/output":          {"state", "state/plain", "state/plainfile"},
	"state/plain":           {},
	"state/plainfile":       {},
	"state/settings":        {"state", "state/codec", "state/guard", "state/plain", "state/plainfile"},
	"state/storetest":       {"state"},
	"state/watch":           {},
	"timer/agent":           {"state/plain", "timer/clock", "timer/proc"},
	"timer/audit":           {"state", "timer/rules", "timer/when"},
	"timer/clock":           {},
	"timer/clock/clocktest": {"timer/clock"},
	"timer/crontab":         {"state/plain"},
	"timer/unit":            {},
	"timer/doctor":          {"notify", "state", "state/guard", "state/plain", "state/settings", "timer/needs", "timer/proc", "timer/rules", "timer/runner", "timer/when", "timer/when/civil", "timer/when/say"},
	"timer/health":          {"state/plain", "timer/clock", "timer/health/jsonpath", "timer/problem", "timer/proc"},
	"timer/health/jsonpath": {},
	"timer/proc":            {"timer/clock"},
	"timer/proc/fusetest":   {},
	"timer/notifier":        {"notify", "state", "state/plain", "timer/clock"},
	"timer/metrics":         {"state", "timer/runner"},
	"timer/needs":           {"notify", "state", "state/plain", "timer/clock", "timer/proc"},
	"timer/health/nettest":  {},
	"timer/problem":         {"state", "state/plain", "timer/when/fault"},
	"timer/relay":           {"state", "state/plain", "timer/clock"},
	"timer/runner":          {"notify", "state", "state/plain", "timer/agent", "timer/clock", "timer/notifier", "timer/problem", "timer/proc", "timer/relay", "timer/rules", "timer/when", "timer/when/say"},
	"timer/rules":           {"state", "state/plain", "timer/agent", "timer/proc", "timer/when", "timer/when/civil", "timer/when/fault", "timer/when/recur"},
	"timer/runner/sim":      {"state", "state/memory", "timer/rules", "timer/runner"},
	"timer/tasks":           {"notify", "state", "state/plain", "timer/clock", "timer/needs", "timer/problem", "timer/proc", "timer/rules", "timer/runner", "timer/when", "timer/when/civil", "timer/when/fault", "timer/when/recur", "timer/when/say"},
	"timer/await":           {"state", "timer/clock", "timer/problem"},
	"timer/service":         {"state", "state/guard", "state/plainfile", "timer/proc"},
	"timer/when":            {"state/plain", "timer/when/civil", "timer/when/fault", "timer/when/recur", "timer/when/say"},
	"timer/when/say":        {"state/plain", "timer/when/civil"},
	"timer/when/recur":      {"state/plain", "timer/when/civil", "timer/when/fault", "timer/when/say"},
	"timer/when/fault":      {},
	"timer/when/civil":      {"state/plain", "timer/when/fault"},
}

// doors says which one package of ours imports each library.
var doors = map[string]string{
	"github.com/urfave/cli/v2":     "cmd/option",
	"golang.org/x/term":            "cmd/cli",
	"github.com/BurntSushi/toml":   "state/codec",
	"github.com/gofrs/flock":       "state/lock",
	"github.com/fsnotify/fsnotify": "state/watch",
	"github.com/gorhill/cronexpr":  "timer/when/recur",
	"github.com/tj/go-naturaldate": "timer/when",
	"github.com/tailscale/hujson":  "cmd/client",
	"charm.land/bubbletea/v2":      "cmd/top",
	"github.com/gen2brain/beeep":   "notify",
	"github.com/wneessen/go-mail":  "notify",

	"golang.org/x/sync/semaphore": "cmd/schedule",

	"github.com/modelcontextprotocol/go-sdk/jsonrpc": "cmd/mcp",
	"github.com/modelcontextprotocol/go-sdk/mcp":     "cmd/mcp",

	"github.com/google/jsonschema-go/jsonschema": "cmd/schema",

	"github.com/charmbracelet/x/ansi": "cmd/cli",
}

// TestImports holds the packages to the one direction, and each library to its one door.
func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports,Doc", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Doc string
			Imports         []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		may, known := allowed[name]
		if !known {
			t.Errorf("package %q is not in the table: say what it may import", name)
		}
		if p.Doc == "" {
			t.Errorf("package %q has no package comment", name)
		}
		for _, imp := range p.Imports {
			if ours, ok := strings.CutPrefix(imp, module+"/"); ok {
				if !slices.Contains(may, ours) {
					t.Errorf("%q imports %q, which is not its way", name, ours)
				}
			}
			if door, ok := doors[imp]; ok && door != name {
				t.Errorf("%q imports %s, whose one door is %q", name, imp, door)
			} else if !ok && strings.Contains(strings.Split(imp, "/")[0], ".") && !strings.HasPrefix(imp, module) && !strings.HasPrefix(imp, "golang.org/x/sys") && name != "state/storetest" {
				t.Errorf("%q imports %s, which has no door yet", name, imp)
			}
		}
	}
}

// TestOneFileOpensTheStore: all others see a state.Store, or a part of it, and know no folder.
func TestOneFileOpensTheStore(t *testing.T) {
	paths, err := filepath.Glob("*/*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		if path == "cli/store.go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range f.Imports {
			if imp.Path.Value == `"`+module+`/state/files"` || imp.Path.Value == `"`+module+`/state/guard"` {
				t.Errorf("%s imports %s, which cli/store.go alone may", path, imp.Path.Value)
			}
		}
	}
}
