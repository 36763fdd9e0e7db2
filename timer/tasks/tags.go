package tasks

import (
	"slices"
	"strings"
	"unicode"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

const (
	maxTags = 20 // per task
	maxTag  = 50 // bytes
)

// tags replaces the tags of the task with those of the request.
func (c *Change) tags() error {
	if c.Tags == nil {
		return nil
	}
	list, err := ReadTags(c.Tags)
	if err != nil {
		return err
	}
	if len(list) > maxTags {
		return problem.Of(problem.T("a task has %d tags at most, and these are %d", maxTags, len(list)), problem.T("leave some out"))
	}
	c.Task.Tags = list
	return nil
}

// places sets the nodes and labels on which the task may run.
func (c *Change) places() error {
	for _, on := range c.On {
		if on != state.AnyNode && !state.NodeWord(on) {
			return problem.Of(problem.T("%s %s is not a node or a label", problem.Option("on"), plain.Quote(on)),
				problem.T("give the name of one, a label of several, or %s", problem.Set("on", state.AnyNode)))
		}
	}
	if c.On != nil {
		c.Task.On = slices.Compact(slices.Sorted(slices.Values(c.On)))
	}
	return nil
}

// ReadTags returns the tags of a request, each once and in order. An empty text is no tag.
func ReadTags(said []string) (list []string, err error) {
	for _, tag := range said {
		tag = strings.TrimSpace(tag)
		odd := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == ',' }
		switch {
		case tag == "":
			continue
		case strings.IndexFunc(tag, odd) >= 0:
			return nil, problem.Of(problem.T("%s %s is more than one word", problem.Option("tag"), plain.Quote(tag)),
				problem.T("a tag has no blanks and no commas; give several one by one: %s", problem.Set("tag", "home")))
		case len(tag) > maxTag:
			return nil, problem.Of(problem.T("%s takes %d bytes at most, and this one has %d", problem.Option("tag"), maxTag, len(tag)), problem.T("give a short word, such as %s", problem.Set("tag", "home")))
		}
		list = append(list, tag)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// Tagged reports whether a task has all of the tags, regardless of case.
func Tagged(t state.Task, tags []string) bool {
	return !slices.ContainsFunc(tags, func(tag string) bool {
		return !slices.ContainsFunc(t.Tags, func(has string) bool { return strings.EqualFold(has, tag) })
	})
}
