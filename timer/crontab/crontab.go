// Package crontab reads tables as in crontab(5) of Debian's cron and of cronie, and says by the
// rules of cron(8) in which minutes an entry runs. It shares no code with timer/when, which tests
// compare it with.
package crontab

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// Entry is a line of a table that runs a command.
type Entry struct {
	Line int
	// five fields, as written except for what only cron understands; or Reboot
	Schedule string
	User     string            // of a system table; empty in the table of a user
	Command  string            // for the shell, with \% as %
	Input    string            // what follows the first %, line by line
	Env      map[string]string // what the lines above it set; never changed
	OnError  bool              // -n: cron reports only failures

	minutes, hours, days, months, weekdays field
}

// Reboot is the Schedule of an entry that runs once after each boot of the machine.
const Reboot = "@reboot"

// Longest is the most bytes of a command and its input in a table of Debian's cron.
const Longest = 998

// Remark says why a line is refused, or how it is read.
type Remark struct {
	Line         int
	Text         string // the line as written
	Reason, Hint string
}

// Table is the content of a file.
type Table struct {
	Entries []Entry
	Refused []Remark
	Notes   []Remark
}

// Of reports whether a text is a system table, which has a user before each command. One of its
// lines then names root there, and no program has that name.
func Of(text string) (line int, system bool) {
	for i, l := range strings.Split(text, "\n") {
		fields := strings.Fields(l)
		at := 5
		if len(fields) > 0 && strings.HasPrefix(fields[0], "@") {
			at = 1
		}
		if len(fields) > at+1 && fields[at] == "root" && !strings.HasPrefix(fields[0], "#") {
			return i + 1, true
		}
	}
	return 0, false
}

// Read reads a table. Each line is an entry, is refused, or runs nothing.
func Read(text string, system bool) Table {
	r := reader{system: system, env: map[string]string{}}
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	lines := strings.Split(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		r.note(len(lines), lines[last], "cron leaves out a last line that has no end; here it counts")
	}
	windows := false
	for i, line := range lines {
		if rest, ok := strings.CutSuffix(line, "\r"); ok {
			if line = rest; !windows {
				windows = true
				r.note(i+1, line, "the lines end as those of Windows do, which cron hands to the shell; here they are taken off")
			}
		}
		r.line(i+1, line)
	}
	return r.Table
}

// reader reads a table line by line.
type reader struct {
	Table
	system bool
	env    map[string]string // replaced by a line that sets a variable
}

func (r *reader) note(number int, line, reason string) {
	r.Notes = append(r.Notes, Remark{Line: number, Text: line, Reason: reason})
}

// blanks separate the fields of a line.
const blanks = " \t"

func (r *reader) line(number int, line string) {
	text := strings.TrimLeft(line, blanks+"\v\f")
	if strings.TrimSpace(text) == "" || text[0] == '#' {
		return
	}
	refuse := func(reason, hint string) { r.Refused = append(r.Refused, Remark{number, line, reason, hint}) }
	if !utf8.ValidString(line) || strings.Contains(line, "\x00") {
		refuse("it is not valid UTF-8", "write the table in UTF-8")
		return
	}
	if name, value, ok := assignment(text); ok {
		r.env = maps.Clone(r.env)
		r.env[name] = value
		if strings.Contains(value, "$") {
			r.note(number, line, "cron does not replace variables in "+name+", and neither is it done here")
		}
		return
	}
	e := Entry{Line: number, Env: r.env}
	if reason, hint := e.read(text, r.system); reason != "" {
		if name, _, has := strings.Cut(text, "="); has && isName(strings.TrimSpace(name)) {
			reason, hint = "it sets a variable, and something stands beside the quotes", "put all of the value between the quotes"
		}
		refuse(reason, hint)
		return
	}
	if strings.Contains(e.Command, `\\`) {
		r.note(number, line, "Debian's cron makes one backslash of two; here both stay, as with cronie")
	}
	r.Entries = append(r.Entries, e)
}

