package when

import (
	"strconv"
	"time"

	"github.com/tj/go-naturaldate"
)

// mostNatural is the largest count that the library is asked about. It is far below the counts at
// which the library multiplies beyond a Duration.
const mostNatural = 999_999

// natural answers "in N minutes" and "in N hours" with tj/go-naturaldate. The library accepts any
// text and answers now to what it does not know. So only this function calls it, and only with
// those two sentences, made from numbers that our own grammar has read. Tests compare its answers
// with plain arithmetic.
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
