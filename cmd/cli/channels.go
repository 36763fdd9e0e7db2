package cli

import (
	"path/filepath"
	"slices"
	"strings"

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
