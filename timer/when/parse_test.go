package when

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// friday is the reference of most tables: Fri 20 Nov 2026 14:23:45 in Warsaw.
const friday = "2026-11-20T14:23:45+01:00"

// timetable is a list of texts and the instants they mean at a reference instant in a zone.
type timetable [][2]string

func (rows timetable) check(t *testing.T, now, zone string, change func(*Options)) {
	t.Helper()
	for _, row := range rows {
		o := Options{Now: clocktest.Instant(t, now), Zone: clocktest.Zone(t, zone)}
		if change != nil {
			change(&o)
		}
		s, err := Parse(row[0], o)
		if err != nil {
			t.Errorf("%q: %v, want %s", row[0], err, row[1])
			continue
		}
		if !s.At.Equal(clocktest.Instant(t, row[1])) {
			t.Errorf("%q: %s, want %s", row[0], s.At.Format(time.RFC3339Nano), row[1])
		}
		if s.Kind != Once || s.Text != strings.TrimSpace(row[0]) {
			t.Errorf("%q: kind %s, text %q", row[0], s.Kind, s.Text)
		}
	}
}

func TestDurations(t *testing.T) {
	timetable{
		{"90s", "2026-11-20T14:25:15+01:00"},
		{"1h30m", "2026-11-20T15:53:45+01:00"},
		{"1.5h", "2026-11-20T15:53:45+01:00"},
		{".5s", "2026-11-20T14:23:45.5+01:00"},
		{"1ns", "2026-11-20T14:23:45.000000001+01:00"},
		{"300µs", "2026-11-20T14:23:45.0003+01:00"},
		{"55s500ms", "2026-11-20T14:24:40.5+01:00"},
		{"1d 2h 3m 4s", "2026-11-21T16:26:49+01:00"},
		{"1.5 days", "2026-11-22T02:23:45+01:00"},
		{"5 min.", "2026-11-20T14:28:45+01:00"},
		{"an hour and a half", "2026-11-20T15:53:45+01:00"},
		{"two and a half hours", "2026-11-20T16:53:45+01:00"},
		{"2 hours and a quarter", "2026-11-20T16:38:45+01:00"},
		{"half an hour", "2026-11-20T14:53:45+01:00"},
		{"half-hour", "2026-11-20T14:53:45+01:00"},
		{"three quarters of an hour", "2026-11-20T15:08:45+01:00"},
		{"1 1/2 hours", "2026-11-20T15:53:45+01:00"},
		{"1½ hours", "2026-11-20T15:53:45+01:00"},
		{"a couple of hours", "2026-11-20T16:23:45+01:00"},
		{"a hundred and twenty minutes", "2026-11-20T16:23:45+01:00"},
		{"twenty-five minutes", "2026-11-20T14:48:45+01:00"},
		{"1 hour, 5 minutes and 10 seconds", "2026-11-20T15:28:55+01:00"},
		{"a fortnight", "2026-12-04T14:23:45+01:00"},
		{"1y 12month", "2028-11-20T14:23:45+01:00"},
		{"half a year", "2027-05-20T14:23:45+02:00"},
		{"PT15M", "2026-11-20T14:38:45+01:00"},
		{"P1DT12H", "2026-11-22T02:23:45+01:00"},
		{"P1Y2M3DT4H5M6.5S", "2028-01-23T18:28:51.5+01:00"},
		{"1H30M", "2026-11-20T15:53:45+01:00"},
		{"1800h", "2027-02-03T14:23:45+01:00"},
	}.check(t, friday, "Europe/Warsaw", nil)
}

