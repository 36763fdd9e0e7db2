package client

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const program = "/opt/ouro timer/ouro-timer"

func of(t *testing.T, name string) Client {
	t.Helper()
	for _, c := range All(World{System: "linux", Getenv: func(string) string { return "" }}) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no client is called %q", name)
	return Client{}
}

// TestEdits: an entry goes behind what is there, as the file is written; what is there stays byte for byte, and without the entry the file is what
// it was.
func TestEdits(t *testing.T) {
	const spaced = `"ouro-timer": {
    "command": "/opt/ouro timer/ouro-timer",
    "args": ["mcp"]
  }`
	indented := strings.ReplaceAll(spaced, "\n", "\n  ")
	for _, c := range []struct{ name, client, before, after, without string }{
		{"nothing", "cursor", "", "{\n  \"mcpServers\": {\n    " + indented + "\n  }\n}\n", "{\n  \"mcpServers\": {}\n}\n"},
		{"an empty object", "cursor", "{}", "{\n  \"mcpServers\": {\n    " + indented + "\n  }\n}", "{\n  \"mcpServers\": {}\n}"},
		{"on one line", "claude", `{"a":1}`, `{"a":1, "mcpServers": {"ouro-timer": {"type": "stdio", "command": "/opt/ouro timer/ouro-timer", "args": ["mcp"]}}}`, `{"a":1, "mcpServers": {}}`},
		{"on one line, beside another", "gemini", `{ "mcpServers": { "x": {} } }`, `{ "mcpServers": { "x": {}, "ouro-timer": {"command": "/opt/ouro timer/ouro-timer", "args": ["mcp"]} } }`, "="},
		{"no servers yet", "cursor", "{\n\t\"é\": 1.0e2\n}\n", "{\n\t\"é\": 1.0e2,\n\t\"mcpServers\": {\n\t\t" + tabbed(2) + "\n\t}\n}\n", "{\n\t\"é\": 1.0e2,\n\t\"mcpServers\": {}\n}\n"},
		{"between others", "cursor", "{\n  \"mcpServers\": {\n    \"x\": {}\n  },\n  \"b\": [ ]\n}", "{\n  \"mcpServers\": {\n    \"x\": {},\n    " + indented + "\n  },\n  \"b\": [ ]\n}", "="},
		{"lines of Windows", "cursor", "{\r\n  \"a\": 1\r\n}\r\n", strings.ReplaceAll("{\n  \"a\": 1,\n  \"mcpServers\": {\n    "+indented+"\n  }\n}\n", "\n", "\r\n"), "{\r\n  \"a\": 1,\r\n  \"mcpServers\": {}\r\n}\r\n"},
		{"comments", "vscode", "// mine\n{\n  // all of them\n  \"servers\": {\n    \"x\": {} // the \"first\"\n    /* no more */\n  }, // end\n}\n",
			"// mine\n{\n  // all of them\n  \"servers\": {\n    \"x\": {}, // the \"first\"\n    /* no more */\n    " + typedEntry + "\n  }, // end\n}\n", "="},
		{"a comma behind the last", "vscode", "{\n  \"servers\": {\n    \"x\": {},\n  }\n}", "{\n  \"servers\": {\n    \"x\": {},\n    " + typedEntry + ",\n  }\n}", "="},
		{"a comment alone", "gemini", "{\n  // nothing yet\n}", "{\n  // nothing yet\n  \"mcpServers\": {\n    " + indented + "\n  }\n}", "{\n  // nothing yet\n  \"mcpServers\": {}\n}"},
		{"a mark of UTF-8", "gemini", "\ufeff{\"mcpServers\":{}}", "\ufeff{\"mcpServers\":{\"ouro-timer\": {\"command\": \"/opt/ouro timer/ouro-timer\", \"args\": [\"mcp\"]}}}", "="},
		{"TOML: nothing", "codex", "", entryTOML, ""},
		{"TOML: a key", "codex", "model = \"o3\" # mine\n", "model = \"o3\" # mine\n\n" + entryTOML, "="},
		{"TOML: tables", "codex", "[a]\nb = 1\n\n[mcp_servers.x]\ncommand = \"x\"\n# end\n", "[a]\nb = 1\n\n[mcp_servers.x]\ncommand = \"x\"\n# end\n\n" + entryTOML, "="},
		{"TOML: no last line feed", "codex", "a = '''\n[mcp_servers.x]\n'''", "a = '''\n[mcp_servers.x]\n'''\n\n" + entryTOML, "a = '''\n[mcp_servers.x]\n'''\n"},
	} {
		cl := of(t, c.client)
		got, err := cl.format.install([]byte(c.before), cl, program)
		if err != nil || string(got.after) != c.after || got.effect != Add {
			t.Errorf("%s: %v %v\ngot  %q\nwant %q", c.name, got.effect, err, got.after, c.after)
			continue
		}
		if again, err := cl.format.install(got.after, cl, program); err != nil || string(again.after) != c.after {
			t.Errorf("%s: once more: %v\n%q", c.name, err, again.after)
		}
		if c.without == "=" {
			c.without = c.before
		}
		if back, err := cl.format.uninstall(got.after, cl); err != nil || string(back.after) != c.without {
			t.Errorf("%s: without: %v\ngot  %q\nwant %q", c.name, err, back.after, c.without)
		}
		if back, err := cl.format.uninstall([]byte(c.before), cl); err != nil || string(back.after) != c.before {
			t.Errorf("%s: taken from where it is not: %v\n%q", c.name, err, back.after)
		}
	}
}

