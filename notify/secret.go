package notify

import (
	"net/url"
	"slices"
	"strings"
)

// tokenPaths are hosts whose URLs are passwords: whoever has one can write there.
var tokenPaths = []string{"hooks.slack.com", "discord.com", "discordapp.com", "webhook.office.com", "api.telegram.org", "chat.googleapis.com", "maker.ifttt.com"}

// secretWords are found in the names of what a URL's query keeps secret.
var secretWords = []string{"token", "key", "secret", "pass", "pwd", "auth", "sig", "credential"}

// tokenRoutes are the beginnings of paths that services of the web, on whatever host they are, let
// those write by who know the rest.
var tokenRoutes = []string{"/services/", "/api/webhooks/", "/hooks/"}

// HasSecrets reports whether a URL of the web has a password, or what looks like one.
func HasSecrets(u *url.URL) bool {
	if u.User != nil {
		return true
	}
	for name, values := range u.Query() {
		name = strings.ToLower(name)
		if slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(name, word) }) || slices.ContainsFunc(values, looksDealt) {
			return true
		}
	}
	path := strings.ToLower(u.Path)
	if slices.ContainsFunc(tokenRoutes, func(route string) bool {
		i := strings.Index(path, route)
		return i >= 0 && strings.Trim(path[i+len(route):], "/") != ""
	}) || slices.ContainsFunc(strings.Split(u.Path, "/"), looksDealt) || looksDealt(u.Fragment) {
		return true
	}
	host := strings.ToLower(u.Hostname())
	return slices.ContainsFunc(tokenPaths, func(known string) bool { return host == known || strings.HasSuffix(host, "."+known) })
}

// looksDealt reports whether a word was dealt and not chosen, as far as can be told: long, of many
// different characters, and with digits among its letters, or large letters all over.
func looksDealt(word string) bool {
	if len(word) < tokenLeast {
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
	return len(different) >= tokenLeast/2 && (digits > 2 && small+large > 2 || small > 4 && large > 4)
}

// tokenLeast is how many bytes a word has at least that is taken for a secret.
const tokenLeast = 20
