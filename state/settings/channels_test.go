package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

func TestChannels(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	load := func(text string) (state.Config, error) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Load(dir)
	}
	got, err := load(`
[notify]
default = ["desktop", "me:bob@example.org", "ops"]
on = "failure"
prefix = "[X] "
give_up = "7d"
[channels.me]
type = "email"
from = "Ouro <ouro@example.org>"
host = "smtp.example.org"
port = 2525
user = "me"
password = "hunter2"
tls = "tls"
timeout = "1m"
[channels.email]
to = "me@example.org"
[channels.ops]
url = "https://example.org/hook"
secret = "s3cret"
[channels.chat]
url = "slack+https://token-a/token-b"
[channels.box]
url = "mailto:box@example.org"
[channels]
run = { type = "exec", command = ["tell", "-x"] }
`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]state.Channel{
		"me": {Name: "me", Type: "email", From: "Ouro <ouro@example.org>", Host: "smtp.example.org", Port: 2525, User: "me", Password: "hunter2",
			TLS: "tls", Timeout: "1m"},
		"email": {Name: "email", Type: "email", To: "me@example.org"},
		"ops":   {Name: "ops", Type: "webhook", URL: "https://example.org/hook", Secret: "s3cret"},
		"chat":  {Name: "chat", Type: "slack", URL: "slack+https://token-a/token-b"},
		"box":   {Name: "box", Type: "email", URL: "mailto:box@example.org"},
		"run":   {Name: "run", Type: "exec", Command: []string{"tell", "-x"}},
	}
	if !reflect.DeepEqual(got.Channels, want) {
		t.Errorf("%+v\nwant %+v", got.Channels, want)
	}
	if n := got.Notify; !slices.Equal(n.Default, []string{"desktop", "me:bob@example.org", "ops"}) || n.On != "failure" || n.Prefix != "[X] " || n.GiveUp != "7d" {
		t.Errorf("%+v", n)
	}
}

// TestTypeOfKeys: what only one type takes says the type.
func TestTypeOfKeys(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"command = [\"tell\"]": "exec", "host = \"smtp.example.org\"": "email", "key = \"re_1\"": "email", "from = \"a@example.org\"": "email",
		"command = [\"tell\"]\nto = \"bob\"\ntimeout = \"1m\"": "exec", "url = \"https://example.org\"\nsecret = \"x\"": "webhook",
		"ok = \"https://example.org/x\"": "heartbeat", "type = \"heartbeat\"\nurl = \"https://example.org/x\"": "heartbeat",
	} {
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte("[channels.a]\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Load(dir); err != nil || got.Channels["a"].Type != want {
			t.Errorf("%q: %+v %v, want %s", text, got.Channels, err, want)
		}
	}
}

func TestChannelsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	for _, c := range []struct {
		text string
		line int
		say  string
	}{
		{"[channels.a]\ntype = \"email\"\ntoo = \"x\"", 3, "did you mean to?"},
		{"[channels.a]\ntype = \"email\"\ncolour = \"x\"", 3, `a channel has no setting "colour"; a channel has type, url, to`},
		{"[channels.a.b]\ntype = \"email\"", 1, `a channel has no setting "b"`},
		{"[channels.\"a b\"]\ntype = \"email\"", 1, `the name of channel "a b" must be of letters`},
		{"[channels.a]\nto = \"x\"", 1, "channel a has no type, and its keys say none, or several"},
		{"[channels.a]\nhost = \"h\"\ncommand = [\"x\"]", 1, "channel a has no type, and its keys say none, or several"},
		{"[channels.a]\nsecret = \"hunter2\"", 1, "channel a has no url"},
		{"[channels.desktop]\ncommand = [\"x\"]", 2, `channel desktop is of type "desktop", which takes no command`},
		{"[channels.a]\ntype = \"heartbeat\"", 1, `channel a has no url; add url = "https://…", to which /start and /fail are appended, or ok`},
		{"[channels.a]\ntype = \"heartbeat\"\nstart = \"https://hunter2/x\"", 1, "channel a has no url"},
		{"[channels.a]\nok = \"hunter2\"", 2, "ok takes a URL of the web"},
		{"[channels.a]\nok = \"https://x/y\"\nurl = \"https://x/y\"", 1, "channel a has a url and one of start, ok, fail"},
		{"[channels.a]\ntype = \"heartbeat\"\nurl = \"slack://hunter2\"", 2, "channel a has type \"heartbeat\", and a url of type \"slack\""},
		{"[channels.a]\ntype = \"heartbeat\"\nurl = \"https://x/y\"\nto = \"bob\"", 4, `type "heartbeat", which takes no to`},
		{"[channels.a]\ntype = \"webhook\"\nurl = \"https://x/y\"\nok = \"https://x/y\"", 4, `type "webhook", which takes no ok`},
		{"[run]\nheartbeat = \"a\"", 2, `run.heartbeat is "a", and there is no heartbeat of that name`},
		{"[run]\nheartbeat = \"https://hunter2/x\"", 2, "run.heartbeat is the name of a channel, and there is no heartbeat of that name"},
		{"[run]\nheartbeat = \"a\"\n[channels.a]\nurl = \"https://x/y\"", 2, "there is no heartbeat of that name"},
		{"[run]\nheartbeat_every = \"1s\"", 2, "run.heartbeat_every must be 10s to 24h"},
		{"[run]\nheartbeat_every = \"soon\"", 2, "run.heartbeat_every takes a span of time"},
		{"[notify]\ndefault = [\"a\"]\n[channels.a]\nok = \"https://x/y\"", 2, `notify.default names "a", a heartbeat, which every task would ping; give it to the task that it watches: --notify a`},
		{"[channels.a]\ntype = \"mail\"", 2, `did you mean "email"?`},
		{"[channels.a]\ntype = \"slack\"", 2, "channel a has a type that needs a url, and no url"},
		{"[channels.a]\ntype = \"email\"\nurl = \"https://x/y\"", 2, `type "email", and a url of type "webhook"`},
		{"[channels.a]\nurl = \"https:hunter2\"", 2, "url takes a URL with a host"},
		{"[channels.a]\nurl = \"hunter2\"", 2, "url takes a URL with its scheme"},
		{"[channels.a]\nurl = 3", 2, "channels.a.url takes a string, not an integer"},
		{"[channels.webhook]\nsecret = \"x\"", 1, "channel webhook has no url"},
		{"[channels.exec]\ntimeout = \"1m\"", 1, "channel exec has no command"},
		{"[channels.exec]\ncommand = []", 2, "command takes a program"},
		{"[channels.exec]\ncommand = [1]", 2, "command takes a list of texts"},
		{"[channels.exec]\ncommand = \"tell\"", 2, "channels.exec.command takes an array, not a string"},
		{"[channels.desktop]\nkey = \"hunter2\"", 2, `channel desktop is of type "desktop", which takes no key`},
		{"[channels.email]\nport = 25", 2, "channel email has port and no host"},
		{"[channels.email]\nhost = \"h\"\nport = 0", 3, "port is 0 and must be 1 to 65535"},
		{"[channels.email]\nhost = \"smtp.example.org:25\"", 2, "port = 587"},
		{"[channels.email]\nhost = \"h\"\nkey = \"hunter2\"", 3, "a host and a key of Resend"},
		{"[channels.email]\nhost = \"h\"\nuser = \"u\"", 1, "only one of user and password"},
		{"[channels.email]\nhost = \"h\"\ntls = \"yes\"", 3, "must be one of starttls, tls, none"},
		{"[channels.email]\nfrom = \"nobody\"", 2, "from takes an address of email"},
		{"[channels.email]\nto = \"a@b\\r\\nBcc: c@d\"", 2, "to takes an address of email"},
		{"[channels.email]\ntimeout = \"1d\"", 2, "timeout takes a time of up to an hour"},
		{"channels.a = \"https://x\"", 1, "channels.a takes a table, not a string"},
		{"[[channels]]\ntype = \"email\"", 1, "channels takes a table, not an array"},
		{"channels = 1", 1, "channels takes a table"},
		{"[notify]\ndefault = \"desktop\"", 2, `write it as in default = ["desktop"]`},
		{"[notify]\ndefault = [\"slack://token\"]", 2, "names of channels"},
		{"[notify]\ndefault = [\"ops\"]", 2, "add [channels.ops], or name one of desktop, email, terminal"},
		{"[notify]\non = \"sometimes\"", 2, "must be one of always, failure, output, change, recovery, never"},
		{"[notify]\nprefix = \"a\\nb\"", 2, "on one line"},
		{"[notify]\ngive_up = \"soon\"", 2, `write it as in "24h" or "7d"`},
		{"[notify]\ngive_up = \"\"", 2, "takes a span of time"},
		{"[notify]\ngive_up = \"10s\"", 2, "must be 1m to 30d"},
		{"[notify]\ngive_up = \"31d\"", 2, "must be 1m to 30d"},
		{"[notify]\ngive_up = 24", 2, "give_up"},
		{"[notify]\ndefalt = []", 2, "did you mean notify.default?"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(dir)
		var bad *Problem
		if !errors.As(err, &bad) || bad.Line != c.line || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, want line %d and %q", c.text, err, c.line, c.say)
		}
	}
}

