package cmd

import (
	"slices"
	"testing"
)

// changing are the commands that change something; the others have no --dry-run.
var changing = []string{"at", "rm", "restore", "edit", "pause", "resume", "fire", "stop", "inbox", "ack", "run", "service", "notify", "doctor"}

func TestDryRunIsOfWhatChanges(t *testing.T) {
	for _, c := range table() {
		if has := flagNamed(&c, "dry-run") != nil; has != slices.Contains(changing, c.name) {
			t.Errorf("%s has --dry-run: %v", c.name, has)
		}
	}
}
