package tasks

import (
	"errors"
	"slices"
	"strings"
)

// Why a line cannot be split.
var (
	ErrQuote     = errors.New("a quote is not closed")
	ErrBackslash = errors.New("a backslash stands at the end")
)

// noShell are words that mean something only to a shell.
var noShell = []string{"|", "||", "&", "&&", ";", ">", ">>", "<", "2>", "2>&1", "|&"}

// Words splits a line as a shell would, without being one: it knows quotes and backslashes, and
// nothing else. shell is the first unquoted word that a shell would act on, instead of passing it
// to a program; empty for none.
func Words(line string) (words []string, shell string, err error) {
	var word strings.Builder
	in, quoted := false, false // within a word; a part of it is quoted
	end := func() {
		if w := word.String(); in && !quoted && shell == "" && slices.Contains(noShell, w) {
			shell = w
		}
		if in {
			words = append(words, word.String())
		}
		word.Reset()
		in, quoted = false, false
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\n', '\r':
			end()
		case '\'':
			n := strings.IndexByte(line[i+1:], '\'')
			if n < 0 {
				return nil, "", ErrQuote
			}
			word.WriteString(line[i+1 : i+1+n])
			in, quoted = true, true
			i += n + 1
		case '"':
			in, quoted = true, true
			for i++; i < len(line) && line[i] != '"'; i++ {
				if line[i] == '\\' && i+1 < len(line) && strings.IndexByte("\"\\$`", line[i+1]) >= 0 {
					i++
				}
				word.WriteByte(line[i])
			}
			if i >= len(line) {
				return nil, "", ErrQuote
			}
		case '\\':
			if i++; i >= len(line) {
				return nil, "", ErrBackslash
			}
			word.WriteByte(line[i])
			in, quoted = true, true
		default:
			word.WriteByte(c)
			in = true
		}
	}
	end()
	return words, shell, nil
}
