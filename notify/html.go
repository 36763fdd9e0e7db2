package notify

import (
	"html"
	"strings"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

var (
	unseen    = pattern(`(?is)<!--.*?(-->|$)|<(script|style|head|title)\b[^>]*>.*?(</(script|style|head|title)\s*>|$)`)
	link      = pattern(`(?is)<a\b[^>]*?\bhref\s*=\s*("[^"]*"|'[^']*'|[^\s>]+)[^>]*>(.*?)</a\s*>`)
	item      = pattern(`(?i)<li\b[^>]*>`)
	cell      = pattern(`(?i)</t[dh]\s*>`)
	lineBreak = pattern(`(?i)<(br|/?p|/?div|/?h[1-6]|/?ul|/?ol|/?table|/?tr|/li|/?blockquote|/?pre|hr|/?section|/?article)\b[^>]*>`)
	tag       = pattern(`(?s)<[a-zA-Z/!?][^>]*>`)
	spaces    = pattern(`[ \t\r\n\f\x{a0}]+`)
	gaps      = pattern(`\n{3,}`)
)

// plainText returns the text of an HTML body, for mail programs and channels that do not show HTML.
// Paragraphs, list items and rows become lines, and the target of a link follows its text.
func plainText(source string) string {
	text := unseen().ReplaceAllString(source, " ")
	text = spaces().ReplaceAllString(text, " ")
	text = link().ReplaceAllStringFunc(text, func(s string) string {
		m := link().FindStringSubmatch(s)
		to := strings.Trim(m[1], `"'`)
		shown := strings.TrimSpace(tag().ReplaceAllString(m[2], ""))
		switch {
		case shown == "" || shown == to:
			return to
		case strings.HasPrefix(to, "#"):
			return m[2]
		}
		return m[2] + " (" + to + ")"
	})
	text = item().ReplaceAllString(text, "\n- ")
	text = cell().ReplaceAllString(text, "  ")
	text = lineBreak().ReplaceAllString(text, "\n")
	text = html.UnescapeString(tag().ReplaceAllString(text, ""))
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.TrimSpace(gaps().ReplaceAllString(strings.Join(lines, "\n"), "\n\n"))
}

// Text returns the body as plain text.
func (m Message) Text() string {
	if m.HTML {
		return plainText(m.Body)
	}
	return m.Body
}

// Title returns the subject, or the first line of the body, cut to the length of a line of mail.
func (m Message) Title() string {
	if subject := OneLine(m.Subject); subject != "" {
		return subject
	}
	for line := range strings.Lines(m.Text()) {
		if line = OneLine(line); line != "" {
			return plain.Cut(line, 78)
		}
	}
	return userAgent
}

// headline returns a title and the text below it. A first line that is the title is not repeated.
func (m Message) headline() (title, rest string) {
	title, rest = m.Title(), strings.TrimSpace(m.Text())
	if m.Subject != "" {
		return title, rest
	}
	if first, below, _ := strings.Cut(rest, "\n"); OneLine(first) == title {
		rest = strings.TrimSpace(below)
	}
	return title, rest
}
