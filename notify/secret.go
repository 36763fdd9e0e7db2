package notify

import (
	"net/url"
	"slices"
	"strings"
)

// tokenPaths are hosts whose URLs are secrets: anybody who has one can write there.
var tokenPaths = []string{"hooks.slack.com", "discord.com", "discordapp.com", "webhook.office.com", "api.telegram.org", "chat.googleapis.com", "maker.ifttt.com"}

// secretWords occur in the names of secret query parameters.
var secretWords = []string{"token", "key", "secret", "pass", "pwd", "auth", "sig", "credential"}

// tokenRoutes are beginnings of paths, on any host, whose rest is a secret that allows writing.
var tokenRoutes = []string{"/services/", "/api/webhooks/", "/hooks/"}

// HasSecrets reports whether a web URL has a password, or what looks like one.
func HasSecrets(u *url.URL) bool {
	if u.User != nil {
		return true
	}
	for name, values := range u.Query() {
		name = strings.ToLower(name)
		if slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) }) || slices.ContainsFunc(values, looksRandom) {
			return true
		}
	}
	path := strings.ToLower(u.Path)
	if slices.ContainsFunc(tokenRoutes, func(route string) bool {
		i := strings.Index(path, route)
		return i >= 0 && strings.Trim(path[i+len(route):], "/") != ""
	}) || slices.ContainsFunc(strings.Split(u.Path, "/"), looksRandom) || looksRandom(u.Fragment) {
		return true
	}
	host := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(tokenPaths, func(known string) bool { return host == known || strings.HasSuffix(host, "."+known) })
}

// looksRandom reports whether a word looks random: long, with many different characters, and with
// digits among its letters or capitals in many places.
func looksRandom(word string) bool {
	if len(word) < minToken {
		return false
	}
	var digits, small, large int
	different := map[rune]bool{}
	for _, r := range word {
		different[r] = true
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z':
			small++
		case r >= 'A' && r <= 'Z':
			large++
		}
	}
	return len(different) >= minToken/2 && (digits > 2 && small+large > 2 || small > 4 && large > 4)
}

// minToken is the shortest word that can be taken for a secret, in bytes.
const minToken = 20
