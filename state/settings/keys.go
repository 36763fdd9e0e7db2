package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/codec"
)

// channelsTable is the table of the channels, each of which is a table itself: see channelSettings.
const channelsTable = "channels"

// Entry is a key of config.toml. A test compares the entries with docs/config.md and state.Config.
type Entry struct {
	Key     string // dotted, as in run.autostart; of a key of a channel, the last part
	Kind    string // string, bool, integer, array or table
	Default string // as the file would have it; empty if something else decides
	Env     string // the variable that takes precedence over the file, if there is one
	Flag    string // the option that takes precedence over both, if there is one

	check  check // nil means that all values of the kind are right
	secret bool
}

// check returns what is wrong with the value of a key, which is of the right kind.
type check func(key string, value any) (problem, hint string)

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
		{Key: "default_time", Kind: kindString, Default: `"00:00"`, check: text("a time of day", `write it as in "09:00"`, isTimeOfDay)},
		{Key: "store", Kind: kindString, Env: "OURO_STORE", check: checkStore},
		{Key: "fleet", Kind: kindTable},
		{Key: "fleet.creds", Kind: kindString, check: checkFile},
		{Key: "fleet.nkey", Kind: kindString, check: checkFile},
		{Key: "fleet.ca", Kind: kindString, check: checkFile},
		{Key: "fleet.cert", Kind: kindString, check: checkFile},
		{Key: "fleet.key", Kind: kindString, check: checkFile},
		{Key: "node", Kind: kindTable},
		{Key: "node.name", Kind: kindString, check: text("a word of letters, digits, dots, - and _, and not any", `write it as in name = "build-1"`, func(name string) bool { return name == "" || state.NodeWord(name) })},
		{Key: "node.labels", Kind: kindArray, check: texts("words of letters, digits, dots, - and _, and not any", `write them as in labels = ["gpu", "eu-west"]`, state.NodeWord)},
		{Key: "run", Kind: kindTable},
		{Key: "run.autostart", Kind: kindBool, Default: "true", Env: "OURO_AUTOSTART", Flag: "--no-autostart"},
		{Key: "run.shell", Kind: kindString, Default: `"/bin/sh"`, Flag: "--shell"},
		{Key: "run.max_parallel", Kind: kindInteger, Default: "32", Flag: "--max-parallel", check: atLeast(1)},
		{Key: "run.allow", Kind: kindArray, check: checkPatterns},
		{Key: "run.heartbeat", Kind: kindString},
		{Key: "run.heartbeat_every", Kind: kindString, Default: `"1m"`, check: spanWithin(10*time.Second, 24*time.Hour, "10s to 24h", `"1m" or "5m"`)},
		{Key: "limits", Kind: kindTable},
		{Key: "limits.min_delay", Kind: kindString, check: checkSpan("30s")},
		{Key: "limits.max_delay", Kind: kindString, check: checkSpan("7d")},
		{Key: "limits.min_interval", Kind: kindString, check: checkSpan("1m")},
		{Key: "limits.max_tasks", Kind: kindInteger, Default: "0", check: atLeast(0)},
		{Key: "lineage", Kind: kindTable},
		{Key: state.SettingPending, Kind: kindInteger, Default: "50", check: between(0, state.LineageMost)},
		{Key: state.SettingPerHour, Kind: kindInteger, Default: "60", check: between(0, state.LineageMost)},
		{Key: "lineage.min_interval", Kind: kindString, Default: `"1m"`, check: checkSpan("1m")},
		{Key: "keep", Kind: kindTable},
		{Key: "keep.days", Kind: kindInteger, Default: "30", check: between(1, 36500)},
		{Key: "keep.runs", Kind: kindInteger, Default: "20", check: atLeast(1)},
		{Key: "keep.output", Kind: kindString, Default: `"256MB"`, check: checkSize(1e6)},
		{Key: "keep.ledger", Kind: kindString, Default: `"256MB"`, check: checkSize(1e6)},
		{Key: "keep.items", Kind: kindInteger, Default: "50", check: atLeast(1)},
		{Key: "keep.inbox", Kind: kindInteger, Default: "10000", check: atLeast(1)},
		{Key: "notify", Kind: kindTable},
		{Key: "notify.default", Kind: kindArray, Default: `["desktop"]`, check: texts("names of channels", `write it as in ["desktop"], and what a channel's URL is under [channels.NAME]`, isRecipient)},
		{Key: "notify.on", Kind: kindString, check: oneOf(
			state.NotifyAlways, state.NotifyFailure, state.NotifyOutput, state.NotifyChange, state.NotifyRecovery, state.NotifyNever)},
		{Key: "notify.prefix", Kind: kindString, check: text("text on one line, without control characters", "", func(text string) bool { return !hasControl(text) })},
		{Key: "notify.give_up", Kind: kindString, Default: `"24h"`, check: spanWithin(time.Minute, 30*24*time.Hour, "1m to 30d", `"24h" or "7d"`)},
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

