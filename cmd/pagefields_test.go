package cmd

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"
)

// answersOf are the answers whose fields a page explains, one by one.
var answersOf = map[string][]string{
	"doctor":      {"doctor"},
	"health-wait": {"health-wait"},
	"inbox":       {"inbox"},
	"log":         {"line", "log"},
	"notify":      {"notify"},
	"simulate":    {"simulate", "log-audit", "log-finding"},
}

// everywhere are fields that json.md explains for all answers, and those of errors.
var everywhere = []string{"now", "dry_run", "errors", "error", "id"}

// field is what a schema says of a field, or of a whole answer.
type field struct {
	Properties map[string]field
	Items      struct{ Properties map[string]field }
}

// TestPagesNameFields requires that the page about an answer names each of its fields, and each of the fields of the rows in it.
func TestPagesNameFields(t *testing.T) {
	t.Parallel()
	for page, answers := range answersOf {
		text, err := os.ReadFile("../docs/" + page + ".md")
		if err != nil {
			t.Fatal(err)
		}
		for _, answer := range answers {
			data, err := os.ReadFile("../docs/schemas/" + answer + ".json")
			if err != nil {
				t.Fatal(err)
			}
			var schema field
			if err := json.Unmarshal(data, &schema); err != nil {
				t.Fatal(err)
			}
			names := maps.Clone(schema.Properties)
			for name, field := range schema.Properties {
				if !slices.Contains(everywhere, name) {
					maps.Copy(names, field.Items.Properties)
				}
			}
			for name := range names {
				if !slices.Contains(everywhere, name) && !regexp.MustCompile(`\b`+name+`\b`).Match(text) {
					t.Errorf("%s.md does not name the field %s of the answer %s", page, name, answer)
				}
			}
		}
	}
}
