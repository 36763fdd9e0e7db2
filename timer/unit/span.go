package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

// units of lengths of time, as systemd.time(7) has them: months and years are means.
var units = sync.OnceValue(func() map[string]time.Duration {
	return map[string]time.Duration{
		"us": time.Microsecond, "µs": time.Microsecond, "μs": time.Microsecond, "usec": time.Microsecond, "ms": time.Millisecond, "msec": time.Millisecond,
		"": time.Second, "s": time.Second, "sec": time.Second, "second": time.Second, "seconds": time.Second,
		"m": time.Minute, "min": time.Minute, "minute": time.Minute, "minutes": time.Minute, "h": time.Hour, "hr": time.Hour, "hour": time.Hour, "hours": time.Hour,
		"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour, "w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour, "weeks": 7 * 24 * time.Hour,
		"M": 2_629_800 * time.Second, "month": 2_629_800 * time.Second, "months": 2_629_800 * time.Second,
		"y": 31_557_600 * time.Second, "year": 31_557_600 * time.Second, "years": 31_557_600 * time.Second,
	}
})

// Span reads a length of time: 90, 2h 30min, 1.5d. A number alone is seconds. Endless: it is
// infinity.
func Span(text string) (d time.Duration, endless bool, err error) {
	rest := strings.TrimSpace(text)
	if rest == "infinity" {
		return 0, true, nil
	}
	if rest == "" {
		return 0, false, fmt.Errorf("it is empty")
	}
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		n, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil {
			return 0, false, fmt.Errorf("%q is not a length of time", text)
		}
		rest = strings.TrimLeft(rest[digits:], " \t")
		letters := strings.IndexAny(rest, "0123456789. \t")
		if letters < 0 {
			letters = len(rest)
		}
		unit, known := units()[rest[:letters]]
		if sum := float64(d) + n*float64(unit); !known || sum > math.MaxInt64/2 {
			return 0, false, fmt.Errorf("%q is not a length of time", text)
		}
		d += time.Duration(n * float64(unit))
		rest = strings.TrimLeft(rest[letters:], " \t")
	}
	return d, false, nil
}

// Yes reads a switch. A value that is none is as if it were not there.
func Yes(value string) bool {
	switch strings.ToLower(value) {
	case "1", "yes", "y", "true", "t", "on":
		return true
	}
	return false
}
