package manage

import "github.com/ouro-timer/ouro-timer/cmd/option"

var (
	// originFlag is the option that means all tasks that the runs of one task scheduled.
	originFlag = option.Option{Name: "origin", Kind: option.ID}
	// allFlag is the option that means every task.
	allFlag = option.Option{Name: "all", Kind: option.Flag}
)