const entryTOML = "[mcp_servers.ouro-timer]\ncommand = \"/opt/ouro timer/ouro-timer\"\nargs = [\"mcp\"]\n"

const typedEntry = `"ouro-timer": {
      "type": "stdio",
      "command": "/opt/ouro timer/ouro-timer",
      "args": ["mcp"]
    }`

func tabbed(n int) string {
	in := "\n" + strings.Repeat("\t", n)
	return `"ouro-timer": {` + in + "\t\"command\": \"/opt/ouro timer/ouro-timer\"," + in + "\t\"args\": [\"mcp\"]" + in + "}"
}

// TestRenewed: of an entry of ours the command is brought up to date, and what else it has stays.
func TestRenewed(t *testing.T) {
	for _, c := range []struct{ name, client, before, after string }{
		{"another program", "cursor", `{"mcpServers":{"ouro-timer":{"env":{"OURO_HOME":"/x"},"command":"ouro-timer","args":[ "mcp" ]}}}`,
			`{"mcpServers":{"ouro-timer":{"env":{"OURO_HOME":"/x"},"command":"/opt/ouro timer/ouro-timer","args":[ "mcp" ]}}}`},
		{"no arguments", "vscode", "{\n  \"servers\": {\n    \"ouro-timer\": {\n      \"command\": \"/opt/ouro timer/ouro-timer\" // mine\n    }\n  }\n}",
			"{\n  \"servers\": {\n    \"ouro-timer\": {\n      \"command\": \"/opt/ouro timer/ouro-timer\", // mine\n      \"args\": [\"mcp\"]\n    }\n  }\n}"},
		{"no object", "cursor", `{"mcpServers":{"ouro-timer":null}}`, `{"mcpServers":{"ouro-timer":{"command": "/opt/ouro timer/ouro-timer", "args": ["mcp"]}}}`},
		{"TOML", "codex", "[mcp_servers.ouro-timer]\n# old\ncommand = \"ouro-timer\"\nstartup_timeout_sec = 20\n[mcp_servers.ouro-timer.env]\nOURO_TZ = \"UTC\"\n",
			"[mcp_servers.ouro-timer]\nargs = [\"mcp\"]\n# old\ncommand = \"/opt/ouro timer/ouro-timer\"\nstartup_timeout_sec = 20\n[mcp_servers.ouro-timer.env]\nOURO_TZ = \"UTC\"\n"},
	} {
		cl := of(t, c.client)
		got, err := cl.format.install([]byte(c.before), cl, program)
		if err != nil || string(got.after) != c.after || got.effect != Replace {
			t.Errorf("%s: %v %v\ngot  %q\nwant %q", c.name, got.effect, err, got.after, c.after)
		}
	}
	toml := of(t, "codex")
	const before = "# top\n\n[mcp_servers.ouro-timer]\ncommand = \"x\"\n\n[mcp_servers.ouro-timer.env]\nA = \"1\"\n\n# of b\n[b]\nc = 1\n"
	if got, err := toml.format.uninstall([]byte(before), toml); err != nil || string(got.after) != "# top\n\n# of b\n[b]\nc = 1\n" {
		t.Errorf("%v %q", err, got.after)
	}
}