func TestRelative(t *testing.T) {
	timetable{
		{"now", friday}, {"right now", friday}, {"0s", friday},
		{"in a minute", "2026-11-20T14:24:45+01:00"},
		{"in 5 minutes' time", "2026-11-20T14:28:45+01:00"},
		{"5 min from now", "2026-11-20T14:28:45+01:00"},
		{"within half an hour", "2026-11-20T14:53:45+01:00"},
		{"for 5 minutes", "2026-11-20T14:28:45+01:00"},
		{"3 days later", "2026-11-23T14:23:45+01:00"},
		{"+1 day 2 hours", "2026-11-21T16:23:45+01:00"},
		{"+2 months, 5 days", "2027-01-25T14:23:45+01:00"},
		{"in 3 months", "2027-02-20T14:23:45+01:00"},
		{"next hour", "2026-11-20T15:23:45+01:00"},
		{"next week", "2026-11-27T14:23:45+01:00"},
		{"in 1 week at noon", "2026-11-27T12:00:00+01:00"},
		{"5 days from now at 10:25am", "2026-11-25T10:25:00+01:00"},
		{"9am in 2 days", "2026-11-22T09:00:00+01:00"},
		{"2 hours after noon", "2026-11-21T14:00:00+01:00"},
		{"2 hours before midnight", "2026-11-20T22:00:00+01:00"},
		{"a week from friday", "2026-12-04T00:00:00+01:00"},
		{"a week on friday", "2026-12-04T00:00:00+01:00"},
		{"two weeks from monday at 9am", "2026-12-07T09:00:00+01:00"},
		{"10 days from tomorrow", "2026-12-01T00:00:00+01:00"},
	}.check(t, friday, "Europe/Warsaw", nil)
	timetable{ // months end at their last day
		{"in 1 month", "2027-02-28T10:00:00+01:00"},
		{"in 13 months", "2028-02-29T10:00:00+01:00"},
		{"1 month + 1 day", "2027-03-01T10:00:00+01:00"},
	}.check(t, "2027-01-31T10:00:00+01:00", "Europe/Warsaw", nil)
}

func TestClockTimes(t *testing.T) {
	timetable{
		{"10pm", "2026-11-20T22:00:00+01:00"}, {"10 p.m.", "2026-11-20T22:00:00+01:00"},
		{"10p", "2026-11-20T22:00:00+01:00"}, {"1030PM", "2026-11-20T22:30:00+01:00"},
		{"22:30", "2026-11-20T22:30:00+01:00"}, {"22:30:15.5", "2026-11-20T22:30:15.5+01:00"},
		{"9.15am", "2026-11-21T09:15:00+01:00"}, {"at 9.15", "2026-11-21T09:15:00+01:00"},
		{"0930", "2026-11-21T09:30:00+01:00"}, {"0930 hours", "2026-11-21T09:30:00+01:00"},
		{"14:23", "2026-11-21T14:23:00+01:00"}, {"14:24", "2026-11-20T14:24:00+01:00"},
		{"12am", "2026-11-21T00:00:00+01:00"}, {"12pm", "2026-11-21T12:00:00+01:00"},
		{"24:00", "2026-11-21T00:00:00+01:00"}, {"T18:00", "2026-11-20T18:00:00+01:00"},
		{"at 15", "2026-11-20T15:00:00+01:00"}, {"15 o'clock", "2026-11-20T15:00:00+01:00"},
		{"five o'clock pm", "2026-11-20T17:00:00+01:00"}, {"five thirty pm", "2026-11-20T17:30:00+01:00"},
		{"quarter past 5", "2026-11-21T05:15:00+01:00"}, {"a quarter past five pm", "2026-11-20T17:15:00+01:00"},
		{"half past nine pm", "2026-11-20T21:30:00+01:00"}, {"ten to six pm", "2026-11-20T17:50:00+01:00"},
		{"20 minutes to midnight", "2026-11-20T23:40:00+01:00"}, {"ten to one in the afternoon", "2026-11-21T12:50:00+01:00"},
		{"6 in the evening", "2026-11-20T18:00:00+01:00"}, {"6:30 in the evening", "2026-11-20T18:30:00+01:00"},
		{"10 at night", "2026-11-20T22:00:00+01:00"}, {"2 at night", "2026-11-21T02:00:00+01:00"},
		{"20 Mar 2027 10h11", "2027-03-20T10:11:00+01:00"}, {"29.02.2028 13.12", "2028-02-29T13:12:00+01:00"},
	}.check(t, friday, "Europe/Warsaw", nil)
}

