package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// Zone is the zone of the user's times: --tz, else OURO_TZ, else config.toml, else TZ, else that of
// the machine. It always has an IANA name, because a task keeps the name and not the present
// offset. An unknown name is refused, although Go would take many of them for UTC.
func (s *Call) Zone() (*time.Location, error) {
	if s.Opt.Has("tz") {
		return civil.LoadZone(s.Opt.Text("tz"))
	}
	if s.DefaultZone != nil {
		return s.DefaultZone, nil
	}
	if name := s.Getenv("OURO_TZ"); name != "" {
		return zoneFrom(name, "OURO_TZ")
	}
	config, err := s.Settings()
	if err != nil {
		return nil, err
	}
	if config.TZ != "" {
		return zoneFrom(config.TZ, "tz in config.toml")
	}
	// After a colon TZ names a file of the zone database (tzset(3)), or the machine's own.
	if name := strings.TrimPrefix(s.Getenv("TZ"), ":"); name != "" && name != "/etc/localtime" {
		if i := strings.LastIndex(name, "zoneinfo/"); i >= 0 && filepath.IsAbs(name) {
			name = name[i+len("zoneinfo/"):]
		}
		return zoneFrom(name, "TZ")
	}
	return machineZone("/etc")
}

// zoneFrom loads the zone that a setting names. Its error names the setting.
func zoneFrom(name, setting string) (*time.Location, error) {
	zone, err := civil.LoadZone(name)
	if err != nil {
		p := Explain(err)
		return nil, p.Saying(problem.T("%s (from %s)", p.Message, setting))
	}
	return zone, nil
}

// machineZone reads the machine's zone from the folder /etc: its link localtime leads into the zone
// database, and Debian also keeps the name in the file timezone. A machine with neither is in UTC
// (localtime(5)).
func machineZone(etc string) (*time.Location, error) {
	link := filepath.Join(etc, "localtime")
	for range 8 { // a link may lead to another link before it reaches the database
		target, err := os.Readlink(link)
		if err != nil {
			break
		}
		if i := strings.LastIndex(target, "zoneinfo/"); i >= 0 {
			name := strings.TrimPrefix(strings.TrimPrefix(target[i+len("zoneinfo/"):], "posix/"), "right/")
			if zone, err := civil.LoadZone(name); err == nil {
				return zone, nil
			}
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(link), target)
		}
		link = target
	}
	if b, err := os.ReadFile(filepath.Join(etc, "timezone")); err == nil {
		if name := string(bytes.TrimSpace(b)); name != "" {
			if zone, err := civil.LoadZone(name); err == nil {
				return zone, nil
			}
		}
	}
	if _, err := os.Stat(filepath.Join(etc, "localtime")); os.IsNotExist(err) {
		return time.UTC, nil
	}
	return nil,
		problem.New(problem.Zone,
			problem.T("cannot tell the machine's time zone: /etc/localtime is not a link into the zone database"),
			problem.T("give it: %s, or OURO_TZ=Europe/Warsaw", problem.Set("tz", "Europe/Warsaw")))
}

// TimeOptions returns the options for reading the time expressions of this call.
func (s *Call) TimeOptions() (when.Options, error) {
	zone, err := s.Zone()
	if err != nil {
		return when.Options{}, err
	}
	config, err := s.Settings()
	if err != nil {
		return when.Options{}, err
	}
	o := when.Options{Now: s.Now(zone), Zone: zone}
	if config.DefaultTime != "" {
		t, err := time.Parse("15:04", config.DefaultTime)
		if err != nil {
			return o, problem.Of(problem.T("default_time in config.toml is %s", Quote(config.DefaultTime)),
				problem.T(`write it as "09:00"`))
		}
		o.DefaultTime = time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
	}
	return o, nil
}
