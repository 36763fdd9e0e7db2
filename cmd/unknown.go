package cmd

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// unknownCommand refuses a word that is no command, with the nearest one.
func unknownCommand(word string, cmds []command) error {
	names := commandNames(cmds)
	if word == "--" {
		return usage("-- comes before the command", "the command first: ouro-timer at 10:00 -- make backup")
	}
	if strings.HasPrefix(word, "-") {
		return usage("unknown option "+quote(word), "options follow the command: ouro-timer <command> "+word+"; see ouro-timer --help")
	}
	if call := foreignCommand(word); call != "" {
		return usage("unknown command "+quote(word), "did you mean ouro-timer "+call+"?")
	}
	if n := option.Nearest(word, names); n != "" && !strings.ContainsAny(word, "0123456789") { // which no command has
		return usage("unknown command "+quote(word), "did you mean ouro-timer "+n+"?")
	}
	return usage("unknown command "+quote(word), "the commands are "+strings.Join(names, ", "))
}

// timeFirst refuses words that begin with a time, where a command has to be; nil when they do not.
func timeFirst(words []string, now time.Time, cmds []command) error {
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "--json" || w == "-q" || w == "--quiet" })
	end := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "-") && !option.IsNumber(w) })
	if end < 0 {
		end = len(words)
	}
	for n := min(end, longestTime); n > 0; n-- {
		if isTime(strings.Join(words[:n], " "), now) {
			hint := asCall(words[:n], words[n:end], words[end:])
			if other := option.Nearest(words[0], commandNames(cmds)); other != "" && !strings.ContainsAny(words[0], "0123456789") {
				hint += "; or did you mean ouro-timer " + other + "?"
			}
			return usage(quote(strings.Join(words[:n], " "))+" is a time, and the command comes first", hint)
		}
	}
	return nil
}

// isTime reports whether a text is a time, as at or wait reads it; one that is refused because it
// has several readings is.
func isTime(text string, now time.Time) bool {
	for _, seconds := range []bool{false, true} {
		var refused *when.Error
		if _, err := when.Parse(text, when.Options{Now: now, Zone: time.UTC, BareSeconds: seconds}); !errors.As(err, &refused) || refused.Code == when.CodeAmbiguous {
			return true
		}
	}
	return false
}

// asCall says how to call for a time, said in words, with what stands behind it.
func asCall(said, rest, options []string) string {
	at := shellLine(append([]string{"ouro-timer", "at"}, said...))
	wait := "ouro-timer wait " + shellLine(append([]string{strings.Join(said, " ")}, rest...))
	number := strings.Trim(strings.Join(said, " "), "0123456789.") == ""
	switch {
	case number && len(said[0]) != 4: // of seconds, which only wait reads
		return "to wait for so many seconds: " + wait
	case len(options) > 0 && len(rest) > 0:
		return "did you mean " + at + " " + shellLine(append([]string{"--task", strings.Join(rest, " ")}, options...)) + "?"
	case len(options) > 0:
		return "did you mean " + at + " " + shellLine(options) + "?"
	}
	hint := "to be told something then: " + at + " --task TEXT; to run something: " + at + " -- COMMAND"
	if len(rest) > 0 {
		hint = "to be told it then: " + at + " --task " + shellQuote(strings.Join(rest, " ")) + "; to run it: " + at + " -- " + shellLine(rest)
	}
	if !number { // four digits are a time of day to at alone
		hint += "; to wait for it here: " + wait
	}
	return hint
}

// commandNames are the names of the commands that are shown.
func commandNames(cmds []command) []string {
	var names []string
	for _, c := range cmds {
		if !c.hidden {
			names = append(names, c.name)
		}
	}
	return names
}
