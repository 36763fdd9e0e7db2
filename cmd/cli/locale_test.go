package cli

import (
	"testing"
	"time"
)

// What locale -k LC_TIME of glibc 2.41 prints, in part.
const (
	polish = `abday="nie;pon;wto;śro;czw;pią;sob"
day="niedziela;poniedziałek;wtorek;środa;czwartek;piątek;sobota"
abmon="sty;lut;mar;kwi;maj;cze;lip;sie;wrz;paź;lis;gru"
am_pm=";"
d_t_fmt="%a, %-d %b %Y, %T"
d_fmt="%d.%m.%Y"
t_fmt="%T"
t_fmt_ampm=""
`
	american = `abday="Sun;Mon;Tue;Wed;Thu;Fri;Sat"
abmon="Jan;Feb;Mar;Apr;May;Jun;Jul;Aug;Sep;Oct;Nov;Dec"
am_pm="AM;PM"
d_fmt="%m/%d/%Y"
t_fmt="%r"
t_fmt_ampm="%I:%M:%S %p"
`
	british = `abday="Sun;Mon;Tue;Wed;Thu;Fri;Sat"
abmon="Jan;Feb;Mar;Apr;May;Jun;Jul;Aug;Sep;Oct;Nov;Dec"
am_pm="am;pm"
t_fmt="%T"
t_fmt_ampm="%l:%M:%S %P %Z"
`
	japanese = `abday="日;月;火;水;木;金;土"
abmon=" 1月; 2月; 3月; 4月; 5月; 6月; 7月; 8月; 9月;10月;11月;12月"
am_pm="午前;午後"
t_fmt="%H時%M分%S秒"
t_fmt_ampm="%p%I時%M分%S秒"
`
	indian = `abday="रवि ;सोम ;मंगल ;बुध ;गुरु ;शुक्र ;शनि "
abmon="जन॰;फ़र॰;मार्च;अप्रै॰;मई;जून;जुल॰;अग॰;सित॰;अक्टू॰;नव॰;दिस॰"
am_pm="पूर्वाह्न;अपराह्न"
t_fmt="%I:%M:%S  %p"
`
)

func TestLocale(t *testing.T) {
	morning := time.Date(2026, 11, 23, 9, 5, 7, 0, time.UTC)
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	night := time.Date(2026, 2, 1, 0, 30, 0, 0, time.UTC)
	for _, c := range []struct {
		name, told string
		at         time.Time
		layout     string
		want       string
	}{
		{"nothing", "", morning, "Mon 2 Jan 2006 15:04:05 MST", "Mon 23 Nov 2026 09:05:07 UTC"},
		{"polish", polish, morning, "Mon 2 Jan 2006 15:04:05", "pon 23 lis 2026 09:05:07"},
		{"polish", polish, morning, "02 Jan 06", "23 lis 26"},
		{"american", american, morning, "15:04:05", "9:05:07 AM"},
		{"american", american, morning, "Mon 15:04", "Mon 9:05 AM"},
		{"american", american, noon, "Mon 2 Jan 15:04:05 MST", "Sun 22 Nov 12:00:00 PM UTC"},
		{"american", american, night, "15:04", "12:30 AM"},
		{"british", british, noon, "Mon 15:04", "Sun 12:00"},
		{"japanese", japanese, morning, "Mon 2 Jan 2006", "月 23 11月 2026"},
		{"indian", indian, night, "Mon 15:04", "रवि 12:30 पूर्वाह्न"},
		{"cut short", `abday="Sun;Mon"` + "\n" + `t_fmt="%r"`, morning, "Mon 15:04", "Mon 09:05"},
		{"not UTF-8", "abday=\"\xe9;b;c;d;e;f;g\"\n" + american, morning, "15:04", "09:05"},
		{"an escape", `abday="Sun;` + "\x1b" + `[2J;Tue;Wed;Thu;Fri;Sat"` + "\n" + `abmon="Jan;Feb;Mar;Apr;May;Jun;Jul;Aug;Sep;Oct;Nov;Dec"`, morning, "Mon", `\x1b[2J`},
	} {
		if got := readLocale([]byte(c.told)).Format(c.at, c.layout); got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.name, c.layout, got, c.want)
		}
	}
}

// TestLocaleClock: times of day stand below each other.
func TestLocaleClock(t *testing.T) {
	for _, told := range []string{"", polish, american, indian, japanese} {
		l := readLocale([]byte(told))
		for _, layout := range []string{"15:04", "15:04:05"} {
			for hour := range 24 {
				at := time.Date(2026, 11, 23, hour, 5, 7, 0, time.UTC)
				if got := Columns(l.Clock(at, layout)); got != l.ClockWidth(layout) {
					t.Errorf("%q has %d columns, not %d", l.Clock(at, layout), got, l.ClockWidth(layout))
				}
			}
		}
	}
}
