package guide

import (
	"context"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
)

// suggestChannels returns the channels that a task can name, each with its type.
func suggestChannels(s *cli.Call) (words []suggestion) {
	config, _ := s.Settings() // doctor reports what is wrong with it
	for _, name := range notify.Names(config.Channels) {
		about := name
		if c, ok := config.Channels[name]; ok {
			about = c.Type
		} else if name == notify.Email {
			about = "email:bob@example.org"
		}
		words = append(words, suggestion{name, about})
	}
	return words
}

// suggestItems returns the items of the inbox whose IDs begin as typed and are not named already,
// the newest last. withTasks adds the tasks of the items.
func suggestItems(ctx context.Context, s *cli.Call, withTasks bool, named []string, beginning string) suggestions {
	st, err := s.Open()
	if err != nil {
		return suggestions{}
	}
	items, _, _, err := st.Inbox(ctx, state.Query{Limit: mostSuggested})
	if err != nil {
		return suggestions{}
	}
	l := except(named)
	for _, i := range items {
		l.add(i.ID, i.Line.Inbox+": "+i.Line.Description)
	}
	if withTasks {
		for _, i := range items {
			l.add(i.Line.TaskID, "all of it: "+i.Line.Description)
		}
	}
	return withPrefix(l.words, beginning)
}