// TestNoValueIsQuoted: what stands in the file can be a secret, wherever somebody put it by mistake, and errors are logged and told.
func TestNoValueIsQuoted(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		text string
		line int
		say  string // in it, besides the line
	}{
		{"[channels.a]\nurl = https://x/hunter2", 2, "channels.a.url"},
		{"[channels.a]\nurl = hunter2", 2, "channels.a.url"},
		{"[channels.a]\npassword = 'hunter2", 2, "channels.a.password"},
		{"[channels.a]\npassword = \"hunter2", 2, "channels.a.password"},
		{"[channels.a]\npassword = \"hunter2\" hunter2", 2, "not TOML"},
		{"[channels.a]\npassword = \"\\hunter2\"", 2, "channels.a.password"},
		{"[channels.a]\npassword = 1hunter2", 2, "not TOML"},
		{"[channels.a]\nport = 98769876987698769876", 2, "channels.a.port"},
		{"[channels.a]\nkey = \"hunter2\"\nkey = \"hunter2\"", 3, "channels.a.key is given twice"},
		{"[channels.a]\nkey \"hunter2\"", 2, "not TOML"},
		{"[channels.a]\nhunter2", 2, "not TOML"},
		{"[channels.a]\nsecret = \"a\"\n= \"hunter2\"", 3, ""},
		{"[channels.a]\ncommand = [\"tell\", hunter2]", 2, "channels.a.command"},
		{"[channels.a]\ntype = \"hunter2\"", 2, "channel a has a type"},
		{"[channels.a]\ntype = \"hunter2\"\nurl = \"https://x/y\"", 2, "channel a has another type"},
		{"[channels.email]\nfrom = \"hunter2\"", 2, "from takes"},
		{"[channels.email]\nto = \"hunter2\"", 2, "to takes"},
		{"[channels.email]\nhost = \"a:hunter2\"", 2, "host takes"},
		{"[channels.email]\nhost = \"h\"\ntls = \"hunter2\"", 3, "tls must be one of"},
		{"[channels.a]\ntimeout = \"hunter2\"", 2, "timeout takes"},
		{"default_time = \"hunter2\"", 1, "default_time takes"},
		{"keep.output = \"hunter2\"", 1, "keep.output takes"},
		{"notify.on = \"hunter2\"", 1, "notify.on must be"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Load(dir)
		var bad *Problem
		if !errors.As(err, &bad) || bad.Line != c.line || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "9876") {
			t.Errorf("%q: %v, want line %d and %q", c.text, err, c.line, c.say)
		}
	}
}

// TestChannelMistakes: a channel with a mistake is left out, and the others are there.
func TestChannelMistakes(t *testing.T) {
	dir := t.TempDir()
	text := "[channels.a]\ntype = \"email\"\ntls = 7\n[channels.b]\nurl = \"https://x/y\"\n[channels.c]\ntype = \"pigeon\"\n[notify]\ndefault = [\"a\", \"b\"]\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Config.Channels) != 1 || r.Config.Channels["b"].Type != "webhook" {
		t.Errorf("%+v", r.Config.Channels)
	}
	var lines []int
	for _, p := range r.Problems {
		lines = append(lines, p.Line)
	}
	if want := []int{3, 7}; !slices.Equal(lines, want) {
		t.Errorf("problems on lines %v, want %v: %v", lines, want, r.Problems)
	}
}

// TestSecretsForOthers: a file that others may read costs the channels that have secrets in it, and nothing else.
func TestSecretsForOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such permissions")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "config.toml")
	text := "[channels.a]\nurl = \"https://example.org/token\"\n[channels.email]\nto = \"a@example.org\"\n[channels.key]\ntype = \"email\"\nkey = \"re_1\"\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir)
	if err != nil || len(r.Problems) > 0 {
		t.Fatal(err, r.Problems)
	}
	for name, want := range map[string]string{"a": path, "email": "", "key": path} {
		if got := r.Config.Channels[name].Exposed; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := fmt.Sprint(r.Values); strings.Contains(got, "token") || strings.Contains(got, "re_1") {
		t.Errorf("the values show a secret: %s", got)
	}
	os.Chmod(path, 0o600)
	if c, err := Load(dir); err != nil || c.Channels["a"].Exposed != "" || c.Channels["key"].Key != "re_1" {
		t.Errorf("%+v %v", c.Channels, err)
	}
}

// TestChannelSettings holds the keys of a channel against the struct they are read into, and against what users are told.
func TestChannelSettings(t *testing.T) {
	var keys, table []string
	for i := range reflect.TypeFor[state.Channel]().NumField() {
		if key := reflect.TypeFor[state.Channel]().Field(i).Tag.Get("toml"); key != "-" {
			keys = append(keys, key)
		}
	}
	docs, err := os.ReadFile("../../docs/notify.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range channelSettings {
		table = append(table, s.Key)
		row := ""
		for line := range strings.Lines(string(docs)) {
			if strings.HasPrefix(line, "| `"+s.Key+"` |") {
				row = line
			}
		}
		if row == "" || !strings.Contains(row, s.Default) {
			t.Errorf("docs/notify.md does not tell of %s and its default %s: %s", s.Key, s.Default, row)
		}
	}
	if slices.Sort(keys); !slices.Equal(keys, slices.Sorted(slices.Values(table))) {
		t.Errorf("state.Channel has %v, the table %v", keys, table)
	}
}