func TestNamedTimes(t *testing.T) {
	timetable{
		{"noon", "2026-11-21T12:00:00+01:00"}, {"midday", "2026-11-21T12:00:00+01:00"}, {"12 noon", "2026-11-21T12:00:00+01:00"},
		{"midnight", "2026-11-21T00:00:00+01:00"}, {"teatime", "2026-11-20T16:00:00+01:00"},
		{"teatime tomorrow", "2026-11-21T16:00:00+01:00"}, {"noon on friday", "2026-11-27T12:00:00+01:00"},
		{"today at 6pm", "2026-11-20T18:00:00+01:00"}, {"tomorrow", "2026-11-21T00:00:00+01:00"},
		{"tomorrow morning at 9am", "2026-11-21T09:00:00+01:00"}, {"tomorrow evening at 8", "2026-11-21T20:00:00+01:00"},
		{"this afternoon at 3", "2026-11-20T15:00:00+01:00"}, {"5 this afternoon", "2026-11-20T17:00:00+01:00"},
		{"tonight at 8", "2026-11-20T20:00:00+01:00"}, {"11 tonight", "2026-11-20T23:00:00+01:00"},
		{"tonight at 8:30", "2026-11-20T20:30:00+01:00"}, {"tonight at midnight", "2026-11-21T00:00:00+01:00"},
		{"tonight at 1", "2026-11-21T01:00:00+01:00"}, {"seven tonight", "2026-11-20T19:00:00+01:00"},
		{"day after tomorrow at 9am", "2026-11-22T09:00:00+01:00"}, {"tomorrow week", "2026-11-28T00:00:00+01:00"},
		{"tomorrow at midnight", "2026-11-21T00:00:00+01:00"}, {"December 13, 2026 at midnight", "2026-12-13T00:00:00+01:00"},
	}.check(t, friday, "Europe/Warsaw", nil)
	timetable{ // after midnight, tonight is this night
		{"tonight at 2", "2026-11-20T02:00:00+01:00"}, {"tonight at 8", "2026-11-20T20:00:00+01:00"},
	}.check(t, "2026-11-20T00:30:00+01:00", "Europe/Warsaw", nil)
}

func TestWeekdays(t *testing.T) {
	timetable{
		{"friday", "2026-11-27T00:00:00+01:00"}, {"friday 5pm", "2026-11-20T17:00:00+01:00"},
		{"friday at noon", "2026-11-27T12:00:00+01:00"}, {"this friday at 5pm", "2026-11-20T17:00:00+01:00"},
		{"next friday at 5pm", "2026-11-27T17:00:00+01:00"}, {"next monday", "2026-11-23T00:00:00+01:00"},
		{"coming monday", "2026-11-23T00:00:00+01:00"}, {"Sat., 5pm", "2026-11-21T17:00:00+01:00"},
		{"thurs 9am", "2026-11-26T09:00:00+01:00"}, {"on wednesday at 22:00", "2026-11-25T22:00:00+01:00"},
		{"friday week", "2026-12-04T00:00:00+01:00"}, {"friday of next week", "2026-11-27T00:00:00+01:00"},
		{"sunday of this week", "2026-11-22T00:00:00+01:00"}, {"sunday next week", "2026-11-29T00:00:00+01:00"},
		{"next week on tuesday at 3pm", "2026-11-24T15:00:00+01:00"}, {"friday night at 11", "2026-11-20T23:00:00+01:00"},
		{"the first monday of next month at 9am", "2026-12-07T09:00:00+01:00"},
		{"last friday of march at 5pm", "2027-03-26T17:00:00+01:00"}, {"last day of february 2028", "2028-02-29T00:00:00+01:00"},
		{"last day of the month at 5pm", "2026-11-30T17:00:00+01:00"},
	}.check(t, friday, "Europe/Warsaw", nil)
	timetable{ // on a Sunday, next week is the one that starts tomorrow
		{"friday of next week", "2026-11-27T00:00:00+01:00"}, {"next friday", "2026-11-27T00:00:00+01:00"},
		{"next sunday", "2026-11-29T00:00:00+01:00"}, {"sunday", "2026-11-29T00:00:00+01:00"},
	}.check(t, "2026-11-22T12:00:00+01:00", "Europe/Warsaw", nil)
}

