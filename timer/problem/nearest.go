package problem

import (
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// Nearest returns the name that is at most a third of its length away from the word, or "". A word
// in capitals is as near as one without.
func Nearest(word string, names []string) string {
	best, least := "", 1<<30
	for _, n := range names {
		if d := min(plain.Distance(word, n, least-1), plain.Distance(strings.ToLower(word), n, least-1)); d < least {
			best, least = n, d
		}
	}
	if best == "" || least > max(1, utf8.RuneCountInString(best)/3) {
		return ""
	}
	return best
}
