package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
)

// speaker writes what the command line says in the words of tools: commands as the tools that stand for them, options as arguments.
type speaker struct{ tools []*tool }

// standing is the tool that stands for a command, and what it is called with beside what the command says; nil for none.
func (s speaker) standing(command string) (*tool, map[string]any) {
	name, with := command, map[string]any{}
	switch command {
	case "show":
		name = "ls"
	case "ack":
		name = "inbox"
	case "pause", "resume", "restore":
		name, with["action"] = "edit", command
	}
	for _, t := range s.tools {
		if t.command == name {
			return t, with
		}
	}
	return nil, nil
}

// Object says what the command at says of its options in the words of the object that can stand for
// a call of it: it is a tool without a name.
type Object struct{ speaker }

// NewObject makes one of the options that the object has as keys.
func NewObject(flags []Flag) Object {
	t := &tool{command: "at"}
	t.learn(func(string) []Flag { return flags })
	return Object{speaker{[]*tool{t}}}
}

// Tell translates a sentence that says what happened: options are called by their keys. Commands
// other than at stay as they are typed.
func (o Object) Tell(text string) string { return o.tell(o.tools[0], text) }

// Advise translates a sentence that says what to do: the value of an option is written with its
// key.
func (o Object) Advise(text string) string { return o.advise(o.tools[0], text) }

// tell translates a sentence that says what happened in a call of the tool.
func (s speaker) tell(t *tool, text string) string { return s.speak(t, text, false) }

// advise translates a sentence that says what to do.
func (s speaker) advise(t *tool, text string) string { return s.speak(t, text, true) }

// speak translates a sentence of a call of the tool, with the values of options or without.
func (s speaker) speak(t *tool, text string, values bool) string {
	const program = "ouro-timer "
	if t.command == "at" && t.name != "" { // to which the arguments are handed on as an object
		text = strings.TrimPrefix(text, "standard input: ")
	}
	var b strings.Builder
	for {
		i := unquoted(text, program)
		if i < 0 {
			b.WriteString(t.flagsIn(text, values))
			return b.String()
		}
		b.WriteString(t.flagsIn(text[:i], values))
		rest := text[i+len(program):]
		command, behind := rest, ""
		if end := strings.IndexFunc(rest, func(r rune) bool { return (r < 'a' || r > 'z') && r != '-' }); end >= 0 {
			command, behind = rest[:end], rest[end:]
		}
		other, with := s.standing(command)
		line, rest := commandWords(behind)
		text = rest
		if other == nil {
			b.WriteString(program + command + line)
			continue
		}
		args, left, ok := other.inverse(command, behind, with)
		switch {
		case !ok:
			b.WriteString(cmp.Or(other.name, program+command) + line)
		case len(args) > 0:
			b.WriteString(strings.TrimSpace(other.name + " " + plain(args)))
			text = left
		default:
			b.WriteString(cmp.Or(other.name, program+command))
			text = left
		}
	}
}

// commandWords parts what stands behind the name of a command in a sentence into its words and the
// rest of the sentence. Words of a command that is not translated are left alone.
func commandWords(behind string) (line, rest string) {
	left := behind
	for left != "" && left[0] == ' ' {
		word, more, quoted, stop := shellWord(left[1:])
		if endsCommand(word, quoted) {
			break
		}
		if left = more; stop {
			break
		}
	}
	return behind[:len(behind)-len(left)], left
}

// endsCommand reports whether a word in a sentence is none of the command before it.
func endsCommand(word string, quoted bool) bool {
	return !quoted && (word == "" || slices.Contains(afterwards, word) || word == "|" || word == "...")
}

// quotedTo is where the quoted text ends that begins at i, and i when none begins there. What is
// quoted are somebody's words, such as a command: a sentence is translated around it. An apostrophe
// within a word quotes nothing.
func quotedTo(text string, i int) int {
	quote := text[i]
	if quote != '"' && quote != '\'' || i > 0 && strings.IndexByte(" (=[{:,", text[i-1]) < 0 {
		return i
	}
	for end := i + 1; end < len(text); end++ {
		switch {
		case quote == '"' && text[end] == '\\':
			end++
		case quote == '\'' && strings.HasPrefix(text[end:], `'\''`): // an apostrophe, as sh has it
			end += 3
		case text[end] == quote:
			return end + 1
		}
	}
	return i
}

// unquoted is where a part of a sentence begins that stands in no quotes; -1 for nowhere.
func unquoted(text, part string) int {
	for i := 0; i < len(text); i++ {
		if strings.HasPrefix(text[i:], part) {
			return i
		}
		if end := quotedTo(text, i); end > i {
			i = end - 1
		}
	}
	return -1
}