func TestDates(t *testing.T) {
	timetable{
		{"August 15th at 3 PM", "2027-08-15T15:00:00+02:00"}, {"the 3rd of March", "2027-03-03T00:00:00+01:00"},
		{"10am Jul 31", "2027-07-31T10:00:00+02:00"}, {"25 Dec 2026 09:00", "2026-12-25T09:00:00+01:00"},
		{"March, 3, 2027", "2027-03-03T00:00:00+01:00"}, {"March 3 2027 9am", "2027-03-03T09:00:00+01:00"},
		{"twenty-fourth of may", "2027-05-24T00:00:00+02:00"}, {"May twenty-fourth", "2027-05-24T00:00:00+02:00"},
		{"15Sept", "2027-09-15T00:00:00+02:00"}, {"21jul2027", "2027-07-21T00:00:00+02:00"},
		{"2027 March 18", "2027-03-18T00:00:00+01:00"}, {"2027-Mar-18", "2027-03-18T00:00:00+01:00"},
		{"10-August 2027", "2027-08-10T00:00:00+02:00"}, {"August-10, 2027", "2027-08-10T00:00:00+02:00"},
		{"25 Dec 26", "2026-12-25T00:00:00+01:00"}, {"25 Dec '26 9am", "2026-12-25T09:00:00+01:00"},
		{"25 Dec 0900", "2026-12-25T09:00:00+01:00"}, {"Feb 29", "2028-02-29T00:00:00+01:00"},
		{"Nov 20 3pm", "2026-11-20T15:00:00+01:00"}, {"Nov 20", "2027-11-20T00:00:00+01:00"},
		{"the 5th at 3pm", "2026-12-05T15:00:00+01:00"}, {"the 20th at 3pm", "2026-11-20T15:00:00+01:00"},
		{"the 31st", "2026-12-31T00:00:00+01:00"}, {"the 5th of next month at 7am", "2026-12-05T07:00:00+01:00"},
		{"Thu Oct 26 11:00:09 2028", "2028-10-26T11:00:09+02:00"}, {"8:25 a.m. Dec. 12, 2026", "2026-12-12T08:25:00+01:00"},
		{"Tue 24 November at 9am", "2026-11-24T09:00:00+01:00"}, {"Tuesday, Nov 24", "2026-11-24T00:00:00+01:00"},
		{"31.12.2026", "2026-12-31T00:00:00+01:00"}, {"03.04.2027", "2027-04-03T00:00:00+02:00"},
		{"25.12. 18:00", "2026-12-25T18:00:00+01:00"}, {"12/31/26", "2026-12-31T00:00:00+01:00"},
		{"25/12 9am", "2026-12-25T09:00:00+01:00"}, {"2027/8/10", "2027-08-10T00:00:00+02:00"},
		{"05/05/2027", "2027-05-05T00:00:00+02:00"}, {"noon 123126", "2026-12-31T12:00:00+01:00"},
		{"12252027", "2027-12-25T00:00:00+01:00"},
	}.check(t, friday, "Europe/Warsaw", nil)
}

