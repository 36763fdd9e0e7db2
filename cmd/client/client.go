// Package client knows the programs that models work in: in which file of its own each keeps the
// servers of MCP that it starts, and where it looks for skills. A file is changed in one place, and
// all else in it stays as it is, byte for byte.
package client

import (
	"os"
	"path/filepath"
)

// server is the name of our entry, and of the skill.
const server = "ouro-timer"

// kind is the key that says of which kind a server is. Ours is of the kind that is meant without
// it.
const kind = "type"

// World is what the places of the files depend on.
type World struct {
	System string // the operating system, as Go names it
	Getenv func(string) string
}

// Client is a program that models work in.
type Client struct {
	Name   string
	Config string // its file of servers
	Table  string // the key in that file that has them, by their names
	Skill  string // the file of the skill

	marks []string // files and folders of which one is there where the program is used
	form  form
	typed bool // an entry says of which kind the server is
}

// form is how a file is written.
type form interface {
	// install is the text with the entry, and the entry as it stands there; the same text when it
	// is there already.
	install(text []byte, c Client, program string) (edited, error)
	// uninstall is the text without the entry; the same text when it is not there.
	uninstall(text []byte, c Client) (edited, error)
}

// All are the clients that are known, with their places for a user whose home is in the
// environment. What each documents is in docs/mcp.md.
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
			marks: []string{claude, claudeConfig}, form: jsonForm{}, typed: true},
		{Name: "codex", Config: filepath.Join(codex, "config.toml"), Table: "mcp_servers",
			Skill: skill(filepath.Join(home, ".agents")), marks: []string{codex}, form: tomlForm{}},
		{Name: "gemini", Config: filepath.Join(gemini, "settings.json"), Table: "mcpServers",
			Skill: skill(gemini), marks: []string{gemini}, form: jsonForm{comments: true}},
		{Name: "cursor", Config: filepath.Join(cursor, "mcp.json"), Table: "mcpServers", Skill: skill(cursor),
			marks: []string{cursor}, form: jsonForm{comments: true}},
		{Name: "vscode", Config: filepath.Join(code, "mcp.json"), Table: "servers",
			Skill: skill(filepath.Join(home, ".copilot")), marks: []string{code},
			form: jsonForm{comments: true}, typed: true},
	}
}

// Names are those of the clients.
func Names() (names []string) {
	for _, c := range All(World{Getenv: func(string) string { return "" }}) {
		names = append(names, c.Name)
	}
	return names
}

// Used reports whether the program has a folder here.
func (c Client) Used() bool {
	for _, path := range c.marks {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return false
}

// Install is the change that gives the client an entry by which it starts the program, whose path
// is absolute. What an entry of ours has beside that stays.
func (c Client) Install(program string) (Change, error) {
	return plan(c.Config, func(text []byte) (edited, error) { return c.form.install(text, c, program) })
}

// Uninstall is the change that takes the entry away.
func (c Client) Uninstall() (Change, error) {
	return plan(c.Config, func(text []byte) (edited, error) { return c.form.uninstall(text, c) })
}

// entry is what stands in a file for our server: its keys, in the order they are written in.
func (c Client) entry(program string) []field {
	fields := []field{{"command", program}, {"args", []any{"mcp"}}}
	if c.typed {
		fields = append([]field{{kind, "stdio"}}, fields...)
	}
	return fields
}

// field is a key with its value.
type field struct {
	key   string
	value any
}
