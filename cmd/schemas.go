package cmd

import (
	"slices"
	"strings"
)

// everyAnswer are the shapes of the answers of all commands, each once, by name.
func everyAnswer(cmds []command) []answer {
	list := []answer{errorAnswer}
	for _, c := range cmds {
		for _, a := range c.answers {
			if !slices.ContainsFunc(list, func(b answer) bool { return b.name == a.name }) {
				list = append(list, a)
			}
		}
	}
	slices.SortFunc(list, func(a, b answer) int { return strings.Compare(a.name, b.name) })
	return list
}

// errorAnswer is what every command answers with when it fails as a whole.
var errorAnswer = answer{name: "error", of: failedJSON{}, says: "what went wrong, and what to do instead"}
