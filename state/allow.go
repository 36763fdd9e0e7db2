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

// A pattern of commands, as [run] allow has them, is words with spaces between; a space that belongs to a word has a \ before it. The first
// is the program: its absolute path, or the name of one in a folder of the system. Alone it allows every argument. Else each further word
// stands for one argument, whatever is in that, '' for an empty one, and a last word * for all that follow, or none. In words * and ? stand
// for characters but the slash, [a-z] for one of those, and * alone for any argument. In text for a shell they stand for no character by which the shell would
// do more than run the one command: those have to be written.

// systemFolders are where a program is found that a pattern calls by its name. Whose PATH it is found by does not count: that is the
// caller's.
var systemFolders = []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin", "/opt/homebrew/bin"}

// CheckPattern refuses what is no pattern of commands.
func CheckPattern(pattern string) error {
	words := patternWords(pattern)
	if len(words) == 0 || words[0] == emptyWord {
		return fmt.Errorf("%q names no program", pattern)
	}
	if strings.Contains(words[0], "/") && words[0][0] != '/' {
		return fmt.Errorf("%q is neither a name nor an absolute path", words[0])
	}
	if direct := path.Clean(words[0]); direct != words[0] { // no program is called so: Allows is asked for the direct path
		return fmt.Errorf("%q is no direct path; write it as %q", words[0], direct)
	}
	for _, w := range words {
		if _, err := path.Match(w, ""); err != nil {
			return fmt.Errorf("%q is no pattern: a [ is not closed, or a \\ stands last", w)
		}
	}
	return nil
}

// Allows reports whether one of the patterns allows the program, which is given by its absolute path as it is executed, with the arguments.
func Allows(patterns []string, program string, args []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		words := patternWords(pattern)
		return len(words) > 0 && matchProgram(words[0], program) && matchArgs(words[1:], args)
	})
}

// PathOf is a PATH as it counts while there are patterns: of its folders those that they name outright and those of the system, in its
// order, and behind them the others of these. Whoever schedules has no more say in it: else a program of theirs would stand in for one
// that an allowed text or script calls by its name.
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

// patternWords are the words of a pattern, with what they have a \ before as it stands.
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

// Pattern is the narrowest pattern that allows a program with arguments. With some it allows nothing else; without any it allows all
// arguments, as no pattern says that there are none. Not ok: no pattern can name it, as it is not valid UTF-8.
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
	if path.Clean(program) != program || !path.IsAbs(program) { // /usr/bin/../../tmp/x is in none of the folders it names
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

// readsText reports whether an argument says that the next one is text for a shell: -c, or several options in one such as -lc.
func readsText(arg string) bool {
	return arg == "--command" || len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && arg[len(arg)-1] == 'c'
}

// spelledOut reports whether no wildcard of a pattern stands for a character of text that means something to shells: each of them in the
// text is in the pattern, too, which fits.
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

// matchWord holds a word against a pattern of one. A path that leads upwards is only what is said in so many words: * is the name of
// something, not the way out of a folder.
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

// literal reports whether a pattern of a word has no wildcard, so that it is one text in so many words.
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
