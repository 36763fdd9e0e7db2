package when

import (
	"fmt"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// weekday returns the next such weekday. On that weekday itself it is today while the time is
// ahead, unless "next" was said.
func (r *resolver) weekday() (time.Time, *refusal) {
	d := &r.m.day
	days := (int(d.weekday) - 1 - int(r.today.Weekday()) + 7) % 7
	if days == 0 {
		if !d.next && r.timed {
			if t, ok := ahead(r.midnight.Add(r.tod), r.zone, r.now); ok && d.shift == 0 {
				r.noteOther("a week later")
				return t, nil
			}
		}
		days = 7
	}
	day := r.midnight.AddDate(0, 0, days+7*int(d.shift))
	if r.m.clock.name == 'm' {
		r.noteMidnight(day)
	}
	// Monday is the first day of the calendar week.
	if left := 7 - (int(r.today.Weekday())+6)%7; d.next && (days < left || days < 7-int(r.today.Weekday())) {
		r.noteOther("the week after")
	}
	return r.on(day)
}

// weekdayOfSpan returns the day of "in 2 weeks on friday". It refuses the text when the friday of
// that week is not the first friday from then on.
func (r *resolver) weekdayOfSpan() (time.Time, *refusal) {
	there := civil.AddMonthsDays(r.midnight, r.m.span.months, r.m.span.days)
	weekday := int(r.m.day.weekday) - 1
	inWeek := weekBegin(there).AddDate(0, 0, (weekday+6)%7)
	first := onOrAfter(there, weekday)
	if !inWeek.Equal(first) {
		tod := ""
		if r.timed {
			tod = " " + clockOf(r.tod)
		}
		return time.Time{}, either("it does not say of which week", 0, len(r.p.text),
			inWeek.Format("2006-01-02")+tod+r.zoneTyped(), first.Format("2006-01-02")+tod+r.zoneTyped())
	}
	return r.on(first)
}

// noteOther notes the other reading of a weekday.
func (r *resolver) noteOther(when string) {
	m := r.m
	text := onOrAfter(r.midnight, int(m.day.weekday)-1).AddDate(0, 0, 7).Format("2006-01-02")
	if len(m.increments) > 0 {
		text = r.p.text[:m.day.off] + text + r.p.text[m.day.end:]
	} else {
		if r.timed {
			text += " " + clockOf(r.tod)
		}
		text += r.zoneTyped()
	}
	r.p.other(text, fmt.Sprintf("%q is read as the coming one; for the one %s say %%q", r.p.text[m.day.off:m.day.end], when))
}

// onOrAfter returns the first such weekday (Sunday is 0) from a day on, and onOrBefore the last one
// up to it.
func onOrAfter(day time.Time, weekday int) time.Time {
	return day.AddDate(0, 0, (weekday-int(day.Weekday())+7)%7)
}

func onOrBefore(day time.Time, weekday int) time.Time {
	return day.AddDate(0, 0, -(int(day.Weekday())-weekday+7)%7)
}

// weekBegin returns the Monday of the week of a day.
func weekBegin(day time.Time) time.Time {
	return onOrBefore(day, 1)
}

// workday returns the n-th Monday to Friday after a day, or before it when n is negative.
func workday(day time.Time, n int) time.Time {
	step := 1
	if n < 0 {
		step, n = -1, -n
	}
	for n > 0 {
		if day = day.AddDate(0, 0, step); day.Weekday() != time.Saturday && day.Weekday() != time.Sunday {
			n--
		}
	}
	return day
}
