package mcp

import (
	"strconv"

	"github.com/ouro-timer/ouro-timer/cmd/option"
)

// These are the arguments that are not options of a command, or that tools read differently.
var (
	timeArg    = option.Option{Name: "when", Kind: option.Time}
	maxArg     = option.Option{Name: "max", Key: maxSeconds, Kind: option.Duration}
	taskArg    = option.Option{Name: "task", Kind: option.Text}
	commandArg = option.Option{Name: "command", Kind: option.Text, Many: true}
	idArg      = option.Option{Name: "id", Kind: option.ID}
	idsArg     = option.Option{Name: "ids", Kind: option.ID, Many: true}
)

// tools are all of them, in the order of the list. blocking is the argument of those that may wait.
func tools(blocking arg) []*tool {
	return []*tool{
		{
			name: "wait", title: "Wait", command: "wait",
			ownOptions: option.Rows{{Name: "when", Kind: option.Text}, taskArg,
				{Name: "mode", Kind: option.Text}, {Name: "value", Kind: option.Text},
				{Name: "any", Kind: option.Text, Many: true}},
			help: "Block until a moment. Long waits come in parts: the answer \"waiting\" has a call to make next. To be told later without blocking, use " +
				"schedule_task.",
			example: `{"when": "30s", "task": "check the build"}`,
			args: []arg{
				{name: "when", help: "what to wait for, such as 10m or 22:30; a bare number is seconds"},
				{name: "task", help: "what to do then, given back"},
				{name: "resume", help: "id of a wait to go on with, in place of when"},
				{name: "any", help: "in place of when: the first of several, which the answer names",
					example: []string{"10m", "task:k7m2", "inbox", "tcp://localhost:5432"}},
				blocking,
			},
			aliases: map[string]string{"timer_id": "resume", "id": "resume", "timeout": maxSeconds,
				"timeout_seconds": maxSeconds},
			excluded: []string{"raw", "name", "notify", "bell", "big", "count", "dry-run"}, answers: []string{"wait", "wait-waiting", "wait-any", "wait-any-waiting"},
			fields: []string{"status", "due", "task", "id", "late_seconds", "left_seconds", "missed", "which",
				"run", "item", "target"}, request: waitRequest,
		},
		{
			name: "schedule_task", title: "Schedule a task", command: "at",
			ownOptions: option.Rows{timeArg, commandArg},
			help:       "Schedule a command or a message, once or again and again; it outlives this session. A message, and the output of a command, wait in inbox.",
			example:    `{"when": "tomorrow at 10:00", "command": ["make", "backup"]}`,
			args: []arg{
				{name: "when",
					help: "e.g. \"in 20 minutes\", \"every weekday at 9am\", \"0 9 * * 1-5\", \"FREQ=DAILY;BYHOUR=18\"; a number needs a unit"},
				{name: "task", help: "text of a message, or payload of the command"},
				{name: "command", help: "program and arguments, run without a shell"},
				{name: "shell", help: "a line for /bin/sh instead"},
				{name: "description", help: "a few words"},
				{name: "key", help: "a name: while a task has it, no second one is made"},
				{name: "replace", help: "change the task that has the key"},
				{name: "notify", help: "channels that tell of it", example: []string{"desktop"}},
				{name: "notify_on", choices: []string{"always", "failure", "output", "change", "recovery", "never"}},
				{name: "timeout", help: "ends a run that takes longer", example: "10m"},
				{name: "retries"},
				{name: "env", help: "variables for the command"},
				{name: "tz", help: "zone of the times", example: "Europe/Warsaw"},
				{name: "except", help: "days left out, e.g. weekends"},
				{name: "expect", help: "refuse unless the first instant is this (RFC 3339)"},
				{name: "wait", help: "block until its first run has ended"},
				blocking,
			},
			instead: map[string]string{"recipient": `for e-mail send "notify": ["email:bob@example.org"]`,
				"to": `for e-mail send "notify": ["email:bob@example.org"]`},
			excluded: []string{"stdin", "spread"}, answers: []string{"at", "at-each", "run-ended", "run-waiting"},
			fields: []string{"id", "kind", "due", "reading", "created", "differs", "status", "outcome", "warnings"}, request: scheduleRequest,
		},
		{
			name: "list_tasks", title: "List tasks", command: "ls", readOnly: true,
			ownOptions: option.Rows{idArg},
			help:       "What is pending, next first; with id all about one task.",
			example:    `{"limit": 20}`,
			args: []arg{
				{name: "id", help: "of one task"},
				{name: "all", help: "also what has ended"},
				{name: "before", help: "list occurrences up to a moment", example: "tomorrow midnight"},
				{name: "limit", help: "default 50"},
			},
			defaults: map[string]string{"limit": strconv.Itoa(listLimit)},
			excluded: []string{"format", "header"}, answers: []string{"ls", "ls-before", "show"},
			fields: []string{"tasks", "occurrences", "total", "more", "warnings"}, request: listRequest,
		},
		{
			name: "cancel_task", title: "Cancel tasks", command: "rm", destructive: true, idempotent: true,
			ownOptions: option.Rows{idsArg},
			help:       "Cancel tasks: nothing of them starts any more. edit_task with action restore undoes it.",
			example:    `{"ids": ["k7m2"]}`,
			args: []arg{
				{name: "ids"},
				{name: "match", help: "the one task that says this, in place of ids"},
				{name: "kill", help: "end what runs of them, too"},
			},
			aliases: map[string]string{"id": "ids", "task_id": "ids", "task_ids": "ids", "timer_id": "ids"},
			answers: []string{"rm"},
			fields:  []string{"removed", "stopped", "errors"}, request: cancelRequest,
		},
		{
			name: "edit_task", title: "Change a task", command: "edit", destructive: true,
			ownOptions: option.Rows{idArg, {Name: "action", Kind: option.Text}, timeArg, commandArg,
				{Name: "resume-at", Kind: option.Time}, {Name: "clear", Kind: option.Text, Many: true}},
			help:    "Change a task: its time, words, command, or any other argument of schedule_task. Or pause, resume or restore it.",
			example: `{"id": "k7m2", "when": "+1h"}`,
			args: []arg{
				{name: "id", required: true},
				{name: "action", help: "default change", choices: editActions},
				{name: "when",
					help: "15:00 keeps the date, +1h counts from due, or a recurrence; a number needs a unit"},
				{name: "task"},
				{name: "description"},
				{name: "command"},
				{name: "shell"},
				{name: "resume_at", help: "of a pause: when it ends", example: "2h"},
				{name: "clear", help: "arguments to take back", example: []string{"description", "end"}},
			},
			aliases:  map[string]string{"ids": "id", "task_ids": "id"},
			excluded: []string{"match"}, answers: []string{"edit", "pause", "resume", "restore"},
			fields:  []string{"id", "due", "changed", "paused", "resumed", "restored", "errors", "warnings"},
			request: editRequest,
		},
		{
			name: "explain_time", title: "Explain a time", command: "when", readOnly: true,
			ownOptions: option.Rows{timeArg},
			help:       "How a time expression is read, and its next instants. Changes nothing.",
			example:    `{"when": "next Friday at noon"}`,
			args: []arg{
				{name: "when", help: "as schedule_task has it", example: "every weekday at 9am"},
				{name: "number", help: "how many instants, default 5"},
				{name: "tz", example: "Europe/Warsaw"},
			},
			aliases:  map[string]string{"expression": "when", "count": "number", "n": "number"},
			excluded: []string{"count"}, answers: []string{"when"},
			fields:  []string{"kind", "reading", "canonical", "tz", "next", "notes", "others", "remarks"},
			request: explainRequest,
		},
		{
			name: "task_log", title: "How runs ended", command: "log", readOnly: true,
			ownOptions: option.Rows{idArg},
			help:       "With id: how the last run of a task (k7m2) or one run (k7m2/3) ended, and its output. Without: the last entries of all.",
			example:    `{"id": "k7m2"}`,
			args: []arg{
				{name: "id"},
				{name: "number", help: "how many entries"},
				{name: "since", help: "a length of time back, or a moment", example: "2h"},
				{name: "outcome", help: "only these", example: []string{"failed", "timeout"}},
				{name: "output_limit", help: "bytes of output, the last ones; default 8192"},
				{name: "wait", help: "with id: block until a run has ended"},
				blocking,
			},
			aliases:  map[string]string{"limit": "number"},
			defaults: map[string]string{"output-limit": strconv.Itoa(outputLimit)},
			excluded: []string{"follow", "match", "audit"}, answers: []string{"log", "run-ended", "run-waiting"},
			fields: []string{"log", "total", "more", "running", "status", "outcome"}, request: logRequest,
		},
		{
			name: "inbox", title: "Inbox", command: "inbox",
			ownOptions: option.Rows{{Name: "ack", Kind: option.ID, Many: true}, {Name: "task", Key: "ack_task", Kind: option.ID}, idsArg},
			help:       "Messages that came due and results of tasks, until they are acknowledged. Take them, act, then acknowledge.",
			example:    `{"take": true}`,
			args: []arg{
				{name: "take", help: "lease them for 10 minutes: nobody else takes them"},
				{name: "ack", help: "end these items instead of listing", example: []string{"k7m2/3"}},
				{name: "wait", help: "block until there is something"},
				blocking,
				{name: "ids", help: "only of these tasks or items"},
				{name: "limit", help: "default 20"},
			},
			aliases:  map[string]string{"acknowledge": "ack", "timeout": maxSeconds, "timeout_seconds": maxSeconds},
			defaults: map[string]string{"limit": strconv.Itoa(inboxLimit)},
			answers:  []string{"inbox", "ack"},
			fields:   []string{"status", "items", "total", "more", "cursor", "acknowledged", "errors"},
			request:  inboxRequest,
		},
		{
			name: "wait_for_health", title: "Wait for a service", command: "health-wait", openWorld: true,
			ownOptions: option.Rows{{Name: "targets", Kind: option.Text, Many: true}},
			help: "Block until services are there: http(s)://, tcp://host:port, tls://, unix:///path, dns:name, file:path, pid:123, task:ID, docker:NAME, " +
				"postgres://, mysql://, redis://, amqp://, nats://, kafka://, grpc://host:port, which are asked whether they are ready, or exec:LINE, which sh runs. Once for an outage, not in a loop.",
			example: `{"targets": ["http://localhost:8080/health"], "timeout": "2m"}`,
			args: []arg{
				{name: "targets", required: true},
				{name: "timeout", help: "give up after, default 120s", example: "2m"},
				{name: "any", help: "one of them is enough"},
				{name: "invert", help: "wait until they are gone"},
				blocking,
			},
			aliases:  map[string]string{"target": "targets", "url": "targets", "urls": "targets"},
			excluded: []string{"stream", "dry-run"}, answers: []string{"health-wait"},
			fields:  []string{"healthy", "status", "reason", "targets", "attempts", "waited_seconds"},
			request: healthRequest,
		},
		{
			name: "notify", title: "Tell somebody", command: "notify", openWorld: true,
			ownOptions: option.Rows{{Name: "body", Kind: option.Text}},
			help:       "Tell somebody now, through a channel such as desktop or email. list shows them.",
			example:    `{"body": "the build is done"}`,
			args: []arg{
				{name: "body"},
				{name: "channel", help: "default: as configured", example: []string{"desktop"}},
				{name: "to", help: "addresses of email"},
				{name: "subject"},
				{name: "list"},
				{name: "dry_run", help: "only say what would be sent"},
			},
			aliases: map[string]string{"message": "body", "text": "body", "channels": "channel",
				"recipient": "to", "recipients": "to"},
			answers: []string{"notify", "notify-list", "notify-dry-run"},
			fields:  []string{"id", "delivered", "channels"}, request: notifyRequest,
		},
	}
}
