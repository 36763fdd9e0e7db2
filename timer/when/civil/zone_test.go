package civil

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when/fault"
)

func TestPlace(t *testing.T) {
	for _, c := range []struct{ name, zone, wall, want, second string }{
		{"ordinary", "Europe/Warsaw", "2026-07-01 12:00", "2026-07-01T12:00:00+02:00", ""},
		{"spring gap", "Europe/Warsaw", "2024-03-31 02:30", "2024-03-31T03:30:00+02:00", "gap"},
		{"gap begins", "Europe/Warsaw", "2024-03-31 02:00", "2024-03-31T03:00:00+02:00", "gap"},
		{"gap has ended", "Europe/Warsaw", "2024-03-31 03:00", "2024-03-31T03:00:00+02:00", ""},
		{"before the gap", "Europe/Warsaw", "2024-03-31 01:59:59", "2024-03-31T01:59:59+01:00", ""},
		{"autumn fold", "Europe/Warsaw", "2024-10-27 02:30", "2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"},
		{"fold has ended", "Europe/Warsaw", "2024-10-27 03:00", "2024-10-27T03:00:00+01:00", ""},
		{"New York gap", "America/New_York", "2025-03-09 02:15", "2025-03-09T03:15:00-04:00", "gap"},
		{"New York fold", "America/New_York", "2025-11-02 01:00", "2025-11-02T01:00:00-04:00", "2025-11-02T01:00:00-05:00"},
		{"half-hour gap", "Australia/Lord_Howe", "2026-10-04 02:15", "2026-10-04T02:45:00+11:00", "gap"},
		{"half-hour fold", "Australia/Lord_Howe", "2026-04-05 01:45", "2026-04-05T01:45:00+11:00", "2026-04-05T01:45:00+10:30"},
		{"midnight gap", "America/Sao_Paulo", "2017-10-15 00:00", "2017-10-15T01:00:00-02:00", "gap"},
		{"midnight fold", "America/Sao_Paulo", "2018-02-17 23:30", "2018-02-17T23:30:00-02:00", "2018-02-17T23:30:00-03:00"},
		{"skipped day", "Pacific/Apia", "2011-12-30 12:00", "2011-12-31T12:00:00+14:00", "gap"},
		{"skipped day begins", "Pacific/Apia", "2011-12-30 00:00", "2011-12-31T00:00:00+14:00", "gap"},
		{"after the skipped day", "Pacific/Apia", "2011-12-31 00:00", "2011-12-31T00:00:00+14:00", ""},
		{"two-hour gap", "Antarctica/Troll", "2026-03-29 02:10", "2026-03-29T04:10:00+02:00", "gap"},
		{"two-hour fold", "Antarctica/Troll", "2025-10-26 01:15", "2025-10-26T01:15:00+02:00", "2025-10-26T01:15:00Z"},
		{"negative summer time", "Europe/Dublin", "2026-03-29 01:30", "2026-03-29T02:30:00+01:00", "gap"},
		{"suspended for Ramadan", "Africa/Casablanca", "2026-02-15 02:30", "2026-02-15T02:30:00+01:00", "2026-02-15T02:30:00Z"},
		{"Go issue 81583", "Europe/Warsaw", "2040-12-31 12:00", "2040-12-31T12:00:00+01:00", ""},
		{"Go issue 81583, south", "Australia/Lord_Howe", "2044-12-31 00:30", "2044-12-31T00:30:00+11:00", ""},
		{"far away", "Europe/Warsaw", "2399-03-28 02:30", "2399-03-28T03:30:00+02:00", "gap"},
		{"before railways", "Europe/Warsaw", "1800-01-01 00:00", "1799-12-31T22:36:00Z", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			zone, wall := clocktest.Zone(t, c.zone), clocktest.Wall(t, c.wall)
			want, err := time.Parse(time.RFC3339, c.want)
			if err != nil {
				t.Fatal(err)
			}
			if got := InstantOf(wall, zone); !got.Equal(want) {
				t.Errorf("place = %s, want %s", got, want)
			}
			first, second, n := InstantsOf(wall, zone)
			switch c.second {
			case "gap":
				if n != 0 {
					t.Errorf("passes = %s, %s, %d; want a gap", first, second, n)
				}
			case "":
				if n != 1 || !first.Equal(want) {
					t.Errorf("passes = %s, %s, %d; want one", first, second, n)
				}
			default:
				if n != 2 || !first.Equal(want) || second.Format(time.RFC3339) != c.second {
					t.Errorf("passes = %s, %s, %d; want a second at %s", first, second, n, c.second)
				}
			}
		})
	}
}