// reworded writes a sentence with the options in it in other words: say gets each option with what
// follows it, and returns the words for it and how much of what follows they stand for; false
// leaves the option as it is. What is quoted stays as it is.
func reworded(text string, say func(option, behind string) (words string, used int, ok bool)) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		end := quotedTo(text, i)
		if end == i && (text[i] != '-' || i > 0 && text[i-1] != ' ' && text[i-1] != '(') {
			end++
		}
		if end > i {
			b.WriteString(text[i:end])
			i = end
			continue
		}
		for end < len(text) && (text[end] == '-' || text[end] >= 'a' && text[end] <= 'z') {
			end++
		}
		words, used, ok := say(text[i:end], text[end:])
		if !ok {
			words, used = text[i:end], 0
		}
		b.WriteString(words)
		i = end + used
	}
	return b.String()
}

// flagsIn writes the options in a piece of a sentence as the arguments of the tool, and with them
// the values that stand behind them.
func (t *tool) flagsIn(text string, values bool) string {
	return reworded(text, func(option, behind string) (string, int, bool) {
		const command = " COMMAND"
		if _, takes := t.kinds["command"]; option == "--" && strings.HasPrefix(behind, command) && (takes || t.name == "") {
			return `"command"`, len(command), true
		}
		name := t.argument(option)
		if name == "" {
			return "", 0, false
		}
		value, used := t.value(name, behind)
		if used == 0 || !values {
			return plain(name), 0, true
		}
		return plain(name) + ": " + t.written(name, value), used, true
	})
}

// aValue is what a word behind an option looks like that can be nothing but its value: a place for
// one, such as NAME or NAME=VALUE, a number, an address.
var aValue = regexp.MustCompile(`^(?s:[A-Z][A-Z_]*(=[A-Z]+)?|\d.*|[^ ]+[:@/=.][^ ]+)$`)

// value is the value that stands behind an option in a sentence, and how much of the sentence that
// is; 0 where the sentence goes on.
func (t *tool) value(name, behind string) (value string, used int) {
	if len(behind) < 2 || behind[0] != ' ' && behind[0] != '=' || t.kinds[name] == Truth {
		return "", 0
	}
	if end := quotedTo(behind, 1); end > 1 {
		inner := behind[2 : end-1]
		if behind[1] == '\'' {
			return strings.ReplaceAll(inner, `'\''`, "'"), end
		}
		return strings.ReplaceAll(inner, `\"`, `"`), end
	}
	word, rest, quoted, stop := shellWord(behind[1:])
	switch {
	case quoted:
		return "", 0
	case behind[0] == '=', aValue.MatchString(word), slices.Contains(t.values[name], word):
	case !stop || !aName.MatchString(word) || slices.Contains(afterwards, word) || slices.Contains(notValues, word):
		return "", 0
	}
	return word, len(behind) - len(rest)
}

// aName is a word that may be a value, such as the name of a key, when a sentence pauses behind it;
// notValues are words that end a sentence, or a part of one, behind an option: leave --spread out.
var (
	aName     = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)
	notValues = strings.Fields("out instead alone too again also first then there itself it them names does did tells leases takes one none")
)

// written is a value of an argument as JSON has it.
func (t *tool) written(name, value string) string {
	switch kind := t.kinds[name]; kind {
	case Whole:
		if x, err := coerce(name, value, kind); err == nil {
			return plain(x)
		}
		return value // a word that stands for one
	case Texts, Names:
		return plain([]string{value})
	case Pairs:
		if variable, text, ok := strings.Cut(value, "="); ok {
			return plain(map[string]string{variable: text})
		}
		return plain([]string{value})
	}
	return plain(value)
}

// argument is the argument that stands for an option; empty for none.
func (t *tool) argument(option string) string {
	flag := strings.TrimLeft(option, "-")
	switch {
	case flag == "":
		return ""
	case flag == "max" && t.blocks:
		return maxSeconds
	}
	for name, f := range t.flags {
		if f == flag {
			return name
		}
	}
	if name := strings.ReplaceAll(flag, "-", "_"); len(flag) > 1 {
		if other := t.also[name]; other != "" {
			name = other
		}
		if _, known := t.kinds[name]; known {
			return name
		}
	}
	return map[string]string{"-f": "file", "-n": "number", "-d": "description"}[option]
}

// afterwards are the words with which a sentence goes on after a command.
var afterwards = strings.Fields("shows says ends has gives undoes schedules lets cancels narrows is needs takes keeps and or then called those")

// inverse reads the words of a command line as the arguments of the tool. What is left of the sentence is returned; ok is false when the
// words are not understood.
func (t *tool) inverse(command, line string, with map[string]any) (args map[string]any, left string, ok bool) {
	args = with
	var plainWords, tail []string
	dash := false
	left = line
	for left != "" && left[0] == ' ' {
		word, rest, quoted, stop := shellWord(left[1:])
		if endsCommand(word, quoted) {
			break
		}
		left = rest
		switch {
		case dash:
			tail = append(tail, word)
		case word == "--" && !quoted:
			dash = true
		case strings.HasPrefix(word, "-") && !quoted && word != "-" && (word[1] < '0' || word[1] > '9'):
			option, value, has := strings.Cut(word, "=")
			name := t.argument(option)
			if option == "--json" {
				break
			}
			if name == "" {
				return nil, "", false
			}
			if kind := t.kinds[name]; kind == Truth || name == "take" && !has {
				args[name] = true
				break
			}
			if !has {
				if left == "" || stop {
					return nil, "", false
				}
				value, left, _, stop = shellWord(left[1:])
			}
			x, err := coerce(name, value, t.kinds[name])
			if err != nil {
				x = value // a word that stands for one, such as N
			}
			args[name] = x
		default:
			plainWords = append(plainWords, word)
		}
		if stop {
			break
		}
	}
	return args, left, t.place(command, plainWords, tail, dash, args)
}

