package crontab

import "time"

// Minutes are the instants from one instant up to another at which cron(8) starts the entry, by the
// loop that Debian's cron and cronie have: it looks at the clock on the wall once a minute, and at
// how far that is from the minute it did last. own is the zone that the machine is in. Another zone
// is that of CRON_TZ, in which cronie, of each minute, asks the clock and nothing else; while the
// clock of the machine shows an hour again it starts only what has a star for its minute or hour
// there (find_jobs of cronie's cron.c).
func (e *Entry) Minutes(from, to time.Time, own, zone *time.Location) []time.Time {
	const most = 3 * 60 // minutes: a larger change is a correction of the clock
	if e.Schedule == Reboot {
		return nil
	}
	first := (from.Unix() + 59) / 60 * 60
	here, there := offsets{zone: own}, offsets{zone: zone}
	elsewhere := own.String() != zone.String()
	wild := e.minutes.starred || e.hours.starred
	virtual := minute(first-60, here.at(first-60))
	var list []time.Time
	for u := first; u <= to.Unix(); u += 60 {
		now := minute(u, here.at(u))
		runs, usual := false, true
		switch behind := now - virtual; {
		case behind > 0 && behind <= 5:
			for virtual < now {
				virtual++
				runs = e.match(virtual) || runs
			}
		case behind > 5 && behind <= most:
			runs = wild && e.match(now)
			for virtual < now {
				virtual++
				runs = !wild && e.match(virtual) || runs
			}
		case behind <= 0 && behind > -most:
			runs = wild && e.match(now)
			usual = wild
		default:
			virtual = now
			runs = e.match(now)
		}
		if elsewhere {
			runs = usual && e.match(minute(u, there.at(u)))
		}
		if runs {
			list = append(list, time.Unix(u, 0).In(zone))
		}
	}
	return list
}

// minute is the number of a minute on the wall.
func minute(unix, offset int64) int64 { return (unix + offset) / 60 }

// offsets are those of a zone, asked for in order.
type offsets struct {
	zone   *time.Location
	offset int64
	start  int64
	until  int64 // the offset holds before it
}

func (o *offsets) at(unix int64) int64 {
	if o.until == 0 || unix >= o.until || unix < o.start {
		t := time.Unix(unix, 0).In(o.zone)
		_, offset := t.Zone()
		start, end := t.ZoneBounds()
		o.offset, o.start, o.until = int64(offset), start.Unix(), end.Unix()
		if start.IsZero() {
			o.start = unix
		}
		if end.IsZero() {
			o.until = 1 << 62
		}
	}
	return o.offset
}

// match reports whether the fields let a minute on the wall pass. Of the two day fields either
// does, or both when one begins with a star.
func (e *Entry) match(wall int64) bool {
	if !e.minutes.has(int(wall%60)) || !e.hours.has(int(wall/60%24)) {
		return false
	}
	day := time.Unix(wall*60, 0).UTC()
	if !e.months.has(int(day.Month())) {
		return false
	}
	inMonth, inWeek := e.days.has(day.Day()), e.weekdays.has(int(day.Weekday()))
	if e.days.starred || e.weekdays.starred {
		return inMonth && inWeek
	}
	return inMonth || inWeek
}
