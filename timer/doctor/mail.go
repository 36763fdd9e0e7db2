package doctor

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// checkInbox reports what waits in the inbox, and names what could not be delivered.
func (d *Doctor) checkInbox(ctx context.Context, tell report) string {
	// the check of the store reports what cannot be read
	items, _, _, err := d.Store.Inbox(ctx, state.Query{})
	if err != nil {
		tell(d.Failed(err))
		return ""
	}
	for _, i := range items {
		if l := i.Line; l.Inbox == state.ItemUndelivered {
			id, why := state.OccurrenceID(l.TaskID, l.Number), ""
			if l.Reason != "" {
				why = ": " + plain.Line(l.Reason)
			}
			tell(odd(Undelivered, i.ID, id+": could not tell "+d.ChannelOf(l.Channel)+" ("+plain.Plural(l.Attempts, "attempt")+why+")",
				"see to the channel; "+d.Program+" log "+id+" shows what was to be told, "+d.Program+" ack "+quoted(i.ID)+" ends this"))
		}
	}
	if len(items) == 0 {
		return "nothing waits in it"
	}
	return plain.Plural(len(items), "item") + " in it, the oldest of " + stamp(items[0].Line.At.In(d.Zone)) + ": " + d.Program + " inbox"
}

// checkOutbox reports what is still to be sent, and why it was not.
func (d *Doctor) checkOutbox(ctx context.Context, tell report) string {
	waiting, _, _, err := d.Store.Outbox(ctx, state.EndOfTime, 0)
	if err != nil {
		tell(d.Failed(err))
		return ""
	}
	for _, n := range waiting {
		text := n.ID() + " is still to be told by " + d.ChannelOf(n.Channel)
		if n.Attempts > 0 {
			text += ", after " + plain.Plural(n.Attempts, "attempt") + ": " + cmp.Or(n.Last, "nobody said why")
		}
		switch due := stamp(n.Due.In(d.Zone)); {
		case !d.led:
			tell(wrong(Waiting, n.ID(), text+"; no runner is there to do it", d.Program+" run --background"))
		case d.Now.Sub(n.Due) > MaxOverdue:
			tell(odd(Overdue, n.ID(), text+"; it was to be tried at "+due, "see what the runner says: "+d.tail()))
		case n.Attempts > 0:
			tell(odd(Waiting, n.ID(), text+"; the next attempt is at "+due, "see to the channel: "+d.Program+" notify --list; it is tried for "+cmp.Or(d.config.Config.Notify.GiveUp, "a day")))
		}
	}
	if len(waiting) == 0 {
		return "nothing is still to be told"
	}
	return plain.Plural(len(waiting), "notice") + " to be told at once"
}

// checkChannels checks whether the channels that are configured, or that tasks name, could work
// now.
func (d *Doctor) checkChannels(_ context.Context, tell report) string {
	config := d.config.Config
	users := map[string]string{} // the task that names each
	for name := range config.Channels {
		users[name] = ""
	}
	for _, word := range config.Notify.Default {
		users[word] = "notify.default in config.toml"
	}
	maps.Copy(users, d.tasks.channels)
	ready := 0
	for _, word := range slices.Sorted(maps.Keys(users)) {
		c, err := notify.Find(word, config.Channels)
		if err == nil {
			_, err = notify.Ready(c, d.Channels)
		}
		if err == nil {
			ready++
			continue
		}
		name := d.ChannelOf(word)
		f := odd(NotReady, name, "channel "+name+" cannot tell anybody: "+err.Error(),
			"mend it in "+quoted(filepath.Join(d.Home, "config.toml"))+", and try: "+d.Program+" notify --test --channel "+quoted(name))
		// What is missing here may exist for the runner, such as a desktop. A permanent error is
		// the same for both.
		var known *notify.Error
		permanent := errors.As(err, &known) && known.Permanent
		if permanent && known.Exposed != "" {
			f.Hint, f.Mend = "chmod 600 "+quoted(known.Exposed), chmod(known.Exposed, "600", func(os.FileMode) os.FileMode { return 0o600 })
		}
		if by := users[word]; by != "" {
			f.Text += "; " + by + " names it"
			if permanent {
				f.Level = state.Wrong
			}
		}
		tell(f)
	}
	if ready == 0 {
		return "no channel is configured or named by a task"
	}
	return "each of " + plain.Plural(ready, "channel") + " could tell somebody, as far as can be seen"
}
