package cli

import (
	"path/filepath"
	"slices"

	"github.com/ouro-timer/ouro-timer/notify"
)

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
	if notify.SchemeOf(word) != "" {
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
	if notify.SchemeOf(word) != "" {
		return notify.Redact(word)
	}
	return Visible(word)
}
