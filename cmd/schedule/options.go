package schedule

import (
	"slices"
	"strconv"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// onFlag is the option that says where in a fleet a task runs.
var onFlag = option.Option{Name: "on", Kind: option.Name, Many: true, OrText: true}

// recurrenceFlags are the options that say when a recurrence begins and ends, and which days it
// leaves out.
var recurrenceFlags = option.Rows{
	{Name: "start", Group: cli.GroupWhen, Kind: option.Time,
		Help: "a recurrence begins at WHEN: the phase of an interval, the first day of a rule"},
	{Name: "end", Group: cli.GroupWhen, Kind: option.Time, Help: "a recurrence ends at WHEN; that instant still counts"},
	{Name: "count", Group: cli.GroupWhen, Kind: option.Whole, Help: "a recurrence ends after N instants"},
	{Name: "except", Group: cli.GroupWhen, Kind: option.Text, Value: "DAYS", Many: true, OrText: true, Like: "24 dec",
		Help: "leave DAYS out of a recurrence: weekends, 24 dec, 24 dec to 2 jan, or file:PATH with a day a line; " +
			"may be repeated"},
}

// taskFlags are the options that at and edit share: the agent that is told, the time, what happens
// when an occurrence is late, fails or runs too long, what a command may use, and who is told.
func taskFlags() option.Rows {
	return slices.Concat(option.Rows{
		{Name: "agent", Kind: option.File, Value: "PROGRAM", WordList: true,
			Help: "tell the agent PROGRAM, given with its arguments as one word, by JSON-RPC on its standard input"},
		{Name: "title", Kind: option.Text, Help: "with --agent: what it is, in a few words (TEXT)"},
		{Name: "project", Aliases: []string{"project-id"}, Kind: option.Text,
			Help: "with --agent: the ID of the project that is told (TEXT)"},
		{Name: "priority", Kind: option.Word,
			Choices: []string{state.PriorityMedium, state.PriorityLow, state.PriorityHigh},
			Default: state.PriorityMedium, Help: "with --agent: low, medium or high"},
		{Name: "rpc-request", Kind: option.Flag,
			Help: "with --agent: send a request with an id; the answer repeats it"},
	}.In("An agent process"), option.Rows{
		{Name: "after", Group: cli.GroupWhen, Kind: option.ID, Many: true, OrText: true, Like: "ID:any",
			Help: "instead of a time: when task ID has succeeded (ID:failed: failed; ID:any: ended); repeated: after all"},
	}, cli.WhenFlags, recurrenceFlags, option.Rows{
		{Name: "catchup", Kind: option.Word, Choices: []string{state.CatchupOnce, state.CatchupAll,
			state.CatchupSkip}, Default: state.CatchupOnce,
			Help: "of instants missed while the machine was off, run once (the latest), all, or skip them"},
		{Name: "window", Kind: option.Duration,
			Help: "do not start later than DURATION after the time: the occurrence is then missed"},
		{Name: "overlap", Kind: option.Word, Choices: []string{state.OverlapSkip, state.OverlapQueue,
			state.OverlapAllow, state.OverlapReplace}, Default: state.OverlapSkip,
			Help: "while a run goes on: skip the next, queue one, allow both, or replace the run"},
		{Name: "if", Kind: option.Shell,
			Help: "run the SHELL text first, and skip the occurrence unless it exits 0"},
		{Name: "timeout", Kind: option.Duration,
			Help: "end a run after DURATION: TERM to its group, KILL 10 s later; 0 for no limit"},
		{Name: "retries", Kind: option.Whole,
			Help: "after a failure or a time-out make up to N more attempts; the last output is kept"},
		{Name: "backoff", Kind: option.Duration, Default: cli.SpanText(rules.BackoffLeast),
			Help: "wait DURATION before the first retry; for an agent " + tasks.AgentBackoff +
				" when it is not given"},
		{Name: "backoff-factor", Kind: option.Whole, Default: strconv.Itoa(rules.BackoffFactor),
			Help: "make each further pause N times as long; 1: all the same"},
		{Name: "rerun-interrupted", Kind: option.Flag,
			Help: "run again when the machine or the runner died during a run"},
		{Name: "until-ok", Kind: option.Flag, Help: "end the recurrence with the first run that succeeds"},
		{Name: "until-output", Kind: option.Regex,
			Help: "end the recurrence when a run's standard output matches REGEX, such as (?m)^done$"},
	}.In("When it is late, fails or goes on too long"), option.Rows{
		{Name: "nice", Kind: option.Whole, Help: "add N to its niceness, -20 to 19"},
		{Name: "ionice", Kind: option.Text, Value: "CLASS", Like: "idle",
			Help: "idle, best-effort[:0-7], realtime[:0-7] or none"},
		{Name: "memory", Kind: option.Text, Value: "SIZE", Like: "512M",
			Help: "most memory of a run: 512M; 0 means no limit"},
		{Name: "cpu", Kind: option.Text, Value: "SHARE",
			Help: "processor time: 50%, 1.5; 0 means no limit"},
	}.In("What it may use (Linux)"), option.Rows{
		{Name: "notify", Kind: option.Channel, Many: true, OrText: true, Like: "desktop",
			Help: "tell by CHANNEL: NAME, NAME:RECIPIENT or a URL without secrets; may be repeated (default: the config)"},
		{Name: "notify-on", Kind: option.Word,
			Choices: []string{state.NotifyAlways, state.NotifyFailure, state.NotifyOutput, state.NotifyChange,
				state.NotifyRecovery, state.NotifyNever},
			Help: "always, failure, output, change, recovery or never (default: output; of a message always)"},
		{Name: "webhook", Kind: option.URL, Many: true, OrText: true, Like: "https://host/path",
			Help: "POST what is told to URL as JSON, too; may be repeated"},
		{Name: "prefix", Kind: option.Text, OrEmpty: true, Help: "put TEXT before what is told; empty: no prefix"},
	}.In("Who is told"))
}
