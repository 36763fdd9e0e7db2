package when

import (
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/when/fault"
	"github.com/ouro-timer/ouro-timer/timer/when/recur"
)

func TestCronRefused(t *testing.T) {
	for _, c := range []struct{ line, code, message, hint string }{
		{"", fault.CodeNotUnderstood, "0 fields", "minute hour"},
		{"* * * *", fault.CodeNotUnderstood, "4 fields", "minute hour"},
		{"0 30 9 * * * * *", fault.CodeNotUnderstood, "8 fields", "minute hour"},
		{"0 30 9 * * *", fault.CodeNotUnderstood, "hour 30 is not in 0-23", `say "0 30 9 * * * *"`},
		{"0 30 61 * * *", fault.CodeNotUnderstood, "hour 30 is not in 0-23", "for seconds, write all seven fields"},
		{"50-10,5 22-2,3 * * 7-2", fault.CodeNotUnderstood, "50-10 runs backwards", `say "50-59,0-10,5 22-23,0-2,3 * * 0-2"`},
		{"0 22-3/2 * * *", fault.CodeNotUnderstood, "22-3/2 runs backwards", `say "0 22,0,2 * * *"`},
		{"0 0 28-2/3 * *", fault.CodeNotUnderstood, "28-2/3 runs backwards", `say "0 0 28,31 * *"`},
		{"0 0 * * 7-6/2", fault.CodeNotUnderstood, "7-6/2 runs backwards", `say "0 0 * * 0-6/2"`},
		{"0 0 1 1 * 2030-2028", fault.CodeNotUnderstood, "2030-2028 runs backwards", `say "0 0 1 1 * 2028-2030"`},
		{"0 22-2 * * banana", fault.CodeNotUnderstood, "22-2 runs backwards", "minute hour day"},
		{"60 * * * *", fault.CodeNotUnderstood, "minute 60 is not in 0-59", ""},
		{"* * 0 * *", fault.CodeNotUnderstood, "day of month 0 is not in 1-31", ""},
		{"* * * 13 *", fault.CodeNotUnderstood, "month 13 is not in 1-12", ""},
		{"* * * * 8", fault.CodeNotUnderstood, "weekday 8 is not in 0-7", ""},
		{"* * * * * 1969", fault.CodeNotUnderstood, "year 1969 is not in 1970-2099", ""},
		{"0 22-2 * * *", fault.CodeNotUnderstood, "the hour range 22-2 runs backwards", `say "0 22-23,0-2 * * *"`},
		{"0 9 * * mon-sun", fault.CodeNotUnderstood, "mon-sun runs backwards", `say "0 9 * * 1-7"`},
		{"0 9 * * 5-1", fault.CodeNotUnderstood, "5-1 runs backwards", `say "0 9 * * 5-6,0-1"`},
		{"50-0 * * * *", fault.CodeNotUnderstood, "50-0 runs backwards", `say "50-59,0 * * * *"`},
		{"1,,2 * * * *", fault.CodeNotUnderstood, "empty member", ""},
		{"*/0 * * * *", fault.CodeNotUnderstood, "step 0 is not in 1-60", ""},
		{"*/61 * * * *", fault.CodeNotUnderstood, "step 61", ""},
		{"*5 * * * *", fault.CodeNotUnderstood, `"*5" is not a minute`, ""},
		{"1-2-3 * * * *", fault.CodeNotUnderstood, `"2-3" is not a minute`, ""},
		{"1/2/3 * * * *", fault.CodeNotUnderstood, `"2/3" is not a minute`, ""},
		{"0 0 * * 1#6", fault.CodeNotUnderstood, "1#6", ""},
		{"0 0 * * 1#", fault.CodeNotUnderstood, "a number is missing", ""},
		{"0 0 W * *", fault.CodeNotUnderstood, "a number is missing", ""},
		{"0 0 L-3 * *", fault.CodeNotUnderstood, "l", ""},
		{"0 0 1-5W * *", fault.CodeNotUnderstood, `"1-5" is not a day of month`, ""},
		{"0 0 * * L", fault.CodeNotUnderstood, `"L" is not a weekday`, ""},
		{"? * * * *", fault.CodeNotUnderstood, `"?" is not a minute`, ""},
		{"٣ * * * *", fault.CodeNotUnderstood, "that no cron line has", ""},
		{"@Daily", fault.CodeNotUnderstood, "@Daily", `say "@daily"`},
		{"@daily 5", fault.CodeNotUnderstood, "@daily 5", "@daily"},
		{"@every 5m", fault.CodeNotUnderstood, "@every 5m", `say "every 5m"`},
		{"@every 0", fault.CodeNotUnderstood, "@every 0", `as in "every 5m"`},
		{"@every 0s", fault.CodeNotUnderstood, "@every 0s", `as in "every 5m"`},
		{"@every 5", fault.CodeNotUnderstood, "@every 5", `as in "every 5m"`},
		{"@every friday", fault.CodeNotUnderstood, "@every friday", `say "every friday"`},
		{"@reboot", fault.CodeNever, "@reboot has no next time", ""},
		{"0 0 30 2 *", fault.CodeNever, "never comes", ""},
		{"0 0 31 4,6,9,11 *", fault.CodeNever, "never comes", ""},
		{"0 0 29 2 * 2025-2027", fault.CodeNever, "never comes", ""},
		{"0 0 */31 * 1#5", fault.CodeNever, "never comes", ""},
		{"0 " + strings.Repeat("1,", 600) + "1 * * *", fault.CodeLimit, "longer than", ""},
		{"0 9 * * Funday", fault.CodeNotUnderstood, `"Funday" is not a weekday`, ""},
		{"0 9 * JANN *", fault.CodeNotUnderstood, `"JANN" is not a month`, ""},
		{"TZ=Europe/Warsaw 0 9 * * *", fault.CodeNotUnderstood, "begins with a time zone", "give Europe/Warsaw with"},
		{"CRON_TZ=UTC 0 9 * * *", fault.CodeNotUnderstood, "begins with a time zone", "give UTC with"},
	} {
		_, err := recur.ReadCron(c.line, time.UTC)
		e, ok := err.(*fault.Error)
		if ok {
			e = withCandidates(e, Options{Now: time.Unix(0, 0), Zone: time.UTC}, false)
		}
		if !ok || e.Code != c.code || !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) || e.Hint == "" {
			t.Errorf("%.40q: %#v; want %s with %q and %q", c.line, err, c.code, c.message, c.hint)
		}
	}
}
