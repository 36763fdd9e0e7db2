package cli

import "github.com/ouro-timer/ouro-timer/cmd/option"

// The options that several commands have are values, which the linker lays out: a function for each
// would run in every call. Where commands mean something different by one, its help is theirs
// (WithHelp).

// MaxFlag is the option that bounds how long a command may block.
var MaxFlag = option.Option{Name: "max", Kind: option.Duration, Env: "OURO_MAX", OfCall: true,
	Help: "wait for at most DURATION, then exit with code 75 (default: OURO_MAX)"}

// WaitFlag is the option of at and log that waits for the end of a run.
var WaitFlag = option.Option{Name: "wait", Kind: option.Flag, OfCall: true}

// JSONFlag is the option that answers in JSON. A command lists it, and each other common option,
// only if it follows it, so that no option is accepted and then ignored.
var JSONFlag = option.Option{Name: "json", Kind: option.Flag, Choices: []string{jsonFull}, OfCall: true,
	Help: "answer with one JSON object, errors included; --json=full with what is absent, too"}

// jsonFull is the value of --json that shows absent fields, too.
const jsonFull = "full"

// FieldsFlag is the option that chooses the fields of the answer.
var FieldsFlag = option.Option{Name: "fields", Kind: option.List, Value: "NAMES", OfCall: true,
	Help: "answer in JSON with only these fields: id,due; a dot reaches inside: stdout.text"}

// QuietFlag is the option that leaves out what only people want. Each command says what that is.
var QuietFlag = option.Option{Name: "quiet", Aliases: []string{"q"}, Kind: option.Flag, OfCall: true}

// ZoneFlag is the option that names the zone of times (Call.Zone).
var ZoneFlag = option.Option{Name: "tz", Kind: option.Zone, Env: "OURO_TZ",
	Help: "read and show times in ZONE, such as Europe/Warsaw (default: OURO_TZ, the config, TZ, the machine's)"}

// DryFlag is the option of every command that changes something. The answer is then that of the
// real call, as far as it can be known, with dry_run in it. Lines begin with "dry run:" and say
// what would be done (Verb). Errors are the same. Nothing is written, started, ended or sent.
var DryFlag = option.Option{Name: "dry-run", Kind: option.Flag, OfCall: true,
	Help: "change nothing: say what would be done"}

// NoAutostartFlag is the option of every command that may start a runner (handover.HandOver).
var NoAutostartFlag = option.Option{Name: "no-autostart", Kind: option.Flag, Env: "OURO_AUTOSTART", OfCall: true,
	Help: "do not start a runner (also: OURO_AUTOSTART=0, or [run] autostart = false)"}

// MatchFlag is the option that names a task by its text.
var MatchFlag = option.Option{Name: "match", Kind: option.Text,
	Help: "the one task whose ID, key, description, text, command or time contains TEXT"}

// TagFlag is the option that marks a task with words of the caller's choice, or means all tasks
// that have them.
var TagFlag = option.Option{Name: "tag", Key: "tags", Kind: option.Name, Many: true, OrText: true, Like: "home"}

// These are the groups of options that several commands have.
const (
	GroupWhen = "When"
	GroupWhat = "What it does"
)

// WhenFlags are the options that give a time in one form. Each excludes the others, and a time
// given as arguments.
var WhenFlags = option.Rows{
	{Name: "delay", Group: GroupWhen, Kind: option.Duration,
		Help: "after DURATION: 90s, 2h30m, 1d; a bare number is seconds"},
	{Name: "until", Group: GroupWhen, Kind: option.Instant,
		Help: "at INSTANT: 10pm, \"tomorrow at 9am\", 2030-12-24T18:00"},
	{Name: "every", Group: GroupWhen, Aliases: []string{"interval"}, Kind: option.Duration,
		Help: "again every DURATION: 5m, 1h30m; a unit is needed"},
	{Name: "cron", Group: GroupWhen, Kind: option.Cron,
		Help: "by a CRON line of 5, 6 (year last) or 7 fields (seconds first, year last), or @daily"},
	{Name: "rrule", Group: GroupWhen, Kind: option.Rule, Help: "by an RFC 5545 RULE, such as FREQ=DAILY;BYHOUR=18"},
}
