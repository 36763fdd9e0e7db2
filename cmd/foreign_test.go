package cmd

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/guide"
	"github.com/ouro-timer/ouro-timer/cmd/option"
)

// TestForeignNames keeps what the names of other systems lead to real: a command of ours, an option that it has, and no name of ours
// among the others.
func TestForeignNames(t *testing.T) {
	t.Parallel()
	for word, call := range guide.ForeignCommands() {
		if strings.ToLower(word) != word || strings.Contains(word, "_") {
			t.Errorf("%q can never be found", word)
		}
		if table.Find(word) != nil {
			t.Errorf("%q is a command", word)
		}
		if name := strings.Fields(call)[0]; table.Find(name) == nil {
			t.Errorf("%q leads to %q, which is not a command", word, name)
		}
	}
	dashed := regexp.MustCompile(`--([a-z][a-z-]*)`)
	for _, o := range option.ForeignOptions {
		for _, name := range strings.Fields(o.Commands) {
			c := table.Find(name)
			if c == nil {
				t.Errorf("%q is not a command", name)
				continue
			}
			if _, has := c.Options.Fields()[o.Ours]; !has && o.Ours != "" && name != "wait" {
				t.Errorf("an object of %s has no key %q", name, o.Ours)
			}
			for _, word := range strings.Fields(o.Options) {
				if c.Options.Named(word) != nil {
					t.Errorf("%s has an option %q", name, word)
				}
				for _, m := range dashed.FindAllStringSubmatch(option.Foreign(word, name), -1) {
					if c.Options.Named(m[1]) == nil && !(name == "edit" && m[1] == "key") {
						t.Errorf("%s --%s leads to --%s, which it has not", name, word, m[1])
					}
				}
			}
		}
	}
}

// TestTableNamesItsCommands: a command is found by the name that it has.
func TestTableNamesItsCommands(t *testing.T) {
	t.Parallel()
	for i, c := range table.All() {
		if c.Name != table[i].Name {
			t.Errorf("%s is in the table as %s", c.Name, table[i].Name)
		}
	}
}
