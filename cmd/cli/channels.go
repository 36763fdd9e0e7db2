package cli

import (
	"path/filepath"
	"slices"

	"github.com/ouro-timer/ouro-timer/notify"
)

// ConfigPath is the path of config.toml, for people.
func ConfigPath(s *Call) string {
	home, err := s.Home()
	if err != nil {
		return "config.toml"
	}
	return filepath.Join(home, "config.toml")
}

// ChannelWord is the word of a channel in JSON. A URL has no secrets.
func ChannelWord(word string) string {
	if notify.SchemeOf(word) != "" {
		return notify.Redact(word)
	}
	return word
}

// ChannelWords are the words of channels in JSON; nil stays nil.
func ChannelWords(words []string) []string {
	shown := slices.Clone(words)
	for i, w := range shown {
		shown[i] = ChannelWord(w)
	}
	return shown
}

// ChannelName is the word of a channel for people. A URL has no secrets.
func ChannelName(word string) string {
	if notify.SchemeOf(word) != "" {
		return notify.Redact(word)
	}
	return Visible(word)
}
