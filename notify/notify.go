// Package notify tells somebody: one file for each kind of channel. It is given the text and where it goes; it knows
// nothing of tasks and schedules, and what it is given never reaches a terminal raw.
package notify

import (
	"fmt"
	"strings"
	"unicode"
)

// Plain is text as it may be sent to a terminal: control characters are written out, but for the line breaks between
// lines. Nothing in a message can move the cursor or set a title.
func Plain(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		switch {
		case r == '\n':
			b.WriteRune(r)
		case r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r), r == 0x2028, r == 0x2029, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
