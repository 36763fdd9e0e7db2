package cmd

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/notify"
)

// schemeOf is the scheme of a URL that is given as a channel, in lower case; empty for what is a name.
func schemeOf(word string) string {
	scheme, _, ok := strings.Cut(word, "://")
	if !ok {
		if scheme, _, ok = strings.Cut(word, ":"); !ok || !strings.EqualFold(scheme, "mailto") {
			return ""
		}
	}
	return strings.ToLower(scheme)
}

// configPath is where the settings are, for people.
func configPath(s *session) string {
	home, err := s.home()
	if err != nil {
		return "config.toml"
	}
	return filepath.Join(home, "config.toml")
}

// channelWord is a channel's word as JSON has it: a URL without what may be secret.
func channelWord(word string) string {
	if schemeOf(word) != "" {
		return notify.Redact(word)
	}
	return word
}

// channelWords are the words as JSON has them. None stay none.
func channelWords(words []string) []string {
	shown := slices.Clone(words)
	for i, w := range shown {
		shown[i] = channelWord(w)
	}
	return shown
}

// channelName is a channel's word as it is shown: a URL without what may be secret.
func channelName(word string) string {
	if schemeOf(word) != "" {
		return notify.Redact(word)
	}
	return visible(word)
}

// channelList is a row of channels in a sentence: desktop, ops and mail.
func channelList(words []string) string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = channelName(w)
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// channelNames are the channels a task can name, sorted.
func channelNames(s *session) []string {
	names := slices.Clone(notify.Standing)
	if config, err := s.settings(); err == nil {
		for name := range config.Channels {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
