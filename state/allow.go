package state

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A pattern of commands, as in [run] allow, is a list of words with spaces between them. A
// backslash makes the space after it part of the word.
//
// The first word is the program: its absolute path, or its name if it is in one of the system's
// folders. A pattern of one word allows all arguments. Otherwise each further word stands for one
// argument, '' stands for an empty argument, and * as the last word stands for any number of
// arguments.
//
// In a word, * and ? stand for any characters except the slash, [a-z] stands for one character of
// the range, and a word that is only * stands for any argument. In text for a shell, wildcards
// never match a character with which the shell would do more than run one command. A pattern has to
// spell out such characters.

// systemFolders are the folders in which a program is found that a pattern calls by its name. PATH
// does not count, because the caller sets it.
var systemFolders = []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin", "/opt/homebrew/bin"}

// CheckPattern refuses text that is not a pattern of commands.
func CheckPattern(pattern string) error {
	words := patternWords(pattern)
	if len(words) == 0 || words[0] == emptyWord {
		return fmt.Errorf("%q names no program", pattern)
	}
	if strings.Contains(words[0], "/") && words[0][0] != '/' {
		return fmt.Errorf("%q is neither a name nor an absolute path", words[0])
	}
	// Allows compares with the cleaned path, so this pattern would never match
	if direct := path.Clean(words[0]); direct != words[0] {
		return fmt.Errorf("%q is not a direct path; write it as %q", words[0], direct)
	}
	for _, w := range words {
		if _, err := path.Match(w, ""); err != nil {
			return fmt.Errorf("%q is not a pattern: a [ is not closed, or a \\ stands last", w)
		}
	}
	return nil
}

// Allows reports whether one of the patterns allows the program with these arguments. The program
// is the absolute path that is executed.
func Allows(patterns []string, program string, args []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		words := patternWords(pattern)
		return len(words) > 0 && matchProgram(words[0], program) && matchArgs(words[1:], args)
	})
}

// PathOf returns the PATH that commands get while there are patterns. It keeps the order of the
// given PATH, but only the folders that the patterns name outright and those of the system. The
// other folders of these two kinds follow. The caller cannot add others: a program of theirs could
// otherwise replace one that an allowed text or script calls by its name.
func PathOf(patterns []string, given string) string {
	var trusted, folders []string
	for _, pattern := range patterns {
		words := patternWords(pattern)
		if len(words) == 0 || words[0][0] != '/' {
			continue
		}
		if dir := path.Dir(words[0]); !strings.ContainsAny(dir, `*?[\:`) {
			trusted = append(trusted, dir)
		}
	}
	trusted = append(trusted, systemFolders...)
	for _, dir := range append(strings.Split(given, ":"), trusted...) {
		if !slices.Contains(folders, dir) && slices.Contains(trusted, dir) {
			folders = append(folders, dir)
		}
	}
	return strings.Join(folders, ":")
}

// patternWords splits a pattern into words and takes out the backslashes.
func patternWords(pattern string) (words []string) {
	var word strings.Builder
	escaped := false
	for _, r := range pattern {
		if !escaped && unicode.IsSpace(r) {
			if word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			continue
		}
		word.WriteRune(r)
		escaped = !escaped && r == '\\'
	}
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// emptyWord is the word of a pattern that stands for an empty argument.
const emptyWord = "''"

// Pattern returns the narrowest pattern that allows a program with arguments. With arguments, it
// allows nothing else. Without arguments, it allows all of them, because no pattern can say that
// there are none. It is not ok if the program or an argument is not valid UTF-8, which no pattern
// can name.
func Pattern(program string, args []string) (pattern string, ok bool) {
	var words []string
	for _, arg := range append([]string{program}, args...) {
		if !utf8.ValidString(arg) {
			return "", false
		}
		var b strings.Builder
		for _, r := range arg {
			if unicode.IsSpace(r) || strings.ContainsRune(`*?[\`, r) || arg == emptyWord {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
		words = append(words, cmp.Or(b.String(), emptyWord))
	}
	return strings.Join(words, " "), true
}

func matchProgram(word, program string) bool {
	// /usr/bin/../../tmp/x is not in /usr/bin
	if path.Clean(program) != program || !path.IsAbs(program) {
		return false
	}
	if !strings.Contains(word, "/") {
		return slices.Contains(systemFolders, path.Dir(program)) && matchWord(word, path.Base(program))
	}
	return matchWord(word, program)
}

func matchArgs(words, args []string) bool {
	if len(words) == 0 {
		return true
	}
	for i, w := range words {
		switch {
		case w == "*" && i == len(words)-1:
			return true
		case i >= len(args) || w != "*" && !matchWord(w, args[i]):
			return false
		case w != "*" && i > 0 && readsText(args[i-1]) && !spelledOut(w, args[i]):
			return false
		}
	}
	return len(words) == len(args)
}

// readsText reports whether the argument after this one is text for a shell: this one is -c, or
// several options in one such as -lc.
func readsText(arg string) bool {
	return arg == "--command" || len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && arg[len(arg)-1] == 'c'
}

// spelledOut reports whether the pattern spells out each character of the text that means something
// to shells, so that no wildcard stands for one. The pattern is known to match the text.
func spelledOut(pattern, text string) bool {
	const special = ";&|<>()$`'\"\\#\n\r"
	count := map[rune]int{}
	for _, r := range text {
		if strings.ContainsRune(special, r) {
			count[r]++
		}
	}
	escaped := false
	for _, r := range pattern {
		if escaped = !escaped && r == '\\'; !escaped && strings.ContainsRune(special, r) {
			count[r]--
		}
	}
	for _, n := range count {
		if n > 0 {
			return false
		}
	}
	return true
}

// matchWord reports whether a pattern of one word matches a word. A path that leads upwards only
// matches a pattern that spells it out: * stands for a name, not for the way out of a folder.
func matchWord(pattern, text string) bool {
	if pattern == emptyWord {
		return text == ""
	}
	ok, err := path.Match(pattern, text)
	if err != nil || !ok {
		return false
	}
	return literal(pattern) || !slices.Contains(strings.Split(text, "/"), "..")
}

// literal reports whether a word of a pattern has no wildcard.
func literal(pattern string) bool {
	escaped := false
	for _, r := range pattern {
		if !escaped && strings.ContainsRune("*?[", r) {
			return false
		}
		escaped = !escaped && r == '\\'
	}
	return true
}
