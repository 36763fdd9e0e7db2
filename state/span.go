package state

import (
	"fmt"
	"strings"
	"time"
)

// ParseSpan reads a span of time as config.toml has it: 30s, 1m30s, 12h, 7d or 2w. A day is 24
// hours.
func ParseSpan(text string) (time.Duration, error) {
	bad := func() (time.Duration, error) {
		return 0, fmt.Errorf("%q is not a span of time; write it as 30s, 10m, 12h or 7d", text)
	}
	rest, total := strings.TrimSpace(text), time.Duration(0)
	if rest == "" {
		return bad()
	}
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, after, ok := strings.Cut(rest, unit.name)
		if !ok {
			continue
		}
		n, err := time.ParseDuration(number + "h") // a number, perhaps with a fraction
		if err != nil || strings.Trim(number, "0123456789.") != "" || n.Hours() > 24*36500/unit.size.Hours() {
			return bad()
		}
		total += time.Duration(n.Hours() * float64(unit.size))
		rest = after
	}
	if rest == "" {
		return total, nil
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || rest[0] == '-' || rest[0] == '+' || total+d < 0 {
		return bad()
	}
	return total + d, nil
}
