package crontab

import "time"

// Minutes returns the instants from from up to to at which cron(8) starts the entry. It follows the
// loop of Debian's cron and cronie, which reads the wall clock once a minute and compares it with
// the minute that it ran last. own is the zone of the machine. Another zone is that of CRON_TZ.
// There, cronie only asks whether the entry matches each minute; while the clock of the machine
// shows an hour again, it starts only entries with a star for the minute or the hour (find_jobs in
// cron.c of cronie).
func (e *Entry) Minutes(from, to time.Time, own, zone *time.Location) []time.Time {
	const most = 3 * 60 // minutes; a larger change is a correction of the clock
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

// minute returns the number of a minute on the wall clock.
func minute(unix, offset int64) int64 { return (unix + offset) / 60 }

// offsets finds the offsets of a zone, for instants in order.
type offsets struct {
	zone   *time.Location
	offset int64
	start  int64
	until  int64 // the offset is valid before it
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

// match reports whether the fields allow a minute of the wall clock. Of the two day fields one is
// enough, or both must match when one begins with a star.
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
