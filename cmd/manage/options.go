package manage

import "github.com/ouro-timer/ouro-timer/cmd/option"

// originFlag is the option that means all tasks that the runs of one task scheduled.
func originFlag(usage string) option.Option {
	return option.Option{Name: "origin", Kind: option.ID, Help: usage}
}

// tagFlag is the option that means all tasks with a tag. Its help begins with which.
func tagFlag(which string) option.Option {
	return option.Option{Name: "tag", Key: "tags", Kind: option.Name, Many: true, OrText: true, Like: "home",
		Help: which + " that has the tag NAME; repeated: all of them"}
}

// allFlag is the option that means every task.
func allFlag(usage string) option.Option {
	return option.Option{Name: "all", Kind: option.Flag, Help: usage}
}
