package guide

import (
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// EveryAnswer returns the forms of the answers of all commands, each once, by name.
func EveryAnswer(cmds []cli.Command) []cli.Shape {
	list := []cli.Shape{errorAnswer}
	for _, c := range cmds {
		for _, a := range c.Answers {
			if !slices.ContainsFunc(list, func(b cli.Shape) bool { return b.Name == a.Name }) {
				list = append(list, a)
			}
		}
	}
	slices.SortFunc(list, func(a, b cli.Shape) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// errorAnswer is the answer of a command that fails as a whole.
var errorAnswer = cli.Shape{Name: "error", Of: cli.FailedJSON{}, Means: "what went wrong, and what to do instead"}
