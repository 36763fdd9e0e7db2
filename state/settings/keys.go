package settings

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// channelsTable is the table of the channels, each of which is a table itself: see channelSettings.
const channelsTable = "channels"

// Entry is a key of config.toml. A test compares the entries with docs/config.md and state.Config.
type Entry struct {
	Key     string // dotted, as in run.autostart
	Kind    string // string, bool, integer, array or table
	Default string // as the file would have it; empty if something else decides
	Env     string // the variable that takes precedence over the file, if there is one
	Flag    string // the option that takes precedence over both, if there is one

	// check returns what is wrong with a value of the right kind. nil means that all are right.
	check func(value any) (problem, hint string)
}

// The kinds of settings.
const (
	kindString  = "string"
	kindBool    = "bool"
	kindInteger = "integer"
	kindArray   = "array"
	kindTable   = "table"
)

// entries returns all keys, in the order of docs/config.md.
func entries() []Entry {
	return []Entry{
		{Key: "tz", Kind: kindString, Env: "OURO_TZ", Flag: "--tz"},
		{Key: "default_time", Kind: kindString, Default: `"00:00"`, check: checkTimeOfDay},
		{Key: "store", Kind: kindString, Env: "OURO_STORE", check: checkStore},
		{Key: "fleet", Kind: kindTable},
		{Key: "fleet.creds", Kind: kindString, check: checkFile("fleet.creds")},
		{Key: "fleet.nkey", Kind: kindString, check: checkFile("fleet.nkey")},
		{Key: "fleet.ca", Kind: kindString, check: checkFile("fleet.ca")},
		{Key: "fleet.cert", Kind: kindString, check: checkFile("fleet.cert")},
		{Key: "fleet.key", Kind: kindString, check: checkFile("fleet.key")},
		{Key: "node", Kind: kindTable},
		{Key: "node.name", Kind: kindString, check: checkNode},
		{Key: "node.labels", Kind: kindArray, check: checkLabels},
		{Key: "run", Kind: kindTable},
		{Key: "run.autostart", Kind: kindBool, Default: "true", Env: "OURO_AUTOSTART", Flag: "--no-autostart"},
		{Key: "run.shell", Kind: kindString, Default: `"/bin/sh"`, Flag: "--shell"},
		{Key: "run.max_parallel", Kind: kindInteger, Default: "32", Flag: "--max-parallel", check: atLeast("run.max_parallel", 1)},
		{Key: "run.allow", Kind: kindArray, check: checkPatterns},
		{Key: "run.heartbeat", Kind: kindString},
		{Key: "run.heartbeat_every", Kind: kindString, Default: `"1m"`, check: checkHeartbeatEvery},
		{Key: "limits", Kind: kindTable},
		{Key: "limits.min_delay", Kind: kindString, check: checkSpan("limits.min_delay", "30s")},
		{Key: "limits.max_delay", Kind: kindString, check: checkSpan("limits.max_delay", "7d")},
		{Key: "limits.min_interval", Kind: kindString, check: checkSpan("limits.min_interval", "1m")},
		{Key: "limits.max_tasks", Kind: kindInteger, Default: "0", check: atLeast("limits.max_tasks", 0)},
		{Key: "lineage", Kind: kindTable},
		{Key: state.SettingPending, Kind: kindInteger, Default: "50", check: between(state.SettingPending, 0, state.LineageMost)},
		{Key: state.SettingPerHour, Kind: kindInteger, Default: "60", check: between(state.SettingPerHour, 0, state.LineageMost)},
		{Key: "lineage.min_interval", Kind: kindString, Default: `"1m"`, check: checkSpan("lineage.min_interval", "1m")},
		{Key: "keep", Kind: kindTable},
		{Key: "keep.days", Kind: kindInteger, Default: "30", check: between("keep.days", 1, 36500)},
		{Key: "keep.runs", Kind: kindInteger, Default: "20", check: atLeast("keep.runs", 1)},
		{Key: "keep.output", Kind: kindString, Default: `"256MB"`, check: checkSize("keep.output", 1e6)},
		{Key: "keep.ledger", Kind: kindString, Default: `"256MB"`, check: checkSize("keep.ledger", 1e6)},
		{Key: "keep.items", Kind: kindInteger, Default: "50", check: atLeast("keep.items", 1)},
		{Key: "keep.inbox", Kind: kindInteger, Default: "10000", check: atLeast("keep.inbox", 1)},
		{Key: "notify", Kind: kindTable},
		{Key: "notify.default", Kind: kindArray, Default: `["desktop"]`, check: checkChannels},
		{Key: "notify.on", Kind: kindString, check: oneOf("notify.on",
			state.NotifyAlways, state.NotifyFailure, state.NotifyOutput, state.NotifyChange, state.NotifyRecovery, state.NotifyNever)},
		{Key: "notify.prefix", Kind: kindString, check: checkPrefix},
		{Key: "notify.give_up", Kind: kindString, Default: `"24h"`, check: checkGiveUp},
		{Key: channelsTable, Kind: kindTable},
	}
}

// All returns the keys of config.toml without the names of tables.
func All() (list []Entry) {
	for _, s := range entries() {
		if s.Kind != kindTable {
			list = append(list, s)
		}
	}
	return list
}

