package state

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Config holds config.toml: the settings that a user gives once instead of on every call. The zero
// value is the default.
type Config struct {
	TZ string `toml:"tz"` // IANA zone for times that name none
	// time of day, HH:MM, of a date without one; empty: 00:00
	DefaultTime string `toml:"default_time"`
	// the address of a fleet's servers; empty: the state is in this machine's folder
	Store string `toml:"store"`

	// Fleet are the files with which the servers of a fleet and this machine identify themselves.
	Fleet struct {
		Creds string `toml:"creds"` // credentials of NATS
		NKey  string `toml:"nkey"`  // or the seed of a key
		CA    string `toml:"ca"`    // the authorities of the servers' certificates
		Cert  string `toml:"cert"`  // a certificate of ours
		Key   string `toml:"key"`   // and its key
	} `toml:"fleet"`

	// Node describes this machine to a fleet.
	Node struct {
		Name   string   `toml:"name"`   // empty: its host name
		Labels []string `toml:"labels"` // what tasks may ask for, besides
	} `toml:"node"`

	Run struct {
		// start a runner if a task is scheduled and no runner lives; default true
		Autostart   *bool  `toml:"autostart"`
		Shell       string `toml:"shell"`        // for -c and -f; default /bin/sh
		MaxParallel int    `toml:"max_parallel"` // commands at once; default 32
		// Allow are patterns of the commands that may run (Allows). Nil allows all commands, an
		// empty list allows none.
		Allow []string `toml:"allow"`
		// Heartbeat is a channel of that type. A runner pings it as long as it works, every
		// HeartbeatEvery as ParseSpan reads it; empty: every minute.
		Heartbeat      string `toml:"heartbeat"`
		HeartbeatEvery string `toml:"heartbeat_every"`
	} `toml:"run"`

	// Limits of what anybody may schedule. ParseSpan reads the spans; empty or 0: no limit.
	Limits struct {
		MinDelay    string `toml:"min_delay"`    // least time from now to the first instant
		MaxDelay    string `toml:"max_delay"`    // and at the most
		MinInterval string `toml:"min_interval"` // least time between two instants of a recurrence
		MaxTasks    int    `toml:"max_tasks"`    // that wait
	} `toml:"limits"`

	// Lineage limits the tasks that one origin may have (ChildOrigin). 0 means no limit.
	Lineage struct {
		Pending     *int   `toml:"pending"`      // tasks that wait; default 50
		PerHour     *int   `toml:"per_hour"`     // tasks made within an hour; default 60
		MinInterval string `toml:"min_interval"` // of a recurrence; default 1m
	} `toml:"lineage"`

	Keep struct {
		Days   int    `toml:"days"`   // ended and removed tasks, and the ledger; default 30
		Runs   int    `toml:"runs"`   // runs of each task whose output is kept; default 20
		Output string `toml:"output"` // output of all tasks, as ParseSize reads it; default 256MB
		// the newest lines of the ledger, as ParseSize reads it; default 256MB
		Ledger string `toml:"ledger"`
		Items  int    `toml:"items"` // items of each task in the inbox; default 50
		Inbox  int    `toml:"inbox"` // items of all tasks; default 10000
	} `toml:"keep"`

	Notify struct {
		// channels of tasks that name none; without this setting, desktop
		Default []string `toml:"default"`
		On      string   `toml:"on"`     // when a task tells that does not say: NotifyAlways, …
		Prefix  string   `toml:"prefix"` // put before the subject of all that is told
		// how long to retry a notice, as ParseSpan reads it; empty: a day
		GiveUp string `toml:"give_up"`
	} `toml:"notify"`

	Channels map[string]Channel `toml:"channels"` // by name
}

// Heartbeats returns the names of the channels that are heartbeats, in no order.
func (c Config) Heartbeats() (names []string) {
	for name, channel := range c.Channels {
		if channel.Type == ChannelHeartbeat {
			names = append(names, name)
		}
	}
	return names
}

// units are the units of sizes as users write them, the larger ones first.
var units = []struct {
	name string
	size float64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}}

// ParseSize reads a number of bytes with its unit, such as 256MB, 1.5 GiB or 900kB, in upper or
// lower case. MB is a million bytes, MiB is 1,048,576.
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
	return 0, fmt.Errorf("%q is not a size; write it as 256MB or 2GiB", text)
}
