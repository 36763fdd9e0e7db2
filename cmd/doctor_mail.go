package cmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
)

// lookAtInbox tells what waits for somebody, and names what could not be delivered.
func (d *doctor) lookAtInbox(ctx context.Context) {
	f := few{d: d, name: "inbox"}
	items, _, _, err := d.st.Inbox(ctx, state.Query{}) // what cannot be read, the check of the mail tells
	if err != nil {
		d.fail("inbox", err)
		return
	}
	for _, i := range items {
		if i.Line.Inbox == state.ItemUndelivered {
			f.say(state.Odd, state.OccurrenceID(i.Line.TaskID, i.Line.Number)+": "+toldWords(i.Line), "see to the channel; ouro-timer log "+
				state.OccurrenceID(i.Line.TaskID, i.Line.Number)+" shows what was to be told, ouro-timer ack "+shellQuote(i.ID)+" ends this")
		}
	}
	fine := "nothing waits in it"
	if n := len(items); n > 0 {
		fine = plural(n, "item") + " in it, the oldest of " + stamp(items[0].Line.At.In(d.zone)) + ": ouro-timer inbox"
	}
	f.end(fine)
}

// lookAtOutbox tells what is still to be told, and why it was not.
func (d *doctor) lookAtOutbox(ctx context.Context) {
	f := few{d: d, name: "outbox"}
	waiting, _, _, err := d.st.Outbox(ctx, endOfTime, 0)
	if err != nil {
		d.fail("outbox", err)
		return
	}
	for _, n := range waiting {
		text := n.ID() + " is still to be told by " + channelName(n.Channel)
		if n.Attempts > 0 {
			text += fmt.Sprintf(", after %s: %s", plural(n.Attempts, "attempt"), orElse(n.Last, "nobody said why"))
		}
		late := d.now.Sub(n.Due)
		switch {
		case !d.led():
			f.say(state.Wrong, text+"; no runner is there to do it", "ouro-timer run --background")
		case late > overdueMost:
			f.say(state.Odd, text+"; it was to be tried at "+stamp(n.Due.In(d.zone)), "see what the runner says: tail "+shellQuote(d.logPath()))
		case n.Attempts > 0:
			f.say(state.Odd, text+"; the next attempt is at "+stamp(n.Due.In(d.zone)), "see to the channel: ouro-timer notify --list; it is tried for "+orElse(d.config.Config.Notify.GiveUp, "a day"))
		}
	}
	fine := "nothing is still to be told"
	if n := len(waiting); n > 0 {
		fine = plural(n, "notice") + " to be told at once"
	}
	f.end(fine)
}

// lookAtChannels looks whether the channels that are configured, or that tasks name, could tell somebody now.
func (d *doctor) lookAtChannels() {
	f := few{d: d, name: "channels"}
	config := d.config.Config
	env, err := d.notifyEnv()
	if err != nil {
		d.fail("channels", err)
		return
	}
	users := maps.Clone(d.tasks.channels) // who names it
	if users == nil {
		users = map[string]string{}
	}
	for _, word := range config.Notify.Default {
		if users[word] == "" {
			users[word] = "notify.default in config.toml"
		}
	}
	words := slices.Collect(maps.Keys(users))
	for name := range config.Channels {
		if _, used := users[name]; !used {
			words = append(words, name)
		}
	}
	slices.Sort(words)
	ready := 0
	for _, word := range words {
		c, err := notify.Find(word, config.Channels)
		if err == nil {
			_, err = notify.Ready(c, env)
		}
		if err == nil {
			ready++
			continue
		}
		// What is missing here may be there for the runner, such as a desktop; what is wrong for good is not.
		level, text := state.Odd, "channel "+channelName(word)+" cannot tell anybody: "+err.Error()
		var known *notify.Error
		if by := users[word]; by != "" {
			text += "; " + by + " names it"
			if errors.As(err, &known) && known.Permanent {
				level = state.Wrong
			}
		}
		f.say(level, text, "mend it in "+shellQuote(d.configPath())+", and try: ouro-timer notify --test --channel "+shellQuote(channelName(word)))
	}
	fine := "no channel is configured or named by a task"
	if ready > 0 {
		fine = "each of " + plural(ready, "channel") + " could tell somebody, as far as can be seen"
	}
	f.end(fine)
}
