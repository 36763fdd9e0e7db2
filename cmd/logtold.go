package cmd

import (
	"slices"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// deliveryJSON is what became of telling one channel of a run.
type deliveryJSON struct {
	Channel   string     `json:"channel"`
	Status    string     `json:"status"` // delivered, failed, or queued: it is still tried
	Attempts  *int       `json:"attempts"`
	At        *time.Time `json:"at"`
	LastError *string    `json:"last_error"`
}

// What became of a delivery.
const (
	delivered = "delivered"
	gaveUp    = "failed"
	queued    = "queued"
)

// deliveriesOf is what became of telling each channel of a run.
func deliveriesOf(l state.Line, told []state.Line, zone *time.Location) []deliveryJSON {
	list := []deliveryJSON{}
	for _, channel := range l.Channels() {
		d := deliveryJSON{Channel: channel, Status: queued}
		if end := endOf(l, channel, told); end != nil {
			at := end.At.In(zone).Round(0)
			if d.Status = gaveUp; end.Delivered {
				d.Status = delivered
			}
			d.Attempts, d.At, d.LastError = &end.Attempts, &at, orNull(end.Reason)
		}
		list = append(list, d)
	}
	return list
}

// endOf is the line that says how telling a channel of a run ended; nil: it goes on.
func endOf(l state.Line, channel string, told []state.Line) *state.Line {
	i := slices.IndexFunc(told, func(t state.Line) bool {
		return t.TaskID == l.TaskID && t.Number == l.Number && t.Channel == channel
	})
	if i < 0 {
		return nil
	}
	return &told[i]
}

// toldList says of each channel of a run whether it was told.
func toldList(l state.Line, told []state.Line) (list []string) {
	if l.Type != state.LineOccurrence && l.Type != state.LineManual {
		return nil
	}
	for _, channel := range l.Channels() {
		if end := endOf(l, channel, told); end != nil {
			list = append(list, toldWords(*end))
		} else {
			list = append(list, "still to be told: "+channelName(channel))
		}
	}
	return list
}

// toldWords says how a delivery ended.
func toldWords(l state.Line) string {
	if l.Delivered {
		return "told " + channelName(l.Channel) + " (" + plural(l.Attempts, "attempt") + ")"
	}
	text := "could not tell " + channelName(l.Channel) + " (" + plural(l.Attempts, "attempt")
	if l.Reason != "" {
		text += ": " + visible(l.Reason)
	}
	return text + ")"
}
