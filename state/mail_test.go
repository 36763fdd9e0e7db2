package state

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestChannelForm: names stay readable, everything else is told apart by a hash that gives nothing
// away.
func TestChannelForm(t *testing.T) {
	for channel, want := range map[string]string{
		"desktop":                   "desktop",
		"ops_2-b":                   "ops_2-b",
		"email:me@example.org":      "email+bce97d7826a8c64f",
		"https://example.org/TOKEN": "https+",
		"Desktop":                   "+",
		"":                          "+",
		"ünï":                       "+",
		strings.Repeat("x", 41):     strings.Repeat("x", 20) + "+",
	} {
		got := ChannelForm(channel)
		if cut, _, hashed := strings.Cut(want, "+"); got != want && !(hashed && strings.HasSuffix(want, "+") && strings.HasPrefix(got, cut+"+") && len(got) == len(cut)+17) {
			t.Errorf("%q is written as %q, want %q", channel, got, want)
		}
	}
	if ChannelForm("email:a@example.org") == ChannelForm("email:b@example.org") {
		t.Error("two recipients are one channel")
	}
}

func TestCheckCursor(t *testing.T) {
	for text, want := range map[string]error{
		"":                           nil,
		"20261123T080000.000000001Z": nil,
		"20261123T080000,000000001Z": ErrInvalid, // time.Parse reads a comma, too
		"20261123T080000Z":           ErrInvalid,
		"20261131T080000.000000000Z": ErrInvalid,
		"k7m2/3":                     ErrInvalid,
		NumberCursor(7):              nil,
		"n7":                         ErrInvalid,
		"n0000000000000000000x":      ErrInvalid,
		"00000000000000000007":       ErrInvalid,
	} {
		if err := CheckCursor(text); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// TestMailOfLines: what makes an item or notices, what it is called, and by which channels it is
// told.
func TestMailOfLines(t *testing.T) {
	for _, c := range []struct {
		line     Line
		mail     bool
		id       string
		channels []string
	}{
		{Line{Type: LineOccurrence, TaskID: "cczu", Number: 3}, false, "cczu/3", nil},
		{Line{Type: LineOccurrence, TaskID: "cczu", Number: 3, Inbox: ItemFailure}, true, "cczu/3", nil},
		{Line{Type: LineManual, TaskID: "cczu", Number: 4, Tell: []string{"a", "b", "a"}}, true, "cczu/4", []string{"a", "b"}},
		{Line{Type: LineTask, TaskID: "cczu", Inbox: ItemFailure}, false, "cczu/0", nil},
		{Line{Type: LineDelivery, TaskID: "cczu", Number: 3, Channel: "desktop", Delivered: true, Tell: []string{"a"}}, false, "cczu/3/desktop", nil},
		{Line{Type: LineDelivery, TaskID: "cczu", Number: 3, Channel: "desktop", Inbox: ItemUndelivered}, true, "cczu/3/desktop", nil},
	} {
		if got := c.line.Channels(); c.line.HasMail() != c.mail || ItemID(c.line) != c.id || !slices.Equal(got, c.channels) {
			t.Errorf("%+v: mail %v, %s, %v", c.line, c.line.HasMail(), ItemID(c.line), got)
		}
	}
}

func TestQueryWants(t *testing.T) {
	at := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	item := Item{ID: "cczu/3", Cursor: at.Format(CursorForm), Leased: at.Add(time.Hour)}
	for _, c := range []struct {
		what string
		q    Query
		want bool
	}{
		{"all", Query{}, true},
		{"its task", Query{Tasks: []string{"b42p", "cczu"}}, true},
		{"itself", Query{Tasks: []string{"cczu/3"}}, true},
		{"another", Query{Tasks: []string{"cczu/4", "b42p"}}, false},
		{"since before", Query{Since: at.Add(-1).Format(CursorForm)}, true},
		{"since itself", Query{Since: item.Cursor}, false},
		{"free by no clock", Query{Free: true}, false},
		{"free before its lease ends", Query{Free: true, Now: at.Add(time.Hour - 1)}, false},
		{"free when its lease ends", Query{Free: true, Now: at.Add(time.Hour)}, true},
	} {
		if c.q.Wants(item, "cczu") != c.want {
			t.Errorf("%s: %v", c.what, !c.want)
		}
	}
}
