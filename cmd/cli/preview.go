package cli

import (
	"strings"
)

// deeds are the verbs of answers, each with the verb for a dry run.
var Deeds = map[string]string{
	"acknowledged": "acknowledge", "changed": "change", "ended": "end", "kept": "keep", "paused": "pause",
	"removed": "remove", "replaced": "replace",
	"restored": "restore", "resumed": "resume", "scheduled": "schedule", "skipped": "skip", "started": "start",
	"stopped": "stop", "written": "write",
}

// Deed is the verb for this call: "removed", or with --dry-run "would remove".
func (f Form) Deed(past string) string { return DeedOf(past, f.DryRun) }

func DeedOf(past string, dry bool) string {
	if !dry {
		return past
	}
	if base := Deeds[past]; base != "" {
		return "would " + base
	}
	return "Would " + Deeds[strings.ToLower(past)]
}
