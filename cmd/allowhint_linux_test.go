package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// The hint of a refusal can be pasted into config.toml as it stands, and then allows that command
// and none that is like it. Of a command without arguments it says that there is no such pattern.
func TestTheHintOfARefusalAllowsThatCommandAlone(t *testing.T) {
	t.Parallel()
	c, _ := newCaller(t)
	if err := os.MkdirAll(c.home, 0o700); err != nil {
		t.Fatal(err)
	}
	allow := func(pattern string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(c.home, "config.toml"), []byte("[run]\nallow = ["+pattern+"]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(args []string) []string { return append([]string{"at", "1h", "--dry-run", "--", "rm"}, args...) }
	hinted := func(args ...string) string {
		t.Helper()
		allow(`"x"`)
		_, said, _ := c.call(at(args)...)
		_, rest, _ := strings.Cut(said, " write ")
		pattern, behind, ok := strings.Cut(rest, " into allow under [run] in ")
		if !ok {
			t.Errorf("%q: %s", args, said)
		}
		if says := strings.Contains(behind, "with any arguments"); says != (len(args) == 0) {
			t.Errorf("%q: %s", args, said)
		}
		return pattern
	}
	for _, args := range [][]string{{""}, {"", ""}, {"''"}, {" "}, {"a b"}, {`"`}, {"'"}, {"*"}, {"?"}, {"["}, {`\`}, {"a\nb"}, {"\x01\v\x7f"}, {"\u00a0"}, {"żółw 🐢"}, {"-c", "a; *"}, {"../a b"}} {
		pattern := hinted(args...)
		allow(pattern)
		c.wants(cli.ExitOK, "", at(args)...)
		for _, other := range [][]string{nil, {"-rf", "/home/x"}, {"/home/x"}, append([]string{""}, args...), append(args[:len(args):len(args)], "-rf")} {
			c.wants(cli.ExitUsage, "not allowed by [run] allow", at(other)...)
		}
	}
	allow(hinted())
	c.wants(cli.ExitOK, "", at(nil)...)
}
