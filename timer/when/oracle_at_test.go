//go:build oracle

package when

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

var atJob = regexp.MustCompile(`job (\d+) at (\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4})`)

// askAt asks at(1) when it would run a job at spec, and removes the job. At keeps whole minutes.
func askAt(t *testing.T, spec, zone string, in *time.Location) (time.Time, bool) {
	t.Helper()
	cmd := exec.Command("at", strings.Fields(spec)...)
	cmd.Env = append(os.Environ(), "TZ="+zone, "LC_ALL=C")
	cmd.Stdin = strings.NewReader("true\n")
	out, _ := cmd.CombinedOutput()
	m := atJob.FindStringSubmatch(string(out))
	if m == nil {
		return time.Time{}, false
	}
	if err := exec.Command("atrm", m[1]).Run(); err != nil {
		t.Fatalf("atrm %s: %v", m[1], err)
	}
	at, err := time.ParseInLocation("Mon Jan _2 15:04:05 2006", m[2], in)
	if err != nil {
		t.Fatalf("at answered %q", m[2])
	}
	return at, true
}

// TestOracleAt asks at(1) about timespecs of its own manual page, combined. docs/time.md explains what is listed.
func TestOracleAt(t *testing.T) {
	if _, err := exec.LookPath("at"); err != nil {
		t.Skip("no at: apt-get install at")
	}
	clocks := []string{"now", "noon", "midnight", "teatime", "4pm", "4:30 pm", "16:00", "1630", "9am", "0930", "8:15 am", "12am", "12:00 pm", "23:59"}
	days := []string{"", "today", "tomorrow", "friday", "fri", "Jul 31", "July 31 2027", "31.12.2027", "12/31/2027", "2027-12-31", "25 Dec", "December 25 2027"}
	adds := []string{"", "+ 3 days", "+ 1 week", "+ 2 hours", "+ 90 minutes", "+ 1 month", "next week", "next month"}
	asked, same, past, ours, theirs := 0, 0, 0, 0, 0
	for _, zone := range []string{"UTC", "Europe/Warsaw"} {
		in := clocktest.Zone(t, zone)
		for _, clock := range clocks {
			for _, day := range days {
				for _, add := range adds {
					spec := strings.Join(strings.Fields(clock+" "+day+" "+add), " ")
					asked++
					now := time.Now().In(in)
					want, ok := askAt(t, spec, zone, in)
					s, err := Parse(spec, Options{Now: now, Zone: in})
					switch {
					case err == nil && ok && s.At.Truncate(time.Minute).Equal(want):
						same++
					case err == nil && ok:
						t.Logf("differs: %q in %s: at(1) %s, ours %s", spec, zone, want.Format(time.RFC3339), s.At.Format(time.RFC3339))
					case err != nil && !ok:
						same++
					case err != nil && asError(err).Code == fault.CodePast:
						past++
					case err != nil:
						ours++
						t.Logf("refused here: %q in %s: at(1) %s, ours %v", spec, zone, want.Format(time.RFC3339), err)
					default:
						theirs++
						t.Logf("refused by at(1): %q in %s: ours %s", spec, zone, s.At.Format(time.RFC3339))
					}
				}
			}
		}
	}
	t.Logf("%d asked, %d the same, %d past and refused here, %d refused here otherwise, %d refused by at(1) alone", asked, same, past, ours, theirs)
	if asked == 0 || same < asked/2 {
		t.Errorf("only %d of %d are the same", same, asked)
	}
}
