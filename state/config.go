package state

// Config is config.toml: the settings a user may give once instead of on every call. The zero value is the default.
type Config struct {
	TZ          string `toml:"tz"`           // IANA zone for times that name none
	DefaultTime string `toml:"default_time"` // time of day, HH:MM, of a date without one; 00:00 when empty

	Run struct {
		Autostart   *bool  `toml:"autostart"`    // start a runner when a task is scheduled and none lives; default true
		Shell       string `toml:"shell"`        // for -c and -f; default /bin/sh
		MaxParallel int    `toml:"max_parallel"` // commands at once; default 32
	} `toml:"run"`
}
