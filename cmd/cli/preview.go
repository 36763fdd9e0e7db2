package cli

import (
	"strings"
)

// Verbs are what answers say that was done, each with its form for a dry run.
var Verbs = map[string]string{
	"acknowledged": "acknowledge", "changed": "change", "ended": "end", "kept": "keep", "paused": "pause",
	"removed": "remove", "replaced": "replace",
	"restored": "restore", "resumed": "resume", "scheduled": "schedule", "skipped": "skip", "started": "start",
	"stopped": "stop", "written": "write",
}

// Verb says what this call does: "removed", or with --dry-run "would remove".
func (f Form) Verb(past string) string { return VerbOf(past, f.DryRun) }

// VerbOf is Verb for a call that is a dry run or not.
func VerbOf(past string, dry bool) string {
	if !dry {
		return past
	}
	if base := Verbs[past]; base != "" {
		return "would " + base
	}
	return "Would " + Verbs[strings.ToLower(past)]
}
