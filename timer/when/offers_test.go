package when

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

// asIn is an example in a hint.
var asIn = regexp.MustCompile(`as in "|such as "`)

// What is offered instead of a text that is refused, in its order: each is a reading of the whole text. A text for which none is known gets
// none, and no example that could be taken for one.
func TestOffers(t *testing.T) {
	o := Options{Now: clocktest.Instant(t, "2026-11-24T10:07:30+01:00"), Zone: clocktest.Zone(t, "Europe/Warsaw")}
	for _, c := range []struct{ text, code, want string }{
		// alternatives
		{"9am tomorrow or friday", fault.CodeAmbiguous, "9am tomorrow | 9am friday"},
		{"monday or tuesday at 9am", fault.CodeAmbiguous, "monday at 9am | tuesday at 9am"},
		{"today or tomorrow at 5pm", fault.CodeAmbiguous, "today at 5pm | tomorrow at 5pm"},
		{"today or tomorrow at 9am", fault.CodeAmbiguous, "tomorrow at 9am"},
		{"next monday or tuesday at 9am", fault.CodeAmbiguous, "next monday at 9am | next tuesday at 9am"},
		{"9am or 10am or 11am tomorrow", fault.CodeAmbiguous, "9am tomorrow | 10am tomorrow | 11am tomorrow"},
		{"9, 10 or 11am", fault.CodeAmbiguous, "9am | 10am | 11am"},
		{"12 or 12:30", fault.CodeAmbiguous, "12:00 | 12:30"},
		{"12:30 or 1", fault.CodeAmbiguous, ""},
		{"tuesday night at 1", fault.CodeAmbiguous, "2026-12-01 01:00 | 2026-11-25 01:00"},
		{"december 24 at 1 at night", fault.CodeAmbiguous, "2026-12-24 01:00 | 2026-12-25 01:00"},
		{"every saturday night at 2am", fault.CodeAmbiguous, "Saturdays at 02:00 | Sundays at 02:00"},
		{"weeknights at 9", fault.CodeAmbiguous, "monday to friday nights at 9 | sunday to thursday nights at 9"},
		{"monday 2027", fault.CodeAmbiguous, "monday at 20:27"},
		{"8am and pm", fault.CodeAmbiguous, "at 8:00am | at 8:00pm | every day at 8am and pm"},
		{"5 or 6pm", fault.CodeAmbiguous, "5pm | 6pm"},
		{"24 or 25 december", fault.CodeAmbiguous, "24 december | 25 december"},
		{"24 dec or 25 dec 2026", fault.CodeAmbiguous, "24 dec 2026 | 25 dec 2026"},
		{"friday 5pm or saturday 10am", fault.CodeAmbiguous, "friday 5pm | saturday 10am"},
		{"friday at noon or saturday", fault.CodeAmbiguous, ""},
		{"every day at 9am except christmas in 2027", fault.CodeAmbiguous, "every day at 9am except christmas, in 2027 | every day at 9am except 2027-12-25"},
		{"9am monday or 10am tuesday UTC", fault.CodeAmbiguous, ""},
		{"9am UTC or CET", fault.CodeAmbiguous, "9am UTC | 9am CET"},
		{"in 5 or 10 minutes", fault.CodeAmbiguous, "in 5 minutes | in 10 minutes"},
		{"in two or three hours", fault.CodeAmbiguous, "in two hours | in three hours"},
		{"in 5 minutes or 1 hour", fault.CodeAmbiguous, "in 5 minutes | in 1 hour"},
		{"friday morning or evening at 8", fault.CodeAmbiguous, "friday morning at 8 | friday evening at 8"},
		{"every monday or tuesday", fault.CodeAmbiguous, "every monday | every tuesday"},
		{"every monday, tuesday or friday at 9am", fault.CodeAmbiguous, "every monday at 9am | every tuesday at 9am | every friday at 9am"},
		{"every day at 9am or 10am", fault.CodeAmbiguous, "every day at 9am | every day at 10am"},
		{"every 2 or 3 days", fault.CodeAmbiguous, "every 2 days | every 3 days"},
		{"every month on the 15th or 16th", fault.CodeAmbiguous, "every month on the 15th | every month on the 16th"},
		{"daily or weekly at 9am", fault.CodeAmbiguous, "daily at 9am | weekly at 9am"},
		{"weekdays at 9am or weekends at 10am", fault.CodeAmbiguous, ""},
		{"banana or friday", fault.CodeNotUnderstood, ""},
		{"5 working days from monday", fault.CodeNotUnderstood, ""},

		// minutes before the hour, or a range
		{"10 to 6 pm", fault.CodeAmbiguous, "17:50 | 10:00 | 18:00"},
		{"5 to 8pm", fault.CodeAmbiguous, "19:55 | 17:00 | 20:00"},
		{"9 to 17", fault.CodeAmbiguous, "16:51 | 9:00 | 17:00"},
		{"10 to 6", fault.CodeAmbiguous, "5:50 | 17:50"},
		{"tomorrow 5 to noon", fault.CodeAmbiguous, "tomorrow 11:55 | tomorrow 5:00 | tomorrow 12:00"},

		// dates, hours and calendar events
		{"10-15", fault.CodeAmbiguous, "10:00 | 15:00 | 15 October | *-10-15"},
		{"9-5", fault.CodeAmbiguous, "5 September | 9 May | *-9-5"},
		{"03-05 08:05:40", fault.CodeAmbiguous, "05 March 08:05:40 | 03 May 08:05:40 | *-03-05 08:05:40"},
		{"1-1", fault.CodeAmbiguous, "1 January | *-1-1"},
		{"6,18:00", fault.CodeAmbiguous, "every day at 6,18:00 | *-*-* 6,18:00"},
		{"09..17:00", fault.CodeAmbiguous, "*-*-* 09..17:00"},
		{"9:00..17:00", fault.CodeNotUnderstood, ""},
		{"mon 9-17", fault.CodeAmbiguous, "mon 9:00 | mon 17:00"},
		{"tomorrow 9-5", fault.CodeAmbiguous, ""},
		{"5-6pm", fault.CodeAmbiguous, "17:00 | 6pm"},
		{"tomorrow from 11 to 1pm", fault.CodeAmbiguous, "tomorrow 11:00 | tomorrow 1pm"},
		{"biannually at noon", fault.CodeAmbiguous, "every 6 months at noon | every 2 years at noon"},

		{"every 5/6", fault.CodeAmbiguous, "every 5 June | every 6 May"},
		{"every day except 5/6 at noon", fault.CodeAmbiguous, "every day except 5 June at noon | every day except 6 May at noon"},

		{"hourly from 7 to 7", fault.CodeAmbiguous, "hourly from 7:00am to 7:00pm | hourly from 7:00pm to 7:00am"},
		{"every hour between 9 and 12 on mondays", fault.CodeAmbiguous, "every hour between 9:00am and 12:00pm on mondays"},

		// days from one to another, and not how often
		{"dec 24-26", fault.CodeAmbiguous, "dec 24 2026 | every day from dec 24 to dec 26"},
		{"dec 24-26 at noon", fault.CodeAmbiguous, "dec 24 2026 at noon | every day from dec 24 to dec 26 at noon"},
		{"noon on dec 24-26", fault.CodeAmbiguous, "noon on dec 24 2026 | noon every day from dec 24 to dec 26"},
		{"24-26 december", fault.CodeAmbiguous, "every day from 24 december to 26 december"},
		{"1-5 dec", fault.CodeAmbiguous, "every day from 1 dec to 5 dec"},
		{"24-26 dec 2026 at 9am", fault.CodeAmbiguous, "every day from 24 dec 2026 to 26 dec 2026 at 9am"},
		{"dec 24 to dec 26", fault.CodeAmbiguous, "every day from dec 24 to dec 26"},
		{"from dec 24 to dec 26", fault.CodeAmbiguous, "every day from dec 24 to dec 26"},
		{"between dec 24 and dec 26 at noon", fault.CodeAmbiguous, "every day from dec 24 to dec 26 at noon"},
		{"dec 24 through 26", fault.CodeAmbiguous, "every day from dec 24 to dec 26"},
		{"2026-12-24 to 2026-12-26", fault.CodeAmbiguous, "every day from 2026-12-24 to 2026-12-26"},
		{"2026-12-24/2026-12-26", fault.CodeAmbiguous, "every day from 2026-12-24 to 2026-12-26"},
		{"2026-12-24..2026-12-26", fault.CodeAmbiguous, "every day from 2026-12-24 to 2026-12-26"},
		{"24.-26.12.", fault.CodeAmbiguous, "every day from 24 December to 26 December"},
		{"24.12.-26.12.", fault.CodeAmbiguous, "every day from 24.12. to 26.12."},
		{"tomorrow to friday", fault.CodeAmbiguous, "every day from tomorrow until friday"},
		{"monday to friday", fault.CodeAmbiguous, "every monday to friday"},
		{"from monday to friday", fault.CodeAmbiguous, "every monday to friday"},
		{"5-1 dec", fault.CodeNotUnderstood, ""},
		{"feb 27-30", fault.CodeNotUnderstood, ""},
		{"1st of january, april, july and october at noon", fault.CodeNotUnderstood, "every 1st of january, april, july and october at noon"},
		{"the 1st of january and july at noon", fault.CodeNotUnderstood, "every 1st of january and july at noon"},
		{"dec 25 and 26 at noon", fault.CodeNotUnderstood, "every dec 25 and 26 at noon"},
		{"1 may and 24 december", fault.CodeNotUnderstood, "every 1 may and 24 december"},

		// weekdays and dates that may be the coming ones
		{"friday after next", fault.CodeAmbiguous, "2026-12-04 | 2026-12-11"},
		{"the tuesday after next at noon", fault.CodeAmbiguous, "2026-12-08 at noon | 2026-12-15 at noon"},
		{"next next friday", fault.CodeAmbiguous, "2026-12-04 | 2026-12-11"},
		{"next 24 dec", fault.CodeAmbiguous, "2026-12-24 | 2027-12-24"},
		{"next dec 24 at noon", fault.CodeAmbiguous, "2026-12-24 at noon | 2027-12-24 at noon"},
		{"next christmas", fault.CodeAmbiguous, "2026-12-25 | 2027-12-25"},

		// several times, some of which may be am or pm
		{"every day at 6 and 8pm", fault.CodeAmbiguous, "every day at 6:00am and 8pm | every day at 6:00pm and 8pm"},
		{"every day at 8 and 9", fault.CodeAmbiguous, "every day at 8:00am and 9:00am | every day at 8:00am and 9:00pm | every day at 8:00pm and 9:00pm"},
		{"three times a day at 8, 12 and 6", fault.CodeAmbiguous, "three times a day at 8:00am, 12:00pm and 6:00pm"},
		{"every day at 11pm and 6", fault.CodeAmbiguous, "every day at 11pm and 6:00am | every day at 11pm and 6:00pm"},
		{"at 9, 12 and 3pm", fault.CodeAmbiguous, "at 9:00am | at 12:00pm | at 3pm | every day at 9, 12 and 3pm"},
		{"9, 12 and 3pm", fault.CodeAmbiguous, "at 9:00am | at 12:00pm | at 3pm | every day at 9, 12 and 3pm"},

		// the begin and the end of a range
		{"3:30-6 p.m.", fault.CodeAmbiguous, "15:30 | 6 p.m."},
		{"from 11 to 11:50am", fault.CodeAmbiguous, "11:00 | 11:50am"},
		{"from 11 to 3am", fault.CodeAmbiguous, "23:00 | 3am"},
		{"3pm to half past seven", fault.CodeAmbiguous, "3pm | 19:30"},
		{"12-3pm tomorrow", fault.CodeAmbiguous, "12:00 tomorrow | 3pm tomorrow"},
		{"between 10 and 11:30", fault.CodeAmbiguous, "10:00 | 11:30"},
		{"2014 to 2018", fault.CodeAmbiguous, ""},
		{"2027 november", fault.CodeAmbiguous, "1 November 2027"},
		{"nov. 2027", fault.CodeAmbiguous, "1 November 2027"},
		{"in 2 weeks on monday at 9am", fault.CodeAmbiguous, "2026-12-07 09:00 | 2026-12-14 09:00"},
		{"1 day, 2:03:04", fault.CodeAmbiguous, "1 day, 2h3m4s | 1 day, at 2:03:04"},
		{"for 1:30", fault.CodeAmbiguous, "for 1h30m | at 1:30"},
		{"1798131600.5", fault.CodeAmbiguous, "1798131600.5s | @1798131600.5"},
		{"monday 21", fault.CodeAmbiguous, "monday at 21:00 | monday the 21st"},
		{"10 to 8 tonight", fault.CodeAmbiguous, "7:50 tonight | 10 tonight | 8 tonight"},
		{"5 to 6 p.m.", fault.CodeAmbiguous, "17:55 | 17:00 | 18:00"},
		{"tomorrow 10am through saturday at 11am", fault.CodeAmbiguous, "tomorrow 10am | saturday at 11am"},
		{"from the 13th to the 15th of july", fault.CodeAmbiguous, "every day from 13 july to 15 july"},
		{"aug 29 - sep 2, 2027", fault.CodeAmbiguous, "every day from aug 29 2027 to sep 2 2027"},

		// no right text is known
		{"5 days a week at 9am", fault.CodeAmbiguous, ""},
		{"three times a week on monday and friday at 7am", fault.CodeNotUnderstood, ""},
		{"twice a day at 8am", fault.CodeNotUnderstood, ""},
		{"twice a day", fault.CodeNotUnderstood, ""},
		{"twice an hour", fault.CodeNotUnderstood, ""},
		{"early tomorrow", fault.CodeAmbiguous, ""},
		{"late friday", fault.CodeAmbiguous, ""},
		{"late december", fault.CodeAmbiguous, ""},
		{"earlier today", fault.CodeAmbiguous, ""},
		{"first thing monday", fault.CodeAmbiguous, ""},
		{"tomorrow sometime", fault.CodeAmbiguous, ""},
		{"after lunch", fault.CodeAmbiguous, ""},
		{"end of day", fault.CodeNotUnderstood, ""},
		{"close of business tomorrow", fault.CodeNotUnderstood, ""},
		{"end of next week", fault.CodeNotUnderstood, ""},
		{"this weekend", fault.CodeAmbiguous, ""},
		{"dec 20 to jan 5 2028", fault.CodeAmbiguous, "every day from dec 20 2027 to jan 5 2028"},
		{"last two days of the month", fault.CodeAmbiguous, "last two days of every month"},
		{"second to last friday at noon", fault.CodeAmbiguous, "second to last friday of next month at noon | second to last friday of every month at noon"},
		{"within the hour", fault.CodeAmbiguous, ""},
		{"in under 5 minutes", fault.CodeAmbiguous, ""},
		{"in a few minutes", fault.CodeAmbiguous, ""},
		{"before noon tomorrow", fault.CodeAmbiguous, ""},
		{"every 10 minutes before noon", fault.CodeAmbiguous, ""},
		{"every hour after 6pm", fault.CodeAmbiguous, ""},
		{"every 36 hours today", fault.CodeNotUnderstood, ""},
		{"every january at 9am", fault.CodeAmbiguous, ""},
		{"every 10 minutes starting at noon until 2pm", fault.CodeAmbiguous, ""},
		{"every 1800", fault.CodeNotUnderstood, ""},
		{"every 90", fault.CodeNotUnderstood, ""},
		{"every 0", fault.CodeNotUnderstood, ""},
		{"every 1 month 1 day", fault.CodeNotUnderstood, ""},
		{"every 10 seconds between 9am and 5pm", fault.CodeNotUnderstood, ""},
		{"during office hours", fault.CodeAmbiguous, ""},
		{"9am CET and 5pm", fault.CodeNotUnderstood, ""},
	} {
		_, err := Parse(c.text, o)
		if err == nil {
			t.Errorf("%q is understood", c.text)
			continue
		}
		e := checkError(t, c.text, err)
		var list []string
		for _, one := range e.Candidates {
			list = append(list, one.Text)
		}
		if got := strings.Join(list, " | "); e.Code != c.code || got != c.want {
			t.Errorf("%q: %s: %s; offered %s, want %s", c.text, e.Code, e.Message, got, c.want)
		}
		checkOffers(t, c.text, e)
		if asIn.MatchString(e.Hint) {
			t.Errorf("%q: hint %s", c.text, e.Hint)
		}
	}
}