func TestMachineForms(t *testing.T) {
	timetable{
		{"2027-03-04T05:06:07Z", "2027-03-04T05:06:07Z"}, {"2027-03-04t05:06:07,5z", "2027-03-04T05:06:07.5Z"},
		{"2027-03-04 05:06 -0400", "2027-03-04T05:06:00-04:00"}, {"2027-03-04T05:06+05:30", "2027-03-04T05:06:00+05:30"},
		{"2027-03-04T10:00-11:00", "2027-03-04T10:00:00-11:00"}, {"2027-03-04", "2027-03-04T00:00:00+01:00"},
		{"2027-03-04T09", "2027-03-04T09:00:00+01:00"}, {"20270304T0506", "2027-03-04T05:06:00+01:00"},
		{"20270304T050607Z", "2027-03-04T05:06:07Z"}, {"20270304", "2027-03-04T00:00:00+01:00"},
		{"202703040506", "2027-03-04T05:06:00+01:00"}, {"2027-W05-1", "2027-02-01T00:00:00+01:00"},
		{"2027W051T10", "2027-02-01T10:00:00+01:00"}, {"2026-W53-7", "2027-01-03T00:00:00+01:00"},
		{"2027-360", "2027-12-26T00:00:00+01:00"}, {"2028-366", "2028-12-31T00:00:00+01:00"},
		{"@1800000000", "2027-01-15T08:00:00Z"}, {"@1800000000.25", "2027-01-15T08:00:00.25Z"},
		{"Sat, 21 Nov 2026 09:55:06 -0600 (CST)", "2026-11-21T15:55:06Z"}, {"Sat, 21 Nov 26 09:55:06 GMT", "2026-11-21T09:55:06Z"},
		{"Sat Nov 21 19:55:06 CET 2026", "2026-11-21T18:55:06Z"},
		{"2027-03-04T10:00+01:00[Europe/Warsaw]", "2027-03-04T09:00:00Z"},
		{"Wed May 05 2027 10:00:00 GMT+0200 (Central European Summer Time)", "2027-05-05T08:00:00Z"},
	}.check(t, friday, "Europe/Warsaw", nil)
}

func TestAtTimespecs(t *testing.T) {
	timetable{
		{"now + 5 minutes", "2026-11-20T14:28:45+01:00"}, {"now+1day", "2026-11-21T14:23:45+01:00"},
		{"now next week", "2026-11-27T14:23:45+01:00"}, {"10am next week", "2026-11-27T10:00:00+01:00"},
		{"4pm + 3 days", "2026-11-23T16:00:00+01:00"}, {"noon + 1 day", "2026-11-22T12:00:00+01:00"},
		{"noon - 1 hour", "2026-11-21T11:00:00+01:00"}, {"midnight - 5 minutes", "2026-11-20T23:55:00+01:00"},
		{"noon mon + 1 week", "2026-11-30T12:00:00+01:00"}, {"16:00 UTC + 1 hour", "2026-11-20T17:00:00Z"},
		{"16:00 31.12.2026", "2026-12-31T16:00:00+01:00"}, {"8pm next friday", "2026-11-27T20:00:00+01:00"},
		{"now + 1 day - 2 hours", "2026-11-21T12:23:45+01:00"}, {"today + 3 days", "2026-11-23T00:00:00+01:00"},
	}.check(t, friday, "Europe/Warsaw", nil)
}

func TestZoneSuffixes(t *testing.T) {
	timetable{
		{"10:00 UTC", "2026-11-21T10:00:00Z"}, {"10:00Z", "2026-11-21T10:00:00Z"}, {"10:00 UTC+2", "2026-11-21T08:00:00Z"},
		{"10:00 UTC +02:45", "2026-11-21T07:15:00Z"}, {"10:00 gmt-5", "2026-11-20T15:00:00Z"},
		{"10:00 +0530", "2026-11-21T04:30:00Z"}, {"10:00-0500", "2026-11-20T15:00:00Z"},
		{"10:00 Europe/London", "2026-11-21T10:00:00Z"}, {"tomorrow 10:00 Asia/Tokyo", "2026-11-21T01:00:00Z"},
		{"9:00 PST", "2026-11-20T17:00:00Z"}, {"2027-07-04 9:00 PDT", "2027-07-04T16:00:00Z"},
		{"friday 13:00 UTC", "2026-11-27T13:00:00Z"}, {"9am JST tomorrow", "2026-11-21T00:00:00Z"},
	}.check(t, friday, "Europe/Warsaw", nil)
}

