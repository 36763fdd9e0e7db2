package guide

import (
	"context"
	"slices"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
)

// channelOffers are the channels that a task can name, with what they are.
func channelOffers(s *cli.Call) (words []offered) {
	config, _ := s.Settings() // doctor says what is wrong with it
	for _, name := range notify.Names(config.Channels) {
		about := name
		if c, ok := config.Channels[name]; ok {
			about = c.Type
		} else if name == notify.Email {
			about = "email:bob@example.org"
		}
		words = append(words, offered{name, about})
	}
	return words
}

// itemOffers are the items of the inbox that begin as typed and are not named already, the newest
// last. With tasks they include the tasks of the items.
func itemOffers(ctx context.Context, s *cli.Call, tasks bool, named []string, beginning string) offers {
	st, err := s.Open()
	if err != nil {
		return offers{}
	}
	items, _, _, err := st.Inbox(ctx, state.Query{Limit: mostOffered})
	if err != nil {
		return offers{}
	}
	var words []offered
	seen := map[string]bool{}
	for _, id := range named {
		seen[id] = true
	}
	add := func(id, about string) {
		if !seen[id] {
			seen[id] = true
			words = append(words, offered{id, about})
		}
	}
	for _, i := range items {
		add(i.ID, i.Line.Inbox+": "+i.Line.Description)
	}
	if tasks {
		for _, i := range items {
			if !slices.ContainsFunc(named, func(id string) bool { return id == i.Line.TaskID }) {
				add(i.Line.TaskID, "all of it: "+i.Line.Description)
			}
		}
	}
	return only(words, beginning)
}
