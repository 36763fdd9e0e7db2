package cli

import (
	"path/filepath"
	"slices"

	"github.com/ouro-timer/ouro-timer/notify"
)

// ConfigPath is the path of config.toml for messages: its bare name when no folder is known.
func ConfigPath(s *Call) string {
	home, err := s.Home()
	if err != nil {
		return "config.toml"
	}
	return filepath.Join(home, "config.toml")
}

// ChannelWord is a channel as JSON shows it, with the secrets of a URL hidden.
func ChannelWord(word string) string {
	if notify.SchemeOf(word) != "" {
		return notify.Redact(word)
	}
	return word
}

// ChannelWords are channels as JSON shows them; nil stays nil.
func ChannelWords(words []string) []string {
	shown := slices.Clone(words)
	for i, w := range shown {
		shown[i] = ChannelWord(w)
	}
	return shown
}

// ChannelName is a channel as people see it, with the secrets of a URL hidden.
func ChannelName(word string) string {
	if notify.SchemeOf(word) != "" {
		return notify.Redact(word)
	}
	return Visible(word)
}