// settingOf returns the entry of a key. If there is none, it returns a problem.
func settingOf(key codec.Key) (s Entry, problem, hint string) {
	if len(key) > 1 && key[0] == channelsTable {
		return channelKey(key)
	}
	name := key.String()
	for _, s := range entries() {
		if s.Key == name {
			return s, "", ""
		}
	}
	if near := nearest(name); near != "" {
		hint = fmt.Sprintf("did you mean %s?", near)
	}
	return s, fmt.Sprintf("there is no setting %q", name), hint
}

// aKind returns a kind with its article.
func aKind(kind string) string {
	if kind == kindInteger || kind == kindArray {
		return "an " + kind
	}
	return "a " + kind
}

// text returns a check that refuses texts that do not fit.
func text(takes, hint string, fits func(string) bool) check {
	return func(key string, value any) (string, string) {
		if !fits(value.(string)) {
			return key + " takes " + takes, hint
		}
		return "", ""
	}
}

// texts returns a check that refuses lists of anything but texts that fit.
func texts(takes, hint string, fits func(string) bool) check {
	return func(key string, value any) (string, string) {
		list, _ := value.([]any)
		for _, v := range list {
			if text, ok := v.(string); !ok || !fits(text) {
				return key + " takes " + takes, hint
			}
		}
		return "", ""
	}
}

func isTimeOfDay(text string) bool {
	_, err := time.Parse("15:04", text)
	return text == "" || err == nil && len(text) == len("15:04")
}

// isRecipient reports whether a text is the name of a channel, perhaps with a recipient.
// fillChannels checks whether the channel exists, after all of them were read.
func isRecipient(text string) bool {
	name, _, _ := strings.Cut(text, ":")
	return !strings.Contains(text, "://") && isChannelName(name)
}

func hasControl(text string) bool { return strings.ContainsFunc(text, unicode.IsControl) }

// checkStore refuses what is not an address of servers.
func checkStore(key string, value any) (problem, hint string) {
	if text := value.(string); text != "" {
		if err := state.CheckStore(text); err != nil {
			return key + ": " + err.Error(), ""
		}
	}
	return "", ""
}

// checkFile refuses what is not the absolute path of a file.
func checkFile(key string, value any) (problem, hint string) {
	if text := value.(string); text != "" && !filepath.IsAbs(text) {
		name := strings.TrimPrefix(key, "fleet.")
		return key + " takes the absolute path of a file", fmt.Sprintf("write it as in %s = \"/home/me/.ouro/%[1]s\"", name)
	}
	return "", ""
}

func oneOf(words ...string) check {
	return func(key string, value any) (string, string) {
		if !slices.Contains(words, value.(string)) {
			return key + " must be one of " + strings.Join(words, ", "), ""
		}
		return "", ""
	}
}

func between(least, most int64) check {
	return func(key string, value any) (string, string) {
		if n := value.(int64); n < least || n > most {
			return fmt.Sprintf("%s is %d and must be %d to %d", key, n, least, most), ""
		}
		return "", ""
	}
}

func atLeast(least int64) check {
	return func(key string, value any) (string, string) {
		if n := value.(int64); n < least {
			return fmt.Sprintf("%s is %d and must be %d or more", key, n, least), ""
		}
		return "", ""
	}
}

// checkSize refuses what is not a size, and sizes of less than least bytes.
func checkSize(least int64) check {
	return func(key string, value any) (string, string) {
		n, err := state.ParseSize(value.(string))
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
func checkSpan(example string) check {
	return text("a span of time", fmt.Sprintf("write it as in %q, or \"0\" for no limit", example), func(text string) bool {
		_, err := state.ParseSpan(text)
		return err == nil
	})
}

// spanWithin refuses what is not a span of time, and spans that make no sense.
func spanWithin(least, most time.Duration, within, examples string) check {
	return func(key string, value any) (problem, hint string) {
		hint = "write it as in " + examples
		text := value.(string)
		switch d, err := state.ParseSpan(text); {
		case err != nil || text == "":
			return key + " takes a span of time", hint
		case d < least || d > most:
			return key + " must be " + within, hint
		}
		return "", ""
	}
}

// checkPatterns refuses what is not a list of patterns of commands (state.CheckPattern).
func checkPatterns(key string, value any) (problem, hint string) {
	const takes, example = " takes patterns of commands", `write them as in ["make -C /home/me/site", "/home/me/bin/backup"]`
	list, _ := value.([]any)
	for _, v := range list {
		text, ok := v.(string)
		if !ok {
			return key + takes, example
		}
		if err := state.CheckPattern(text); err != nil {
			return key + takes + ": " + err.Error(), example + ": a name or an absolute path, and perhaps arguments"
		}
	}
	return "", ""
}
