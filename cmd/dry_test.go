package cmd

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
)

// changing are the commands that change something; the others have no --dry-run.
var changing = []string{"at", "rm", "restore", "edit", "pause", "resume", "fire", "stop", "inbox", "ack", "run", "service", "notify", "doctor", "wait", "health-wait", "mcp", "guide", "import", "apply", "metrics", "fleet"}

func TestDryRunIsOfWhatChanges(t *testing.T) {
	for _, c := range table.All() {
		if has := c.Options.Named("dry-run") != nil; has != slices.Contains(changing, c.Name) {
			t.Errorf("%s has --dry-run: %v", c.Name, has)
		}
	}
}

// TestLinesSayWhatWasDoneByVerb keeps answers from saying that something was done where --dry-run only would do it: a line does not begin
// with what was done, but with Verb, which knows.
func TestLinesSayWhatWasDoneByVerb(t *testing.T) {
	done := regexp.MustCompile(`^"(?i)([a-z]+ed|kept)\b`)
	states := []string{"installed", "stepped", "postponed"} // of what is asked for, not done
	seen, spoken := 0, map[string]bool{}
	for file, parsed := range clitest.Sources(t, "*/*.go") {
		ast.Inspect(parsed, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			switch name := clitest.Called(call); {
			case name == "Line", name == "LineUnlessQuiet", name == "Sprintf":
				seen++
				text := clitest.Word(call.Args[0])
				m := done.FindStringSubmatch(text)
				if m == nil || slices.Contains(states, strings.ToLower(m[1])) || name == "Sprintf" && cli.Verbs[strings.ToLower(m[1])] == "" {
					break
				}
				t.Errorf("%s: the line %s says so with --dry-run, too: write s.Verb(%q)", file, text, m[1])
			case name == "Verb", name == "VerbOf":
				past := strings.Trim(clitest.Word(call.Args[0]), `"`)
				spoken[strings.ToLower(past)] = true
				if base := cli.Verbs[strings.ToLower(past)]; base == "" && past != "past" {
					t.Errorf("%s: %q is none of the verbs", file, past)
				}
			}
			return true
		})
	}
	if seen < 50 {
		t.Errorf("saw only %d lines", seen)
	}
	for past := range cli.Verbs {
		if !spoken[past] {
			t.Errorf("nothing says %q", past)
		}
	}
}
