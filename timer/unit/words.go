package unit

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Command is what an Exec setting starts.
type Command struct {
	Words  []string
	Spared bool     // with -: a failure of it does not count
	Unset  []string // variables that nobody sets, for which nothing stands
}

// Commands reads the value of an Exec setting. The unit is called name, and its commands have the
// variables env. Its error says what of it cannot be had without systemd.
func (m Manager) Commands(text, name string, env map[string]string) (list []Command, err error) {
	raw, plain, err := split(text)
	if err != nil {
		return nil, err
	}
	var c Command
	literal, begun := false, false
	end := func() error {
		if len(c.Words) == 0 {
			return errors.New("it has no command")
		}
		list = append(list, c)
		c, literal, begun = Command{}, false, false
		return nil
	}
	for i, word := range raw {
		if word == ";" && plain[i] {
			if err := end(); err != nil {
				return nil, err
			}
			continue
		}
		if !begun {
			for word != "" && strings.ContainsRune("-:@+!|", rune(word[0])) {
				switch word[0] {
				case '-':
					c.Spared = true
				case ':':
					literal = true
				default:
					return nil, fmt.Errorf("the prefix %q changes how it is started", word[:1])
				}
				word = word[1:]
			}
			if begun = true; strings.Contains(word, "$") {
				return nil, fmt.Errorf("the program %s has a variable in its name", word)
			}
		}
		if word, err = m.Fill(word, name); err != nil {
			return nil, err
		}
		if literal {
			c.Words = append(c.Words, word)
			continue
		}
		words, err := c.expand(word, env)
		if err != nil {
			return nil, err
		}
		c.Words = append(c.Words, words...)
	}
	return list, end()
}

// Pairs reads the value of Environment=.
func (m Manager) Pairs(text, name string, each func(name, value string)) error {
	words, _, err := split(text)
	if err != nil {
		return err
	}
	for _, word := range words {
		if word, err = m.Fill(word, name); err != nil {
			return err
		}
		variable, value, assigned := strings.Cut(word, "=")
		if !assigned || !variables().MatchString(variable) {
			return fmt.Errorf("%q is no NAME=VALUE", word)
		}
		each(variable, value)
	}
	return nil
}

var variables = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// given are variables that systemd sets when it starts a command, by what their names begin with.
var given = []string{"INVOCATION_ID", "JOURNAL_STREAM", "MAINPID", "MANAGERPID", "SYSTEMD_", "RUNTIME_DIRECTORY", "STATE_DIRECTORY", "CACHE_DIRECTORY",
	"LOGS_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "LISTEN_", "TRIGGER_", "SERVICE_RESULT", "EXIT_", "MONITOR_",
	"WATCHDOG_", "PIDFILE", "REMOTE_", "LANG", "LC_", "TERM", "XDG_", "DBUS_"}

// expand puts in variables: a word $NAME becomes the words of its value, ${NAME} the value. Other $
// stay, and $$ is one.
func (c *Command) expand(word string, env map[string]string) ([]string, error) {
	value := func(name string) (string, error) {
		if v, has := env[name]; has {
			return v, nil
		}
		for _, own := range given {
			if strings.HasPrefix(name, own) {
				return "", fmt.Errorf("$%s is set by systemd", name)
			}
		}
		c.Unset = append(c.Unset, name)
		return "", nil
	}
	if len(word) > 1 && word[0] == '$' && word[1] != '{' && word[1] != '$' {
		if !variables().MatchString(word[1:]) {
			return nil, fmt.Errorf("the word %s begins like a variable, and systemd leaves it out", word)
		}
		v, err := value(word[1:])
		if err != nil {
			return nil, err
		}
		words, _, err := split(v)
		return words, err
	}
	var b strings.Builder
	for i := 0; i < len(word); i++ {
		switch {
		case word[i] == '$' && i+1 < len(word) && word[i+1] == '$':
			i++
			b.WriteByte('$')
		case word[i] == '$' && i+1 < len(word) && word[i+1] == '{':
			name, _, closed := strings.Cut(word[i+2:], "}")
			if !closed || !variables().MatchString(name) {
				return nil, fmt.Errorf("%s is not a variable for systemd", word[i:])
			}
			v, err := value(name)
			if err != nil {
				return nil, err
			}
			b.WriteString(v)
			i += len(name) + 2
		default:
			b.WriteByte(word[i])
		}
	}
	return []string{b.String()}, nil
}

// escapes are those of C that systemd reads.
var escapes = map[byte]string{'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v", 's': " ", '\\': `\`, '"': `"`, '\'': "'"}

// split is a line in words, with quotes and escapes as systemd.syntax(7) has them. Plain are those
// that had none.
func split(text string) (words []string, plain []bool, err error) {
	var word strings.Builder
	quote, begun, bare := byte(0), false, true
	end := func() {
		if begun {
			words, plain = append(words, word.String()), append(plain, bare)
		}
		word.Reset()
		begun, bare = false, true
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\':
			begun, bare = true, false
			rest := text[i+1:]
			digits, base, size := 0, 16, 0
			switch {
			case rest == "":
				return nil, nil, errors.New(`it ends with a \`)
			case rest[0] == ';' && quote == 0:
				word.WriteByte(';')
				i++
				continue
			case escapes[rest[0]] != "":
				word.WriteString(escapes[rest[0]])
				i++
				continue
			case rest[0] == 'x':
				digits, size = 1, 2
			case rest[0] == 'u':
				digits, size = 1, 4
			case rest[0] == 'U':
				digits, size = 1, 8
			case rest[0] >= '0' && rest[0] <= '7':
				base, size = 8, 3
			}
			n, err := uint64(0), errors.New("no digits")
			if size > 0 && len(rest) >= digits+size {
				n, err = strconv.ParseUint(rest[digits:digits+size], base, 32)
			}
			if err != nil || n == 0 {
				return nil, nil, fmt.Errorf("systemd knows no escape %s", text[i:min(i+2, len(text))])
			}
			if size == 2 || base == 8 {
				word.WriteByte(byte(n))
			} else {
				word.WriteRune(rune(n))
			}
			i += digits + size
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, begun, bare = c, true, false
		case quote == 0 && strings.IndexByte(" \t\n\r", c) >= 0:
			end()
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	if quote != 0 {
		return nil, nil, errors.New("a quote is not closed")
	}
	end()
	return words, plain, nil
}
