// Package fault is the refusal of a time expression: its code, its message, and what to type
// instead.
package fault

import (
	"strconv"
	"strings"
	"time"
)

// Error is a refusal. Code is part of the command line's contract.
type Error struct {
	Code    string // one of the Code constants
	Message string // what happened, one line, lower case, no full stop
	Hint    string // what to type instead, one line; may be empty
	// The options, by name, with which the hint ends. The caller writes them as its surface does.
	Options    []string
	Candidates []Candidate

	// Texts that the hint offers, to be typed instead of this one. Parse makes candidates of them.
	Instead []string
	// The hint becomes an offer of those that are understood, and stays when none is.
	SayInstead bool
}

func (e *Error) Error() string { return e.Message }

// Candidate is a reading that can be pasted instead of a text, and its instant.
type Candidate struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// The codes of an Error.
const (
	CodeNotUnderstood = "time_not_understood"
	CodePast          = "time_in_past"
	CodeAmbiguous     = "time_ambiguous"
	CodeNever         = "time_never"
	CodeZone          = "zone_unknown"
	CodeUsage         = "usage"
	CodeLimit         = "limit" // understood so far, but longer or more than may be read
)

// Quoted returns a text as errors name it: escaped, and cut when it is long.
func Quoted(text string) string {
	const most = 80
	if len(text) > most {
		cut := most
		for cut > 0 && text[cut]&0xC0 == 0x80 {
			cut--
		}
		text = text[:cut] + "…"
	}
	return strconv.Quote(text)
}

// QuotedOr returns a list of texts to choose from.
func QuotedOr(texts []string) string { return strings.Join(QuotedAll(texts), " or ") }

// QuotedAll returns each of some texts as a string of Go.
func QuotedAll(texts []string) []string {
	list := make([]string, len(texts))
	for i, text := range texts {
		list[i] = strconv.Quote(text)
	}
	return list
}
