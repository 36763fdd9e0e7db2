package when

import (
	"strconv"
	"time"

	"github.com/tj/go-naturaldate"
)

// mostNatural bounds the counts that the library is asked about: far below where its product of Durations overflows.
const mostNatural = 999_999

// natural answers "in N minutes" and "in N hours" through tj/go-naturaldate. Its grammar takes any text and answers now to
// what it does not know, so this is its only door, and it is given nothing but those two sentences, written here from
// numbers that our own grammar has read. Tests hold its answers against plain arithmetic.
func natural(n int64, u unit, now time.Time) (time.Time, bool) {
	if n < 0 || n > mostNatural || u != uMinute && u != uHour {
		return time.Time{}, false
	}
	name := " minutes"
	if u == uHour {
		name = " hours"
	}
	t, err := naturaldate.Parse("in "+strconv.FormatInt(n, 10)+name, now, naturaldate.WithDirection(naturaldate.Future))
	return t, err == nil
}
