package state

import (
	"cmp"
	"time"
)

// Instant is a time.Time in less memory, in UTC, for what is kept of very many tasks.
type Instant struct {
	sec  int64
	nsec int32
}

// InstantOf returns t as an Instant.
func InstantOf(t time.Time) Instant { return Instant{t.Unix(), int32(t.Nanosecond())} }

// Time returns the instant as a time.Time in UTC.
func (i Instant) Time() time.Time { return time.Unix(i.sec, int64(i.nsec)).UTC() }

// Compare returns -1, 0 or 1, as i is before o, the same or after it.
func (i Instant) Compare(o Instant) int {
	return cmp.Or(cmp.Compare(i.sec, o.sec), cmp.Compare(i.nsec, o.nsec))
}
