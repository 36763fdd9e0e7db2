package view

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
)

// Deliveries are the deliveries of the runs of an answer. It is nil for an answer that leaves them
// out.
type Deliveries struct {
	Lines   []state.Line   // the lines of deliveries that have ended, newest first
	Waiting []state.Notice // the notices that wait
}

// deliveryJSON is the delivery of a run to one channel.
type deliveryJSON struct {
	word      string     // the channel with its secrets
	Channel   string     `json:"channel"`
	Status    string     `json:"status" jsonschema:"delivered, failed, or queued: it is still tried"`
	Attempts  int        `json:"attempts"`
	At        *time.Time `json:"at,omitempty" jsonschema:"when it ended"`
	Next      *time.Time `json:"next,omitempty" jsonschema:"the next attempt"`
	LastError *string    `json:"last_error,omitempty"`
}

// deliveryRows are null in answers that leave them out.
type deliveryRows []deliveryJSON

// Absent marks the list as one that may be null.
func (deliveryRows) Absent() {}

// These are the states of a delivery.
const (
	delivered = "delivered"
	failed    = "failed"
	queued    = "queued"
)

// end is the line with the end of a delivery; nil while it is still tried.
func (d *Deliveries) end(l state.Line, channel string) *state.Line {
	i := slices.IndexFunc(d.Lines, func(t state.Line) bool {
		return t.TaskID == l.TaskID && t.Number == l.Number && t.Channel == channel
	})
	if i < 0 {
		return nil
	}
	return &d.Lines[i]
}

// Lacks reports whether the end of a delivery of one of the lines is missing.
func (d *Deliveries) Lacks(lines []state.Line) bool {
	return d != nil && slices.ContainsFunc(lines, func(l state.Line) bool {
		return slices.ContainsFunc(l.Channels(), func(channel string) bool { return d.end(l, channel) == nil })
	})
}

// Of returns the deliveries of a run; nil for lines of other kinds.
func (d *Deliveries) Of(l state.Line, zone *time.Location) []deliveryJSON {
	if d == nil || l.Type != state.LineOccurrence && l.Type != state.LineManual {
		return nil
	}
	list := []deliveryJSON{}
	for _, channel := range l.Channels() {
		row := deliveryJSON{word: channel, Channel: cli.ChannelWord(channel), Status: queued}
		if end := d.end(l, channel); end != nil {
			if row.Status = failed; end.Delivered {
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

// List returns the deliveries of a run as lines for people.
func (d *Deliveries) List(l state.Line, zone *time.Location) (list []string) {
	for _, row := range d.Of(l, zone) {
		switch {
		case row.Status != queued:
			list = append(list, DeliveryWords(*d.end(l, row.word)))
		case row.Attempts > 0:
			list = append(list, "still to be told: "+cli.ChannelName(row.Channel)+" ("+
				cli.Plural(row.Attempts, "attempt")+": "+cli.Visible(cli.Deref(row.LastError))+")")
		default:
			list = append(list, "still to be told: "+cli.ChannelName(row.Channel))
		}
	}
	return list
}

// DeliveryWords says how a delivery ended.
func DeliveryWords(l state.Line) string {
	if l.Delivered {
		return "told " + cli.ChannelName(l.Channel) + " (" + cli.Plural(l.Attempts, "attempt") + ")"
	}
	text := "could not tell " + cli.ChannelName(l.Channel) + " (" + cli.Plural(l.Attempts, "attempt")
	if l.Reason != "" {
		text += ": " + cli.Visible(l.Reason)
	}
	return text + ")"
}