// place puts the words of a command that are no options where the tool has them.
func (t *tool) place(command string, words, tail []string, dash bool, args map[string]any) bool {
	first := func(name string) bool {
		if len(words) > 0 {
			args[name], words = words[0], words[1:]
		}
		return true
	}
	rest := func(name string) bool {
		if len(words) > 0 {
			args[name] = strings.Join(words, " ")
		}
		return true
	}
	list := func(name string, all []string) bool {
		if len(all) > 0 {
			args[name] = all
		}
		return true
	}
	switch command {
	case "wait":
		return first("when") && rest("task")
	case "at":
		return rest("when") && list("command", tail)
	case "edit":
		return first("id") && rest("when") && list("command", tail)
	case "when":
		return rest("when")
	case "show", "log", "pause", "resume", "restore":
		return first("id") && len(words) == 0
	case "rm":
		return list("ids", words)
	case "ack":
		return list("ack", words)
	case "inbox":
		return list("ids", words)
	case "health-wait":
		return list("targets", words) && !dash
	case "notify":
		return rest("body")
	}
	return len(words) == 0
}

// shellWord takes the first word off a line as sh would read it. stop says that a sign follows which ends the command in a sentence.
func shellWord(line string) (word, rest string, quoted, stop bool) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\'' || c == '"':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				b.WriteByte(c)
				continue
			}
			b.WriteString(line[i+1 : i+1+end])
			quoted = true
			i += end + 1
		case c == '\\' && i+1 < len(line):
			i++
			b.WriteByte(line[i])
		case c == ' ':
			return b.String(), line[i:], quoted, false
		case strings.IndexByte(";,:)?", c) >= 0 && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == ';'):
			return b.String(), line[i:], quoted, true
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), "", quoted, true
}

// spoken are the fields of answers whose texts are sentences for whoever called.
var spoken = []string{"message", "hint", "warnings"}

// rewrite translates the sentences in an answer and adds fields at its end; everything else stays as it is, and in its order.
func (s speaker) rewrite(t *tool, answer []byte, more map[string]any) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	var b bytes.Buffer
	message := "" // the last one, which the hint behind it is about
	if err := copyJSON(d, &b, false, func(key, text string) string {
		if !slices.Contains(spoken, key) {
			return text
		}
		switch key {
		case "message":
			message = s.tell(t, text)
			return message
		case "hint":
			return t.unsaid(message, s.advise(t, text))
		}
		return s.advise(t, text)
	}); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, io.ErrUnexpectedEOF
	}
	text := b.Bytes()
	if len(text) == 0 || text[len(text)-1] != '}' {
		return nil, io.ErrUnexpectedEOF
	}
	for name, v := range more {
		text = append(text[:len(text)-1], ","+plain(name)+":"+plain(v)+"}"...)
	}
	return text, nil
}

// unsaid is the hint to leave an argument out, with what it is then: the tool may say something for it that is not what the command line does.
func (t *tool) unsaid(message, hint string) string {
	const leave = "leave it out for "
	for name, usual := range t.most {
		if strings.HasPrefix(message, `"`+name+`" `) && strings.HasPrefix(hint, leave) {
			return leave + usual
		}
	}
	return hint
}

// lean is the object without what is null in it.
func lean(object []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	var b bytes.Buffer
	if copyJSON(d, &b, true, func(_, text string) string { return text }) != nil {
		return object
	}
	return b.Bytes()
}

// copyJSON copies one value in its order, but for fields that are null if bare. say is called for each text, with the field that it is in.
func copyJSON(d *json.Decoder, b *bytes.Buffer, bare bool, say func(key, text string) string) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	var value func(token json.Token, key string) error
	value = func(token json.Token, key string) error {
		delim, nested := token.(json.Delim)
		if !nested {
			if text, ok := token.(string); ok {
				token = say(key, text)
			}
			b.WriteString(plain(token))
			return nil
		}
		b.WriteString(delim.String())
		begun := false
		for d.More() {
			token, err := d.Token()
			if err != nil {
				return err
			}
			name := ""
			if delim == '{' {
				key, _ = token.(string)
				if token, err = d.Token(); err != nil {
					return err
				}
				if bare && token == nil {
					continue
				}
				name = plain(key) + ":"
			}
			if begun {
				b.WriteByte(',')
			}
			begun = true
			b.WriteString(name)
			if err := value(token, key); err != nil {
				return err
			}
		}
		end, err := d.Token()
		if err != nil {
			return err
		}
		b.WriteString(end.(json.Delim).String())
		return nil
	}
	return value(token, "")
}
