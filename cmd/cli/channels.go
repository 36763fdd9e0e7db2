package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/notify"
)

// SchemeOf is the scheme of a URL that is given as a channel, in lower case; empty for what is a name.
func SchemeOf(word string) string {
	scheme, _, ok := strings.Cut(word, "://")
	if !ok {
		if scheme, _, ok = strings.Cut(word, ":"); !ok || !strings.EqualFold(scheme, "mailto") {
			return ""
		}
	}
	return strings.ToLower(scheme)
}

// ConfigPath is where the settings are, for people.
func ConfigPath(s *Call) string {
	home, err := s.Home()
	if err != nil {
		return "config.toml"
	}
	return filepath.Join(home, "config.toml")
}

// ChannelWord is a channel's word as JSON has it: a URL without what may be secret.
func ChannelWord(word string) string {
	if SchemeOf(word) != "" {
		return notify.Redact(word)
	}
	return word
}

// ChannelWords are the words as JSON has them. None stay none.
func ChannelWords(words []string) []string {
	shown := slices.Clone(words)
	for i, w := range shown {
		shown[i] = ChannelWord(w)
	}
	return shown
}

// ChannelName is a channel's word as it is shown: a URL without what may be secret.
func ChannelName(word string) string {
	if SchemeOf(word) != "" {
		return notify.Redact(word)
	}
	return Visible(word)
}

// ChannelList is a row of channels in a sentence: desktop, ops and mail.
func ChannelList(words []string) string {
	names := make([]string, len(words))
	for i, w := range words {
		names[i] = ChannelName(w)
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}

// ChannelNames are the channels a task can name, sorted.
func ChannelNames(s *Call) []string {
	names := slices.Clone(notify.Standing)
	if config, err := s.Settings(); err == nil {
		for name := range config.Channels {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
