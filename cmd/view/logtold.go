package view

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
)

// Deliveries is what became of telling who is to be told of runs, beside which it is shown. A nil
// one says nothing.
type Deliveries struct {
	Lines   []state.Line   // of those that have ended, newest first
	Waiting []state.Notice // what is still to be told
}

// deliveryJSON is what became of telling one channel of a run.
type deliveryJSON struct {
	word      string     // of the channel, whole
	Channel   string     `json:"channel"`
	Status    string     `json:"status" jsonschema:"delivered, failed, or queued: it is still tried"`
	Attempts  int        `json:"attempts"`
	At        *time.Time `json:"at,omitempty" jsonschema:"when it ended"`
	Next      *time.Time `json:"next,omitempty" jsonschema:"the next attempt"`
	LastError *string    `json:"last_error,omitempty"`
}

// deliveryRows are null where nobody asked for them.
type deliveryRows []deliveryJSON

// Absent marks the list as one that may be null.
func (deliveryRows) Absent() {}

// What became of a delivery.
const (
	delivered = "delivered"
	gaveUp    = "failed"
	queued    = "queued"
)

// end is the line that says how telling a channel of a run ended; nil: it goes on.
func (d *Deliveries) end(l state.Line, channel string) *state.Line {
	i := slices.IndexFunc(d.Lines, func(t state.Line) bool {
		return t.TaskID == l.TaskID && t.Number == l.Number && t.Channel == channel
	})
	if i < 0 {
		return nil
	}
	return &d.Lines[i]
}

// Lacks reports whether one of the lines has somebody who is still to be told.
func (d *Deliveries) Lacks(lines []state.Line) bool {
	return d != nil && slices.ContainsFunc(lines, func(l state.Line) bool {
		return slices.ContainsFunc(l.Channels(), func(channel string) bool { return d.end(l, channel) == nil })
	})
}

// Of is what became of telling each channel of a run; nil for lines that are of none.
func (d *Deliveries) Of(l state.Line, zone *time.Location) []deliveryJSON {
	if d == nil || l.Type != state.LineOccurrence && l.Type != state.LineManual {
		return nil
	}
	list := []deliveryJSON{}
	for _, channel := range l.Channels() {
		row := deliveryJSON{word: channel, Channel: cli.ChannelWord(channel), Status: queued}
		if end := d.end(l, channel); end != nil {
			if row.Status = gaveUp; end.Delivered {
				row.Status = delivered
			}
			row.Attempts, row.At, row.LastError = end.Attempts, cli.Instant(end.At, zone), cli.OrNull(end.Reason)
		}
		for _, n := range d.Waiting {
			if n.Line.TaskID == l.TaskID && n.Line.Number == l.Number && n.Channel == channel {
				row.Attempts, row.Next, row.LastError = n.Attempts, cli.Instant(n.Due, zone), cli.OrNull(n.Last)
			}
		}
		list = append(list, row)
	}
	return list
}

// List is the same in words.
func (d *Deliveries) List(l state.Line, zone *time.Location) (list []string) {
	for _, row := range d.Of(l, zone) {
		switch {
		case row.Status != queued:
			list = append(list, ToldWords(*d.end(l, row.word)))
		case row.Attempts > 0:
			list = append(list, "still to be told: "+cli.ChannelName(row.Channel)+" ("+
				cli.Plural(row.Attempts, "attempt")+": "+cli.Visible(cli.Deref(row.LastError))+")")
		default:
			list = append(list, "still to be told: "+cli.ChannelName(row.Channel))
		}
	}
	return list
}

// ToldWords says how a delivery ended.
func ToldWords(l state.Line) string {
	if l.Delivered {
		return "told " + cli.ChannelName(l.Channel) + " (" + cli.Plural(l.Attempts, "attempt") + ")"
	}
	text := "could not tell " + cli.ChannelName(l.Channel) + " (" + cli.Plural(l.Attempts, "attempt")
	if l.Reason != "" {
		text += ": " + cli.Visible(l.Reason)
	}
	return text + ")"
}