func isName(text string) bool {
	return text != "" && strings.Trim(text, "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// assignment reads a line that sets a variable, as load_env of cron does. Name and value may each
// be in quotes, which must then enclose all of it. Blanks around them do not count.
func assignment(text string) (name, value string, ok bool) {
	name, rest, ok := word(text, "=")
	if !ok || name == "" {
		return "", "", false
	}
	if rest = strings.TrimLeft(rest, blanks); !strings.HasPrefix(rest, "=") {
		return "", "", false
	}
	rest = strings.Trim(rest[1:], blanks+"\v\f\r")
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		value, rest, ok = word(rest, "")
		return name, value, ok && strings.TrimSpace(rest) == ""
	}
	return name, rest, true
}

// word takes a name or a quoted text from the beginning of a line.
func word(text, end string) (word, rest string, ok bool) {
	if text[0] == '"' || text[0] == '\'' {
		i := strings.IndexByte(text[1:], text[0])
		if i < 0 {
			return "", "", false
		}
		word = text[1 : 1+i]
		return word, text[i+2:], end == "" || !strings.Contains(word, end)
	}
	i := strings.IndexAny(text, blanks+end)
	if i < 0 {
		return "", "", false
	}
	return text[:i], text[i:], true
}

// next takes a field from the beginning of a line.
func next(text string) (field, rest string) {
	i := strings.IndexAny(text, blanks)
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimLeft(text[i:], blanks)
}

// read reads the line, or returns why not and what to write.
func (e *Entry) read(text string, system bool) (reason, hint string) {
	text = strings.TrimPrefix(text, "-") // of cronie: the run is not logged
	if strings.HasPrefix(text, "@") {
		e.Schedule, text = next(text)
		if reason, hint = e.macro(); reason != "" {
			return reason, hint
		}
	} else if text, reason, hint = e.fields(text); reason != "" {
		return reason, hint
	}
	if strings.HasPrefix(text, "*") || strings.HasPrefix(text, "? ") {
		return "there is a field where the command should begin: cron has five fields, and no seconds", "leave the seconds out: minute hour day month weekday command"
	}
	if system {
		if e.User, text = next(text); text == "" {
			return "a system table has a user in front of the command, and one of the two is missing", "write minute hour day month weekday user command"
		}
	}
	for strings.HasPrefix(text, "-") { // an option of cronie
		var option string
		if option, text = next(text); option != "-n" {
			return fmt.Sprintf("the option %s is unknown", plain.Quote(option)), "a command does not begin with -"
		}
		e.OnError = true
	}
	if strings.TrimSpace(text) == "" {
		return "it has no command", "write minute hour day month weekday command"
	}
	if e.Command, e.Input = parted(text); strings.TrimSpace(e.Command) == "" {
		return "it has no command in front of the %", `write \% where a percent sign is meant`
	}
	return "", ""
}

// parted splits a text into a command and its standard input, as cron does: the first unescaped %
// ends the command, and later ones end lines. A backslash that does not escape a % stays. In the
// input it escapes the next character only when that is a %.
func parted(text string) (command, input string) {
	var b strings.Builder
	escaped, rest := false, ""
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !escaped && c == '%' {
			if rest = text[i+1:]; rest == "" {
				return b.String(), ""
			}
			break
		}
		if escaped && c != '%' {
			b.WriteByte('\\')
		}
		if escaped || c != '\\' {
			b.WriteByte(c)
		}
		escaped = !escaped && c == '\\'
	}
	if escaped {
		b.WriteByte('\\')
	}
	command = b.String()
	b.Reset()
	escaped = false
	for i := 0; i < len(rest); i++ {
		c := rest[i]
		if escaped && c != '%' {
			b.WriteByte('\\')
		} else if !escaped && c == '%' {
			c = '\n'
		}
		if escaped = c == '\\'; !escaped {
			b.WriteByte(c)
		}
	}
	if escaped {
		b.WriteByte('\\')
	}
	if input = b.String(); input != "" && !strings.HasSuffix(input, "\n") {
		input += "\n"
	}
	return command, input
}

// Joined returns the text in a table for a command and its standard input, which ends with a line
// break. It reports false when no table can say it: with a backslash before a %, or before the end
// of a line of the input.
func Joined(command, input string) (text string, ok bool) {
	text = strings.ReplaceAll(command, "%", `\%`)
	if input != "" {
		lines := input
		if less := strings.TrimSuffix(input, "\n"); less != "" && !strings.HasSuffix(less, "\n") {
			lines = less
		}
		text += "%" + strings.NewReplacer("%", `\%`, "\n", "%").Replace(lines)
	}
	c, in := parted(text)
	return text, c == command && in == input && !strings.Contains(text, "\n")
}
