// Package client knows the programs in which models work: which file of each lists the MCP servers
// that it starts, and where it looks for skills. It changes one place in a file; everything else
// stays as it is, byte for byte.
package client

import (
	"os"
	"path/filepath"
)

// server is the name of the entry of ouro-timer, and of its skill.
const server = "ouro-timer"

// kindKey is the key with the kind of a server. A server without it is started as ouro-timer is.
const kindKey = "type"

// World is what the paths of the files depend on.
type World struct {
	System string // the operating system, as Go names it
	Getenv func(string) string
}

// Client is a program in which models work.
type Client struct {
	Name   string
	Config string // the file that lists its servers
	Table  string // the key in that file under which the servers are
	Skill  string // where the file of the skill is

	marks    []string // one of these exists where the program is used
	format   format
	withKind bool // an entry has the kind of the server
}

// format is the format of a file.
type format interface {
	// install returns the text with the entry, and the entry as it is written there. The text is
	// the same when the entry is there already.
	install(text []byte, c Client, program string) (edited, error)
	// uninstall returns the text without the entry. The text is the same when there is no entry.
	uninstall(text []byte, c Client) (edited, error)
}

// All returns the supported clients, with their paths for the user in the environment. docs/mcp.md
// has what each client documents.
func All(w World) []Client {
	home := w.Getenv("HOME")
	if w.System == "windows" {
		home = w.Getenv("USERPROFILE")
	}
	under := func(variable string, usual ...string) string {
		if dir := w.Getenv(variable); filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(append([]string{home}, usual...)...)
	}
	claude, claudeConfig := filepath.Join(home, ".claude"), filepath.Join(home, ".claude.json")
	if dir := w.Getenv("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		claude, claudeConfig = dir, filepath.Join(dir, ".claude.json")
	}
	codex := under("CODEX_HOME", ".codex")
	gemini := filepath.Join(under("GEMINI_CLI_HOME"), ".gemini")
	cursor := filepath.Join(home, ".cursor")
	code := filepath.Join(under("XDG_CONFIG_HOME", ".config"), "Code", "User")
	switch w.System {
	case "darwin":
		code = filepath.Join(home, "Library", "Application Support", "Code", "User")
	case "windows":
		code = filepath.Join(w.Getenv("APPDATA"), "Code", "User")
	}
	skill := func(dir string) string { return filepath.Join(dir, "skills", server, "SKILL.md") }
	return []Client{
		{Name: "claude", Config: claudeConfig, Table: "mcpServers", Skill: skill(claude),
			marks: []string{claude, claudeConfig}, format: jsonFormat{}, withKind: true},
		{Name: "codex", Config: filepath.Join(codex, "config.toml"), Table: "mcp_servers",
			Skill: skill(filepath.Join(home, ".agents")), marks: []string{codex}, format: tomlFormat{}},
		{Name: "gemini", Config: filepath.Join(gemini, "settings.json"), Table: "mcpServers",
			Skill: skill(gemini), marks: []string{gemini}, format: jsonFormat{comments: true}},
		{Name: "cursor", Config: filepath.Join(cursor, "mcp.json"), Table: "mcpServers", Skill: skill(cursor),
			marks: []string{cursor}, format: jsonFormat{comments: true}},
		{Name: "vscode", Config: filepath.Join(code, "mcp.json"), Table: "servers",
			Skill: skill(filepath.Join(home, ".copilot")), marks: []string{code},
			format: jsonFormat{comments: true}, withKind: true},
	}
}

// Names are the names of the clients.
func Names() (names []string) {
	for _, c := range All(World{Getenv: func(string) string { return "" }}) {
		names = append(names, c.Name)
	}
	return names
}

// Used reports whether the program is used here.
func (c Client) Used() bool {
	for _, path := range c.marks {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// Install returns the change that adds or updates the entry, which starts the program at an
// absolute path. It keeps the other keys of an existing entry.
func (c Client) Install(program string) (Change, error) {
	return plan(c.Config, func(text []byte) (edited, error) { return c.format.install(text, c, program) })
}

// Uninstall returns the change that removes the entry.
func (c Client) Uninstall() (Change, error) {
	return plan(c.Config, func(text []byte) (edited, error) { return c.format.uninstall(text, c) })
}

// entry is the entry of ouro-timer: its keys in the order in which they are written.
func (c Client) entry(program string) []field {
	fields := []field{{"command", program}, {"args", []any{"mcp"}}}
	if c.withKind {
		fields = append([]field{{kindKey, "stdio"}}, fields...)
	}
	return fields
}

// field is a key with its value.
type field struct {
	key   string
	value any
}
