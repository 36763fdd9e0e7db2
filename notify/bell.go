package notify

import (
	"strings"
	"unicode/utf8"
)

// bellOf is what makes a terminal ring: the sequence of a notification for the terminal that the
// environment tells of, if it is known to understand one, and else BEL, as a sequence that is not
// understood can show as rubbish. What runs inside tmux or screen speaks to those, and they know no
// notifications.
func bellOf(device string, m Message, env Env) string {
	const bell = "\a"
	if device == "" || device != env.Terminal || env.Getenv("TMUX") != "" || env.Getenv("STY") != "" {
		return bell
	}
	// No control character is in these, so none can end the sequence early. Terminals bound them.
	title, body := m.headline()
	title, body = within(title, 200), within(OneLine(body), 1000)
	const end = "\x1b\\"
	switch kind, program := env.Getenv("TERM"), env.Getenv("TERM_PROGRAM"); {
	case kind == "xterm-kitty" || env.Getenv("KITTY_WINDOW_ID") != "":
		return "\x1b]99;i=ouro:d=0:p=title;" + title + end + "\x1b]99;i=ouro:d=1:p=body;" + body + end
	case kind == "foot" || strings.HasPrefix(kind, "foot-") || program == "WezTerm" || program == "ghostty":
		return "\x1b]777;notify;" + strings.ReplaceAll(title, ";", ",") + ";" + body + end
	case program == "iTerm.app":
		text := m.line()
		if text[0] >= '0' && text[0] <= '9' {
			text = " " + text // 9;4;… is a progress bar
		}
		return "\x1b]9;" + within(text, 1000) + end
	}
	return bell
}

// within cuts text to so many bytes, between letters.
func within(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// line is the message on one line, for a terminal: the subject and how the body begins.
func (m Message) line() string {
	text := OneLine(m.Text())
	if subject := OneLine(m.Subject); subject != "" && text != "" {
		text = subject + ": " + text
	} else if text == "" {
		text = m.Title()
	}
	return shorten(text, 500)
}
