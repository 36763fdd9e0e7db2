package schedule

import (
	"strconv"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/rules"
	"github.com/ouro-timer/ouro-timer/timer/tasks"
)

// afterFlag is the option that names the tasks after which a task runs.
func afterFlag() option.Rows {
	return option.Rows{option.Option{Name: "after", Kind: option.ID, Many: true, OrText: true, Like: "ID:any",
		Help: "instead of a time: when task ID has succeeded (ID:failed: failed; ID:any: ended); repeated: after all"}}.In(
		cli.GroupWhen)
}

// tagFlag is the option that marks a task with words of the caller's choice.
func tagFlag(usage string) option.Option {
	return option.Option{Name: "tag", Key: "tags", Kind: option.Name, Many: true, OrText: true, Like: "home",
		Help: usage}
}

// onFlag is the option that says where in a fleet a task runs.
func onFlag(usage string) option.Option {
	return option.Option{Name: "on", Kind: option.Name, Many: true, OrText: true, Help: usage}
}

// agentFlags are the options of tasks that tell an agent process.
func agentFlags() option.Rows {
	return option.Rows{
		option.Option{Name: "agent", Kind: option.File, Value: "PROGRAM", WordList: true,
			Help: "tell the agent PROGRAM, given with its arguments as one word, by JSON-RPC on its standard input"},
		option.Option{Name: "title", Kind: option.Text, Help: "with --agent: what it is, in a few words (TEXT)"},
		option.Option{Name: "project", Aliases: []string{"project-id"}, Kind: option.Text,
			Help: "with --agent: the ID of the project that is told (TEXT)"},
		option.Option{Name: "priority", Kind: option.Word,
			Choices: []string{state.PriorityMedium, state.PriorityLow, state.PriorityHigh},
			Default: state.PriorityMedium, Help: "with --agent: low, medium or high"},
		option.Option{Name: "rpc-request", Kind: option.Flag,
			Help: "with --agent: send a request with an id; the answer repeats it"},
	}.In("An agent process")
}

// policyFlags are the options for occurrences that are late, fail or run too long, and for who is
// told.
func policyFlags() option.Rows {
	return append(option.Rows{
		option.Option{Name: "catchup", Kind: option.Word, Choices: []string{state.CatchupOnce, state.CatchupAll,
			state.CatchupSkip}, Default: state.CatchupOnce,
			Help: "of instants missed while the machine was off, run once (the latest), all, or skip them"},
		option.Option{Name: "window", Kind: option.Duration,
			Help: "do not start later than DURATION after the time: the occurrence is then missed"},
		option.Option{Name: "overlap", Kind: option.Word, Choices: []string{state.OverlapSkip, state.OverlapQueue,
			state.OverlapAllow, state.OverlapReplace}, Default: state.OverlapSkip,
			Help: "while a run goes on: skip the next, queue one, allow both, or replace the run"},
		option.Option{Name: "if", Kind: option.Shell,
			Help: "run the SHELL text first, and skip the occurrence unless it exits 0"},
		option.Option{Name: "timeout", Kind: option.Duration,
			Help: "end a run after DURATION: TERM to its group, KILL 10 s later; 0 for no limit"},
		option.Option{Name: "retries", Kind: option.Whole,
			Help: "after a failure or a time-out make up to N more attempts; the last output is kept"},
		option.Option{Name: "backoff", Kind: option.Duration, Default: cli.SpanText(rules.BackoffLeast),
			Help: "wait DURATION before the first retry; for an agent " + tasks.AgentBackoff +
				" when it is not given"},
		option.Option{Name: "backoff-factor", Kind: option.Whole, Default: strconv.Itoa(rules.BackoffFactor),
			Help: "make each further pause N times as long; 1: all the same"},
		option.Option{Name: "rerun-interrupted", Kind: option.Flag,
			Help: "run again when the machine or the runner died during a run"},
		option.Option{Name: "until-ok", Kind: option.Flag, Help: "end the recurrence with the first run that succeeds"},
		option.Option{Name: "until-output", Kind: option.Regex,
			Help: "end the recurrence when a run's standard output matches REGEX, such as (?m)^done$"},
	}.In("When it is late, fails or goes on too long"), append(resourceFlags(), tellFlags()...)...)
}

// resourceFlags are the options that bound what a command may use of the machine.
func resourceFlags() option.Rows {
	return option.Rows{
		option.Option{Name: "nice", Kind: option.Whole, Help: "add N to its niceness, -20 to 19"},
		option.Option{Name: "ionice", Kind: option.Text, Value: "CLASS", Like: "idle",
			Help: "idle, best-effort[:0-7], realtime[:0-7] or none"},
		option.Option{Name: "memory", Kind: option.Text, Value: "SIZE", Like: "512M",
			Help: "most memory of a run: 512M; 0 means no limit"},
		option.Option{Name: "cpu", Kind: option.Text, Value: "SHARE",
			Help: "processor time: 50%, 1.5; 0 means no limit"},
	}.In("What it may use (Linux)")
}

// tellFlags are the options that say who is told about a task, and when.
func tellFlags() option.Rows {
	return option.Rows{
		option.Option{Name: "notify", Kind: option.Channel, Many: true, OrText: true, Like: "desktop",
			Help: "tell by CHANNEL: NAME, NAME:RECIPIENT or a URL without secrets; may be repeated (default: the config)"},
		option.Option{Name: "notify-on", Kind: option.Word,
			Choices: []string{state.NotifyAlways, state.NotifyFailure, state.NotifyOutput, state.NotifyChange,
				state.NotifyRecovery, state.NotifyNever},
			Help: "always, failure, output, change, recovery or never (default: output; of a message always)"},
		option.Option{Name: "webhook", Kind: option.URL, Many: true, OrText: true, Like: "https://host/path",
			Help: "POST what is told to URL as JSON, too; may be repeated"},
		option.Option{Name: "prefix", Kind: option.Text, OrEmpty: true, Help: "put TEXT before what is told; empty: no prefix"},
	}.In("Who is told")
}