// What a zone in the text does to the schedule: a place becomes its zone, an offset pins the instant.
func TestZoneOfSchedule(t *testing.T) {
	for _, c := range []struct {
		text, zone string
		fixed      bool
	}{
		{"10:00", "Europe/Warsaw", false},
		{"10:00 Europe/London", "Europe/London", false},
		{"10:00 UTC", "Europe/Warsaw", true},
		{"2027-03-04T05:06:07+05:30", "Europe/Warsaw", true},
		{"@1800000000", "Europe/Warsaw", true},
		{"in 2 days", "Europe/Warsaw", false},
	} {
		s, err := Parse(c.text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		if err != nil || s.Zone.String() != c.zone || s.At.Location() != s.Zone || s.Fixed != c.fixed {
			t.Errorf("%q: %+v, %v", c.text, s, err)
		}
	}
}

func TestPastedUnicode(t *testing.T) {
	timetable{
		{"2027‑03‑04", "2027-03-04T00:00:00+01:00"}, {"2027–03–04 10:00", "2027-03-04T10:00:00+01:00"},
		{"tomorrow at 9\u202fam", "2026-11-21T09:00:00+01:00"}, {"in\u00a05\u00a0minutes", "2026-11-20T14:28:45+01:00"},
		{"４ｐｍ", "2026-11-20T16:00:00+01:00"}, {"６：３０ｐｍ", "2026-11-20T18:30:00+01:00"},
		{"5 o’clock pm", "2026-11-20T17:00:00+01:00"}, {"in three weeks’ time", "2026-12-11T14:23:45+01:00"},
		{"now − 1 hour + 1 day", "2026-11-21T13:23:45+01:00"}, {"\ufefftomorrow\u200b", "2026-11-21T00:00:00+01:00"},
		{"in\t5\nminutes", "2026-11-20T14:28:45+01:00"},
	}.check(t, friday, "Europe/Warsaw", func(o *Options) { o.OnceOnly = true })
}

func TestClockChangeNights(t *testing.T) {
	for _, night := range []struct {
		name, now, zone string
		rows            timetable
	}{
		{"the day before spring", "2027-03-27T12:00:00+01:00", "Europe/Warsaw", timetable{
			{"tomorrow at 2:30am", "2027-03-28T03:30:00+02:00"}, {"28 march at 2:00", "2027-03-28T03:00:00+02:00"},
			{"tomorrow at 3am", "2027-03-28T03:00:00+02:00"}, {"in 1 day", "2027-03-28T12:00:00+02:00"},
			{"24h", "2027-03-28T13:00:00+02:00"}, {"1d12h", "2027-03-29T00:00:00+02:00"},
			{"now + 1 week", "2027-04-03T12:00:00+02:00"},
		}},
		{"spring, before the gap", "2027-03-28T01:30:00+01:00", "Europe/Warsaw", timetable{
			{"2:30", "2027-03-28T03:30:00+02:00"}, {"at 3am", "2027-03-28T03:00:00+02:00"}, {"in 1 hour", "2027-03-28T03:30:00+02:00"},
			{"2:30 UTC", "2027-03-28T02:30:00Z"},
		}},
		{"spring, after the gap", "2027-03-28T03:10:00+02:00", "Europe/Warsaw", timetable{
			{"2:30", "2027-03-29T02:30:00+02:00"}, {"3:20", "2027-03-28T03:20:00+02:00"},
		}},
		{"the day before autumn", "2026-10-24T12:00:00+02:00", "Europe/Warsaw", timetable{
			{"tomorrow at 2:30", "2026-10-25T02:30:00+02:00"}, {"tomorrow at 2:30 CET", "2026-10-25T02:30:00+01:00"},
			{"24h", "2026-10-25T11:00:00+01:00"}, {"1 day", "2026-10-25T12:00:00+01:00"},
			{"2026-10-25T02:30:00+01:00", "2026-10-25T02:30:00+01:00"},
		}},
		{"autumn, first pass", "2026-10-25T02:15:00+02:00", "Europe/Warsaw", timetable{
			{"2:30", "2026-10-25T02:30:00+02:00"}, {"2:10", "2026-10-25T02:10:00+01:00"}, {"in 1 hour", "2026-10-25T02:15:00+01:00"},
			{"today at 2:05", "2026-10-25T02:05:00+01:00"},
		}},
		{"autumn, second pass", "2026-10-25T02:15:00+01:00", "Europe/Warsaw", timetable{
			{"2:30", "2026-10-25T02:30:00+01:00"}, {"2:10", "2026-10-26T02:10:00+01:00"},
		}},
		{"New York in spring", "2027-03-13T20:00:00-05:00", "America/New_York", timetable{
			{"tomorrow at 2:30am", "2027-03-14T03:30:00-04:00"}, {"noon tomorrow", "2027-03-14T12:00:00-04:00"},
		}},
		{"New York in autumn", "2026-10-31T20:00:00-04:00", "America/New_York", timetable{
			{"tomorrow at 1:30am", "2026-11-01T01:30:00-04:00"}, {"12 hours", "2026-11-01T07:00:00-05:00"},
		}},
		{"half an hour on Lord Howe", "2026-10-03T12:00:00+10:30", "Australia/Lord_Howe", timetable{
			{"tomorrow at 2:15am", "2026-10-04T02:45:00+11:00"},
		}},
		{"no midnight in São Paulo", "2018-11-03T12:00:00-03:00", "America/Sao_Paulo", timetable{
			{"midnight", "2018-11-04T01:00:00-02:00"}, {"tomorrow", "2018-11-04T01:00:00-02:00"},
		}},
		{"no Friday in Apia", "2011-12-29T12:00:00-10:00", "Pacific/Apia", timetable{
			{"tomorrow at 9am", "2011-12-31T09:00:00+14:00"}, {"24h", "2011-12-31T12:00:00+14:00"},
		}},
	} {
		t.Run(night.name, func(t *testing.T) { night.rows.check(t, night.now, night.zone, nil) })
	}
}

// Pure lengths of elapsed time carry their Delay; whatever names a day does not.
func TestDelay(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "in 2 hours": 2 * time.Hour, "now + 5 minutes": 5 * time.Minute, "24h": 24 * time.Hour,
		"5 minutes from now": 5 * time.Minute, "in an hour and a half": 90 * time.Minute, "+1m -30s": 30 * time.Second,
		"1 day": 0, "in 1 week": 0, "1d12h": 0, "now": 0, "10pm": 0, "2 hours after noon": 0,
	} {
		s, err := Parse(text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		if err != nil || s.Delay != want {
			t.Errorf("%q: %+v, %v, want a delay of %v", text, s, err, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for text, want := range map[string]string{
		"in an hour and a half": "1h30m", "90s": "1m30s", "now": "0s", "300ms": "300ms", "24h": "24h",
		"tomorrow at 9am": "2026-11-21T09:00:00+01:00", "10:00 UTC": "2026-11-21T11:00:00+01:00",
		"22:30:15.5": "2026-11-20T22:30:15.5+01:00", "every 90 minutes": "every 1h30m", "every 24h": "every 24h",
		"0 9 * * mon-fri": "0 9 * * 1-5", "every weekday at 9am": "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
	} {
		s, err := Parse(text, Options{Now: clocktest.Instant(t, friday), Zone: clocktest.Zone(t, "Europe/Warsaw")})
		if err != nil || s.Canonical != want {
			t.Errorf("%q: %+v, %v, want %q", text, s, err, want)
		}
	}
}

// A word that is not a time, put anywhere into a text that is accepted, makes it a refusal.
func TestWholeTextIsRead(t *testing.T) {
	clocktest.Alone(t)
	var texts []string
	for _, c := range phrases(t) {
		texts = append(texts, c.Text)
	}
	now, zone := clocktest.Instant(t, "2006-01-01T00:00:00Z"), time.UTC
	accepted := 0
	for _, text := range append(texts, spokenRecurrences...) {
		if _, err := Parse(text, Options{Now: now, Zone: zone}); err != nil {
			continue
		}
		accepted++
		words := strings.Fields(text)
		for _, stray := range []string{"banana", "x", "%", "-", ";", "and", "at", "tomorrowish", "7.7.7"} {
			for i := range len(words) + 1 {
				longer := strings.Join(slices.Insert(slices.Clone(words), i, stray), " ")
				if s, err := Parse(longer, Options{Now: now, Zone: zone}); err == nil {
					switch {
					case stray == "and" || stray == "at" || stray == "-": // may be a word of the grammar there, if it changes nothing
						if stray == "at" && i < len(words) && len(words[i]) == 4 && isDigit(words[i][0]) {
							continue // at 2008
						}
						if was, _ := Parse(text, Options{Now: now, Zone: zone}); was.At.Equal(s.At) && was.Canonical == s.Canonical {
							continue
						}
					}
					t.Errorf("%q is read as %s", longer, s.Canonical)
				}
			}
		}
	}
	if accepted < 150 {
		t.Errorf("only %d texts were accepted", accepted)
	}
}

// TestManyAtOnce: texts are read by many goroutines at the same time as by one.
func TestManyAtOnce(t *testing.T) {
	o := Options{Now: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	texts := []string{
		"tomorrow at 9am", "every weekday at 9:00", "0 9 * * 1-5", "in 30 minutes", "Mon..Fri *-*-* 09:00:00", "FREQ=DAILY;COUNT=3",
		"wendesday 5pm", "tomorrow at 9", "next friday at noon in Tokyo", "3pm CST", "last day of february", "every 90 minutes until march",
	}
	says := func(text string) string {
		s, err := Parse(text, o)
		if err != nil {
			return fmt.Sprint(err)
		}
		at, _ := s.Next(o.Now)
		return fmt.Sprint(s.Canonical, s.At, at)
	}
	var alone []string
	for _, text := range texts {
		alone = append(alone, says(text))
	}
	var wait sync.WaitGroup
	for first := range 4 {
		wait.Go(func() {
			for i := range 20 * len(texts) {
				k := (first*3 + i) % len(texts)
				if got := says(texts[k]); got != alone[k] {
					t.Errorf("%q is %s, not %s", texts[k], got, alone[k])
					return
				}
			}
		})
	}
	wait.Wait()
}

// TestIndexedPatterns: the patterns that are found by their index are those that fit when they are asked one by one.
func TestIndexedPatterns(t *testing.T) {
	clocktest.Alone(t)
	g, seen, indexed := grammar(), map[[2]token]bool{}, 0
	o := Options{Now: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC), Zone: time.UTC}
	for _, c := range phrases(t) {
		p := new(parser)
		if p.open(c.Text, &o) != nil {
			continue
		}
		for i := range p.n {
			one, next := p.toks[i], p.toks[min(i+1, p.n)]
			if seen[[2]token{one, next}] {
				continue
			}
			seen[[2]token{one, next}] = true
			for symbol, list := range g.patternPrefixes {
				var want patternSet
				for k := range list {
					if list[k].fits(&one, &next) {
						want.add(k)
					}
				}
				if got := g.candidates(symbol, &one, &next); got != want {
					t.Fatalf("%q, token %d, symbol %d: %x, not %x", c.Text, i, symbol, got, want)
				}
				if g.openings[symbol] != nil && want != (patternSet{}) {
					indexed++
				}
			}
		}
	}
	if indexed < 1000 {
		t.Errorf("only %d of them had an index", indexed)
	}
}
