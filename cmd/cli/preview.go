package cli

import (
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
)

// Deeds are what lines of answers say was done, and the same as what would be.
var Deeds = map[string]string{
	"acknowledged": "acknowledge", "changed": "change", "ended": "end", "kept": "keep", "paused": "pause", "removed": "remove", "replaced": "replace",
	"restored": "restore", "resumed": "resume", "scheduled": "schedule", "skipped": "skip", "started": "start", "stopped": "stop",
}

// Deed is the word of deeds as it is true of this call: "removed", or with --dry-run "would remove".
func Deed(s *Call, past string) string { return DeedOf(past, s.DryRun) }

func DeedOf(past string, dry bool) string {
	if !dry {
		return past
	}
	if base := Deeds[past]; base != "" {
		return "would " + base
	}
	return "Would " + Deeds[strings.ToLower(past)]
}

// Changes makes changes, or says what would become of them.
func Changes(s *Call, st state.Changes) state.Changes {
	if !s.DryRun {
		return st
	}
	if s.would == nil {
		s.would = st.Dry()
	}
	return s.would
}
