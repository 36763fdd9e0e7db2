package files

import (
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// stamp is the form of a due instant in a file's name: UTC, to the nanosecond and of fixed width.
// So names sort by time, and no two instants have the same one.
const stamp = state.CursorForm

const suffix = ".toml"

// name is the name of a task's file or of a record's: DUE.ID.toml in the queue, ID.DUE.toml among
// the open records. Among the paused and the removed tasks a second instant may follow, at which
// the task resumes or was removed: DUE.ID.EXTRA.toml.
type name struct {
	due   string // as stamp writes it
	id    string
	extra string // as stamp writes it, or empty
}

// nameOf is the name of a task with this due instant. state.ErrInvalid: it is outside the years 1
// to 9999, which names cannot express.
func nameOf(id string, due time.Time) (name, error) {
	if err := state.CheckDue(due); err != nil {
		return name{}, err
	}
	return name{due: due.UTC().Format(stamp), id: id}, nil
}

// with is the name with a second instant, or without one if that is zero.
func (n name) with(extra time.Time) (name, error) {
	n.extra = ""
	if extra.IsZero() {
		return n, nil
	}
	if err := state.CheckDue(extra); err != nil {
		return n, err
	}
	n.extra = extra.UTC().Format(stamp)
	return n, nil
}

// file is the name of the task's file.
func (n name) file() string {
	if n.extra != "" {
		return n.due + "." + n.id + "." + n.extra + suffix
	}
	return n.queue()
}

func (n name) queue() string  { return n.due + "." + n.id + suffix }
func (n name) record() string { return n.id + "." + n.due + suffix }

// time is the due instant in UTC.
func (n name) time() time.Time {
	if n.due == "" {
		return time.Time{}
	}
	return readStamp(n.due)
}

// parseName reads the name of a task's file. It is false for any other name.
func parseName(file string) (name, bool) {
	body, ok := strings.CutSuffix(file, suffix)
	if !ok || len(body) <= len(stamp)+1 || body[len(stamp)] != '.' {
		return name{}, false
	}
	n := name{due: body[:len(stamp)], id: body[len(stamp)+1:]}
	var more bool
	if n.id, n.extra, more = strings.Cut(n.id, "."); more && !isStamp(n.extra) {
		return name{}, false
	}
	return n, state.WholeID(n.id) && isStamp(n.due)
}

// moment is the second instant. It is zero if there is none.
func (n name) moment() time.Time {
	t, _ := parseStamp(n.extra)
	return t
}

// parseRecordName reads the name of an open record.
func parseRecordName(file string) (name, bool) {
	body, ok := strings.CutSuffix(file, suffix)
	if !ok {
		return name{}, false
	}
	id, due, ok := strings.Cut(body, ".")
	if !ok {
		return name{}, false
	}
	return name{due: due, id: id}, state.WholeID(id) && isStamp(due)
}

// isStamp reports whether s is a due instant as stamp writes it. It is called for every name in
// every listing.
func isStamp(s string) bool {
	if len(s) != len(stamp) || s[8] != 'T' || s[15] != '.' || s[25] != 'Z' {
		return false
	}
	for i := range 25 {
		if (s[i] < '0' || s[i] > '9') && i != 8 && i != 15 {
			return false
		}
	}
	// Digits compare as text like the numbers that they write.
	if s[:4] < "0001" || s[4:6] < "01" || s[4:6] > "12" || s[6:8] < "01" || s[9:11] > "23" || s[11:13] > "59" || s[13:15] > "59" {
		return false
	}
	if s[6:8] <= "28" {
		return true
	}
	t := readStamp(s) // time.Date turns 31 February into a day of March
	return t.Format("02") == s[6:8]
}

// parseStamp reads only a due instant as stamp writes it: time.Parse would also accept a comma.
func parseStamp(s string) (time.Time, bool) {
	if !isStamp(s) {
		return time.Time{}, false
	}
	return readStamp(s), true
}

// readStamp reads the numbers in a stamp.
func readStamp(s string) time.Time {
	number := func(from, to int) (n int) {
		for _, c := range []byte(s[from:to]) {
			n = n*10 + int(c-'0')
		}
		return n
	}
	return time.Date(number(0, 4), time.Month(number(4, 6)), number(6, 8), number(9, 11), number(11, 13), number(13, 15), number(16, 25), time.UTC)
}