func TestPlaceKeepsFractionsAndFixedOffsets(t *testing.T) {
	wall := time.Date(2024, 3, 31, 2, 30, 0, 5, time.UTC)
	if got := InstantOf(wall, clocktest.Zone(t, "Europe/Warsaw")); got.Nanosecond() != 5 {
		t.Errorf("the fraction is lost: %s", got)
	}
	if got := InstantOf(wall, time.FixedZone("+20", 20*3600)); !got.Equal(wall.Add(-20 * time.Hour)) {
		t.Errorf("fixed offset: %s", got)
	}
}

// Every zone, hour by hour through a century: ranges join without holes, and a reading comes back from its instant.
func TestRangesJoin(t *testing.T) {
	clocktest.Alone(t)
	end := time.Date(2061, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	for i, name := range strings.Fields(ZoneNames) {
		zone := clocktest.Zone(t, name)
		for at := int64(0); at < end; {
			s := RangeAt(at, zone)
			if s.Start > at || s.End <= at {
				t.Fatalf("%s at %d: range %+v", name, at, s)
			}
			for _, u := range []int64{at, min(s.End, end) - 1} {
				_, offset := time.Unix(u, 0).In(zone).Zone()
				if int64(offset) != s.Offset {
					t.Fatalf("%s at %d: offset %d in range %+v", name, u, offset, s)
				}
				first, second, n, _ := InstantsOfUnix(u+s.Offset, zone)
				if n == 0 || first != u && second != u {
					t.Fatalf("%s: the reading of %d comes back as %d, %d (%d)", name, u, first, second, n)
				}
			}
			at = s.End
		}
		if i%10 == 0 { // the days that Go gets wrong, in full for some zones
			for at := time.Date(2039, 12, 30, 0, 0, 0, 0, time.UTC).Unix(); at < end; at += 7919 {
				if s := RangeAt(at, zone); s.Start > at || s.End <= at {
					t.Fatalf("%s at %d: range %+v", name, at, s)
				}
			}
		}
	}
}

func TestLoadZone(t *testing.T) {
	for _, name := range []string{"UTC", "Europe/Warsaw", "America/Argentina/Buenos_Aires", "EST5EDT", "Etc/GMT+3", "GMT"} {
		if zone, err := LoadZone(name); err != nil || zone.String() != name {
			t.Errorf("LoadZone(%q) = %v, %v", name, zone, err)
		}
	}
	for _, c := range []struct{ name, hint string }{
		{"", "an area and a city"},
		{"Local", ""},
		{"local", ""},
		{"utc", `"UTC"`},
		{"europe/warsaw", `"Europe/Warsaw"`},
		{"America/New York", `"America/New_York"`},
		{"Warsaw", `"Europe/Warsaw"`},
		{"new_york", `"America/New_York"`},
		{"Europe/Warszawa", `"Europe/Warsaw"`},
		{"Europe/Londn", `"Europe/London"`},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "place"},
		{"CET-1CEST", "place"},
		{"UTC0", "place"},
		{"UTC+2", `"Etc/GMT-2"`},
		{"GMT-05:00", `"Etc/GMT+5"`},
		{"+05:30", "place"},
		{":Europe/Warsaw", `"Europe/Warsaw"`},
		{"right/Europe/Warsaw", `"Europe/Warsaw"`},
		{"posix/UTC", `"UTC"`},
		{"/usr/share/zoneinfo/Europe/Warsaw", `"Europe/Warsaw"`},
		{"/etc/localtime", ""},
		{"../../../etc/localtime", ""},
		{"./UTC", ""},
		{"Europe/../UTC", ""},
		{"Europe", ""},
		{"Europe/", ""},
		{"posixrules", ""},
		{"localtime", ""},
		{"Factory", ""},
		{"zone.tab", ""},
		{" UTC", ""},
		{"UTC\x00", ""},
		{"Mars/Olympus_Mons", "an area and a city"},
		{strings.Repeat("A", 10000), ""},
	} {
		zone, err := LoadZone(c.name)
		var e *fault.Error
		if !errors.As(err, &e) || e.Code != fault.CodeZone || e.Message == "" || e.Hint == "" {
			t.Errorf("LoadZone(%q) = %v, %v", c.name, zone, err)
			continue
		}
		if !strings.Contains(e.Hint, c.hint) {
			t.Errorf("LoadZone(%q): hint %q, want %q in it", c.name, e.Hint, c.hint)
		}
	}
}