// settingOf returns the entry of a key, and whether there is one.
func settingOf(key string) (Entry, bool) {
	for _, s := range entries() {
		if s.Key == key {
			return s, true
		}
	}
	return Entry{}, false
}

// aKind returns a kind with its article.
func aKind(kind string) string {
	if kind == kindInteger || kind == kindArray {
		return "an " + kind
	}
	return "a " + kind
}

func checkTimeOfDay(value any) (problem, hint string) {
	text, _ := value.(string)
	if _, err := time.Parse("15:04", text); text != "" && (err != nil || len(text) != len("15:04")) {
		return "default_time takes a time of day", `write it as in "09:00"`
	}
	return "", ""
}

// checkStore refuses what is not an address of servers.
func checkStore(value any) (problem, hint string) {
	text, _ := value.(string)
	if err := state.CheckStore(text); text != "" && err != nil {
		return "store: " + err.Error(), ""
	}
	return "", ""
}

// checkFile refuses what is not the absolute path of a file.
func checkFile(key string) func(any) (string, string) {
	return func(value any) (problem, hint string) {
		if text, ok := value.(string); ok && text != "" && !filepath.IsAbs(text) {
			return key + " takes the absolute path of a file", fmt.Sprintf("write it as in %s = \"/home/me/.ouro/%s\"", strings.TrimPrefix(key, "fleet."), strings.TrimPrefix(key, "fleet."))
		}
		return "", ""
	}
}

// checkNode refuses what cannot be the name of a node.
func checkNode(value any) (problem, hint string) {
	if text, ok := value.(string); ok && text != "" && !state.NodeWord(text) {
		return "node.name takes a word of letters, digits, dots, - and _, and not any", `write it as in name = "build-1"`
	}
	return "", ""
}

// checkLabels refuses what cannot be labels of a node.
func checkLabels(value any) (problem, hint string) {
	list, _ := value.([]any)
	for _, v := range list {
		if text, ok := v.(string); !ok || !state.NodeWord(text) {
			return "node.labels takes words of letters, digits, dots, - and _, and not any", `write them as in labels = ["gpu", "eu-west"]`
		}
	}
	return "", ""
}

func between(key string, least, most int64) func(any) (string, string) {
	return func(value any) (problem, hint string) {
		if n, ok := value.(int64); ok && (n < least || n > most) {
			return fmt.Sprintf("%s is %d and must be %d to %d", key, n, least, most), ""
		}
		return "", ""
	}
}

// checkSize refuses what is not a size, and sizes of less than least bytes.
func checkSize(key string, least int64) func(any) (string, string) {
	return func(value any) (problem, hint string) {
		text, _ := value.(string)
		n, err := state.ParseSize(text)
		switch {
		case err != nil:
			return key + " takes a size", `write it as in "256MB"`
		case n < least:
			return fmt.Sprintf("%s must be %d bytes or more", key, least), `write it as in "256MB"`
		}
		return "", ""
	}
}

// checkSpan refuses what is not a span of time.
func checkSpan(key, example string) func(any) (string, string) {
	return func(value any) (problem, hint string) {
		if text, ok := value.(string); ok {
			if _, err := state.ParseSpan(text); err != nil {
				return key + " takes a span of time", fmt.Sprintf("write it as in %q, or \"0\" for no limit", example)
			}
		}
		return "", ""
	}
}

// checkGiveUp refuses what is not a span of time, and spans that make no sense.
func checkGiveUp(value any) (string, string) {
	const key, hint = "notify.give_up", `write it as in "24h" or "7d"`
	text, _ := value.(string)
	switch d, err := state.ParseSpan(text); {
	case err != nil || text == "":
		return key + " takes a span of time", hint
	case d < time.Minute || d > 30*24*time.Hour:
		return key + " must be 1m to 30d", hint
	}
	return "", ""
}

// checkHeartbeatEvery refuses what is not a span of time, and spans that are too short for services
// or too long to notice anything.
func checkHeartbeatEvery(value any) (string, string) {
	const key, hint = "run.heartbeat_every", `write it as in "1m" or "5m"`
	text, _ := value.(string)
	switch d, err := state.ParseSpan(text); {
	case err != nil || text == "":
		return key + " takes a span of time", hint
	case d < 10*time.Second || d > 24*time.Hour:
		return key + " must be 10s to 24h", hint
	}
	return "", ""
}

// checkPatterns refuses what is not a list of patterns of commands (state.CheckPattern).
func checkPatterns(value any) (problem, hint string) {
	list, _ := value.([]any)
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return "run.allow takes patterns of commands", `write them as in ["make -C /home/me/site", "/home/me/bin/backup"]`
		}
		if err := state.CheckPattern(text); err != nil {
			return "run.allow takes patterns of commands: " + err.Error(), `write them as in ["make -C /home/me/site", "/home/me/bin/backup"]: a name or an absolute path, and perhaps arguments`
		}
	}
	return "", ""
}

func atLeast(key string, least int64) func(any) (string, string) {
	return func(value any) (problem, hint string) {
		if n, ok := value.(int64); ok && n < least {
			return fmt.Sprintf("%s is %d and must be %d or more", key, n, least), ""
		}
		return "", ""
	}
}
