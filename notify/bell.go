package notify

import (
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// bellFor returns what makes a terminal ring. It is the notification sequence of the terminal that
// the environment names, if that terminal is known to understand one. Otherwise it is BEL, because
// a sequence that is not understood can show as rubbish. Inside tmux or screen it is BEL as well:
// they do not understand notifications.
func bellFor(device string, m Message, env Env) string {
	const bell = "\a"
	if device == "" || device != env.Terminal || env.Getenv("TMUX") != "" || env.Getenv("STY") != "" {
		return bell
	}
	// These have no control characters, so none can end the sequence early. Terminals bound their
	// length.
	title, body := m.headline()
	title, body = cutBytes(title, 200), cutBytes(OneLine(body), 1000)
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
		return "\x1b]9;" + cutBytes(text, 1000) + end
	}
	return bell
}

// cutBytes cuts a text to a number of bytes, between characters.
func cutBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// line returns the message on one line, for a terminal: the subject and the beginning of the body.
func (m Message) line() string {
	text := OneLine(m.Text())
	if subject := OneLine(m.Subject); subject != "" && text != "" {
		text = subject + ": " + text
	} else if text == "" {
		text = m.Title()
	}
	return plain.Cut(text, 500)
}
