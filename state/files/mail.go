package files

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// The inbox and the outbox are folders, and like that of the tasks their listing is the queue: each
// item and each notice is a file whose name says all that decides about it. The file comes with its
// line of the ledger, in one commit.

const mailSuffix = ".json"

// mailLimit bounds what is read of an item or a notice: a line with the text of a task, as JSON.
const mailLimit = 8 * state.TaskLimit

// itemName is the name of an item's file, AT.ID.NUMBER.json. The name of an undelivered notice has
// its channel after the number. A taken item's name ends with the instant until which it is taken.
type itemName struct {
	at      string // when it came, as stamp writes it; later than all before it
	id      string
	number  int
	channel string // as state.ChannelForm writes it
	lease   string // as stamp writes it, or empty
}

func (n itemName) file() string {
	file := n.at + "." + n.id + "." + strconv.Itoa(n.number)
	if n.channel != "" {
		file += "." + n.channel
	}
	if n.lease != "" {
		file += "." + n.lease
	}
	return file + mailSuffix
}

func (n itemName) place() string { return inboxDir + "/" + n.file() }

// item returns what the name says of the item.
func (n itemName) item() state.Item {
	i := state.Item{ID: state.OccurrenceID(n.id, n.number), Cursor: n.at}
	if n.channel != "" {
		i.ID += "/" + n.channel
	}
	i.Leased, _ = parseStamp(n.lease)
	return i
}

// parseItem reads the name of an item's file. It is false for any other name.
func parseItem(file string) (n itemName, ok bool) {
	body, ok := strings.CutSuffix(file, mailSuffix)
	if !ok || len(body) <= len(stamp) || !isStamp(body[:len(stamp)]) {
		return n, false
	}
	n.at, body = body[:len(stamp)], body[len(stamp):]
	if cut := len(body) - len(stamp) - 1; cut > 0 && body[cut] == '.' && isStamp(body[cut+1:]) {
		body, n.lease = body[:cut], body[cut+1:]
	}
	parts := strings.Split(body, ".")
	if len(parts) < 3 || len(parts) > 4 || parts[0] != "" || !state.WholeID(parts[1]) {
		return n, false
	}
	n.id = parts[1]
	if n.number, ok = parseNumber(parts[2], 1); !ok {
		return n, false
	}
	if len(parts) == 4 {
		n.channel = parts[3]
		return n, isChannelForm(n.channel)
	}
	return n, true
}

// noticeName is the name of a notice's file, DUE.ID.NUMBER.ATTEMPTS.CHANNEL.json.
type noticeName struct {
	due      string // as stamp writes it
	id       string
	number   int
	attempts int
	channel  string // as state.ChannelForm writes it
}

func (n noticeName) file() string {
	return fmt.Sprintf("%s.%s.%d.%d.%s%s", n.due, n.id, n.number, n.attempts, n.channel, mailSuffix)
}

func (n noticeName) place() string { return outboxDir + "/" + n.file() }

func (n noticeName) time() time.Time {
	t, _ := parseStamp(n.due)
	return t
}

// parseNotice reads the name of a notice's file. It is false for any other name.
func parseNotice(file string) (n noticeName, ok bool) {
	body, ok := strings.CutSuffix(file, mailSuffix)
	if !ok || len(body) <= len(stamp) || !isStamp(body[:len(stamp)]) {
		return n, false
	}
	parts := strings.Split(body[len(stamp):], ".")
	if len(parts) != 5 || parts[0] != "" || !state.WholeID(parts[1]) || !isChannelForm(parts[4]) {
		return n, false
	}
	n.due, n.id, n.channel = body[:len(stamp)], parts[1], parts[4]
	var also bool
	n.number, ok = parseNumber(parts[2], 1)
	n.attempts, also = parseNumber(parts[3], 0)
	return n, ok && also
}

// parseNumber reads a number as strconv.Itoa writes it. It is false below least.
func parseNumber(text string, least int) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= least && strconv.Itoa(n) == text
}

// isChannelForm reports whether state.ChannelForm can have written the text.
func isChannelForm(text string) bool {
	plain, sum, hashed := strings.Cut(text, "+")
	if len(text) > 40 || !hashed && plain == "" || hashed && (len(plain) > 20 || len(sum) != 16 || strings.Trim(sum, "0123456789abcdef") != "") {
		return false
	}
	return strings.Trim(plain, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// noticeFile is the content of a notice's file. The name says when it is due and how often it was
// tried.
type noticeFile struct {
	Channel string     `json:"channel"`
	Last    string     `json:"last_error,omitempty"`
	Line    state.Line `json:"line"`
}

// mailFile is a file of the inbox or the outbox.
type mailFile struct {
	place string
	data  []byte
}

// mailOf returns the files that a line makes. The line has the text of its task, and its item gets
// the cursor.
func mailOf(l state.Line, cursor string) (files []mailFile, err error) {
	add := func(place string, v any) {
		data, bad := json.Marshal(v)
		files, err = append(files, mailFile{place, append(data, '\n')}), cmp.Or(err, bad)
	}
	if l.Inbox != "" && isStamp(cursor) {
		n := itemName{at: cursor, id: l.TaskID, number: l.Number}
		if l.Type == state.LineDelivery {
			n.channel = state.ChannelForm(l.Channel)
		}
		add(n.place(), l)
	}
	for _, c := range l.Channels() {
		n := noticeName{due: stampOf(l.At), id: l.TaskID, number: l.Number, channel: state.ChannelForm(c)}
		add(n.place(), noticeFile{Channel: c, Line: l})
	}
	return files, err
}

// newestItem is the greatest cursor in the inbox, for a ledger that does not have it.
func (s *Store) newestItem() (at string, err error) {
	files, err := readNames(s.path(inboxDir))
	for _, f := range files {
		if n, ok := parseItem(f); ok {
			at = max(at, n.at)
		}
	}
	return at, err
}