// TestRefused: what is not what it should be, and what cannot be edited without touching something else, is left alone.
func TestRefused(t *testing.T) {
	for _, c := range []struct{ client, text string }{
		{"claude", "{"}, {"claude", "[]"}, {"claude", "// mine\n{}"}, {"claude", "{\"a\":1,}"}, {"claude", "null"}, {"claude", "{} {}"},
		{"cursor", `{"mcpServers": []}`}, {"cursor", `{"mcpServers": {}, "mcpServers": {}, "a": 1}`}, {"cursor", strings.Repeat("[", 2_000)},
		{"vscode", "{ /* no end"},
		{"codex", "a = "}, {"codex", "mcp_servers = {}\n"}, {"codex", "mcp_servers = { ouro-timer = { command = \"x\" } }\n"},
		{"codex", "mcp_servers.ouro-timer.command = \"x\"\n"}, {"codex", "[[mcp_servers]]\n"},
		{"codex", "[mcp_servers.ouro-timer]\nargs = [\n  \"x\",\n]\n"},
	} {
		cl := of(t, c.client)
		if got, err := cl.format.install([]byte(c.text), cl, program); err == nil {
			t.Errorf("%s: %q becomes %q", c.client, c.text, got.after)
		}
	}
}

// TestPlaces: each program's own variables say where its files are.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ system, env, name, config, skill string }{
		{"linux", "", "claude", "/home/ann/.claude.json", "/home/ann/.claude/skills/ouro-timer/SKILL.md"},
		{"linux", "CLAUDE_CONFIG_DIR=/c", "claude", "/c/.claude.json", "/c/skills/ouro-timer/SKILL.md"},
		{"linux", "", "codex", "/home/ann/.codex/config.toml", "/home/ann/.agents/skills/ouro-timer/SKILL.md"},
		{"linux", "CODEX_HOME=/c", "codex", "/c/config.toml", "/home/ann/.agents/skills/ouro-timer/SKILL.md"},
		{"linux", "GEMINI_CLI_HOME=/g", "gemini", "/g/.gemini/settings.json", "/g/.gemini/skills/ouro-timer/SKILL.md"},
		{"linux", "", "cursor", "/home/ann/.cursor/mcp.json", "/home/ann/.cursor/skills/ouro-timer/SKILL.md"},
		{"linux", "XDG_CONFIG_HOME=/x", "vscode", "/x/Code/User/mcp.json", "/home/ann/.copilot/skills/ouro-timer/SKILL.md"},
		{"darwin", "XDG_CONFIG_HOME=/x", "vscode", "/home/ann/Library/Application Support/Code/User/mcp.json", "/home/ann/.copilot/skills/ouro-timer/SKILL.md"},
	} {
		name, value, _ := strings.Cut(c.env, "=")
		for _, cl := range All(World{System: c.system, Getenv: func(asked string) string { return map[string]string{"HOME": "/home/ann", name: value}[asked] }}) {
			if cl.Name == c.name && (filepath.ToSlash(cl.Config) != c.config || filepath.ToSlash(cl.Skill) != c.skill) {
				t.Errorf("%s with %q: %s, %s", c.name, c.env, cl.Config, cl.Skill)
			}
		}
	}
}

// TestChangedMeanwhile: what somebody else wrote since is not written over.
func TestChangedMeanwhile(t *testing.T) {
	cl := of(t, "cursor")
	cl.Config = filepath.Join(t.TempDir(), "mcp.json")
	change, err := cl.Install(program)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cl.Config, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := change.Do(); err == nil {
		t.Error("it was written over")
	}
}

// FuzzEdits: whatever a file is, it is refused or keeps all it says.
func FuzzEdits(f *testing.F) {
	for _, text := range []string{"{}", "{\"mcpServers\": {\"x\": {}, // y\n}}", "a = 1\n[mcp_servers.ouro-timer]\ncommand = 'x'\n[b]\n", "\"\"\"\n", "{\"servers\":{\"ouro-timer\":1}}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range All(World{System: "linux", Getenv: func(string) string { return "" }}) {
			got, err := c.format.install([]byte(text), c, program) // it checks itself: no panic is what is asked here
			if err != nil {
				continue
			}
			if again, err := c.format.install(got.after, c, program); err != nil || string(again.after) != string(got.after) {
				t.Errorf("%s: %q once more: %v, %q", c.Name, got.after, err, again.after)
			}
			if back, err := c.format.uninstall(got.after, c); err == nil {
				if again, err := c.format.uninstall(back.after, c); err != nil || string(again.after) != string(back.after) {
					t.Errorf("%s: %q without, once more: %v, %q", c.Name, back.after, err, again.after)
				}
			}
		}
	})
}
