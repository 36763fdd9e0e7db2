package state

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Config is config.toml: the settings a user may give once instead of on every call. The zero value is the default.
type Config struct {
	TZ          string `toml:"tz"`           // IANA zone for times that name none
	DefaultTime string `toml:"default_time"` // time of day, HH:MM, of a date without one; 00:00 when empty

	Run struct {
		Autostart   *bool  `toml:"autostart"`    // start a runner when a task is scheduled and none lives; default true
		Shell       string `toml:"shell"`        // for -c and -f; default /bin/sh
		MaxParallel int    `toml:"max_parallel"` // commands at once; default 32
		// Allow are patterns of the commands that may run (Allows). Nil: all may; empty: none may.
		Allow []string `toml:"allow"`
		// Heartbeat is a channel of that type that a runner pings for as long as it is well, every HeartbeatEvery, as ParseSpan reads it;
		// empty: a minute.
		Heartbeat      string `toml:"heartbeat"`
		HeartbeatEvery string `toml:"heartbeat_every"`
	} `toml:"run"`

	// Limits of what is scheduled, by anybody. Spans are as ParseSpan reads them; empty or 0: no limit.
	Limits struct {
		MinDelay    string `toml:"min_delay"`    // from now to the first instant, at the least
		MaxDelay    string `toml:"max_delay"`    // and at the most
		MinInterval string `toml:"min_interval"` // between two instants of a recurrence
		MaxTasks    int    `toml:"max_tasks"`    // that wait
	} `toml:"limits"`

	// Lineage limits what comes of the runs of one task. 0 is no limit.
	Lineage struct {
		Pending     *int   `toml:"pending"`      // tasks that wait; default 50
		PerHour     *int   `toml:"per_hour"`     // tasks that are made within an hour; default 60
		MinInterval string `toml:"min_interval"` // of a recurrence; default 1m
	} `toml:"lineage"`

	Keep struct {
		Days   int    `toml:"days"`   // of tasks that are no more, and the ledger; default 30
		Runs   int    `toml:"runs"`   // of each task, whose output is kept; default 20
		Output string `toml:"output"` // of all tasks, as ParseSize reads it; default 256MB
		Ledger string `toml:"ledger"` // likewise: the newest lines; default 256MB
		Items  int    `toml:"items"`  // of each task in the inbox; default 50
		Inbox  int    `toml:"inbox"`  // items of all tasks; default 10000
	} `toml:"keep"`

	Notify struct {
		Default []string `toml:"default"` // names of the channels of tasks that name none; desktop when it is not given
		On      string   `toml:"on"`      // when a task tells that does not say: NotifyAlways, …
		Prefix  string   `toml:"prefix"`  // in front of every text that is told
		GiveUp  string   `toml:"give_up"` // how long what cannot be told is tried again, as ParseSpan reads it; empty: a day
	} `toml:"notify"`

	Channels map[string]Channel `toml:"channels"` // by name
}

// Heartbeats are the names of the channels that are heartbeats, in no order.
func (c Config) Heartbeats() (names []string) {
	for name, channel := range c.Channels {
		if channel.Type == ChannelHeartbeat {
			names = append(names, name)
		}
	}
	return names
}

// units of sizes, as they are written; the larger ones first.
var units = []struct {
	name string
	size float64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}

// ParseSize reads a number of bytes with its unit, such as 256MB, 1.5 GiB or 900kB, whatever the case of its letters. MB is a
// million bytes, MiB is 1,048,576.
func ParseSize(text string) (int64, error) {
	trimmed := strings.TrimSpace(text)
	for _, u := range units {
		if len(trimmed) <= len(u.name) || !strings.EqualFold(trimmed[len(trimmed)-len(u.name):], u.name) {
			continue
		}
		number := strings.TrimSpace(trimmed[:len(trimmed)-len(u.name)])
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || strings.Trim(number, "0123456789.") != "" || n*u.size >= math.MaxInt64 {
			break
		}
		return int64(n * u.size), nil
	}
	return 0, fmt.Errorf("%q is no size; write it as 256MB or 2GiB", text)
}
