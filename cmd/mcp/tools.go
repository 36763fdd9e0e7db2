package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// arg is an argument in the description of a tool. The tool also takes all others that its command
// has.
type arg struct {
	name  string // the key
	says  string
	like  any  // an example; may be nil
	must  bool // it is required
	among []string
}

// tool is a command as a model sees it.
type tool struct {
	name, title string
	says        string
	example     string // an example of its arguments
	command     string // the command whose options are its arguments
	own         option.Rows
	args        []arg
	also        map[string]string // other names of its arguments
	// what to do in place of arguments that other systems have, by their names with underscores
	meant map[string]string
	// The defaults of options that are not those of the command line.
	usual   map[string]string
	without []string // options of the command that the tool does not take
	answers []string // the names of the forms of its answers
	// The fields of answers in its description, beside those that every answer may have.
	shows    []string
	reads    bool // it changes nothing
	destroys bool
	repeats  bool // repeating it changes nothing more
	open     bool // it reaches beyond this machine
	blocks   bool // it may wait

	rows    option.Rows // all options that it takes
	request func(*Options, *tool, option.Values) (request, error)
}

// request is the call that a tool makes of a command.
type request struct {
	Request
	most    time.Duration // the longest time that it blocks; 0 when it does not
	bounded bool          // the caller gave the bound
	left    time.Duration // how long until its end, if that is less; 0 when not known
	asks    *Request      // the call that says when it ends, if it has to be asked
}

// maxSeconds is the argument of tools that block.
const maxSeconds = "max_seconds"

// These are the arguments that are not options of a command, or that tools read differently.
var (
	timeArg    = option.Option{Name: "when", Kind: option.Time}
	maxArg     = option.Option{Name: "max", Key: maxSeconds, Kind: option.Duration}
	taskArg    = option.Option{Name: "task", Kind: option.Text}
	commandArg = option.Option{Name: "command", Kind: option.Text, Many: true}
	idArg      = option.Option{Name: "id", Kind: option.ID}
	idsArg     = option.Option{Name: "ids", Kind: option.ID, Many: true}
)

// all returns the tools in the order of the list. most bounds those that block.
func all(o *Options) []*tool {
	blocking := arg{name: maxSeconds, says: fmt.Sprintf("block at most so long (default and most: %d)",
		int(o.Most/time.Second))}
	list := []*tool{
		{
			name: "wait", title: "Wait", command: "wait", blocks: true,
			own: option.Rows{{Name: "when", Kind: option.Text}, taskArg, maxArg,
				{Name: "mode", Kind: option.Text}, {Name: "value", Kind: option.Text},
				{Name: "any", Kind: option.Text, Many: true}},
			says: "Block until a moment. Long waits come in parts: the answer \"waiting\" has a call to make next. To be told later without blocking, use " +
				"schedule_task.",
			example: `{"when": "30s", "task": "check the build"}`,
			args: []arg{
				{name: "when", says: "what to wait for, such as 10m or 22:30; a bare number is seconds"},
				{name: "task", says: "what to do then, given back"},
				{name: "resume", says: "id of a wait to go on with, in place of when"},
				{name: "any", says: "in place of when: the first of several, which the answer names",
					like: []string{"10m", "task:k7m2", "inbox", "tcp://localhost:5432"}},
				blocking,
			},
			also: map[string]string{"timeExpression": "when", "time_expression": "when", "taskPayload": "task",
				"task_payload": "task",
				"timer_id":     "resume", "id": "resume", "timeout": maxSeconds, "timeout_seconds": maxSeconds},
			without: []string{"max", "raw", "quiet", "name", "notify", "bell", "big", "count", "json",
				"no-autostart", "dry-run"}, answers: []string{"wait", "wait-waiting", "wait-any", "wait-any-waiting"},
			shows: []string{"status", "due", "task", "id", "late_seconds", "left_seconds", "missed", "which",
				"run", "item", "target"}, request: waitRequest,
		},
		{
			name: "schedule_task", title: "Schedule a task", command: "at",
			own:     option.Rows{timeArg, commandArg},
			says:    "Schedule a command or a message, once or again and again; it outlives this session. A message, and the output of a command, wait in inbox.",
			example: `{"when": "tomorrow at 10:00", "command": ["make", "backup"]}`,
			args: []arg{
				{name: "when", must: true,
					says: "e.g. \"in 20 minutes\", \"every weekday at 9am\", \"0 9 * * 1-5\", \"FREQ=DAILY;BYHOUR=18\"; a number needs a unit"},
				{name: "task", says: "text of a message, or payload of the command"},
				{name: "command", says: "program and arguments, run without a shell"},
				{name: "shell", says: "a line for /bin/sh instead"},
				{name: "description", says: "a few words"},
				{name: "key", says: "a name: while a task has it, no second one is made"},
				{name: "replace", says: "change the task that has the key"},
				{name: "notify", says: "channels that tell of it", like: []string{"desktop"}},
				{name: "notify_on", among: []string{"always", "failure", "output", "change", "recovery", "never"}},
				{name: "timeout", says: "ends a run that takes longer", like: "10m"},
				{name: "retries"},
				{name: "env", says: "variables for the command"},
				{name: "tz", says: "zone of the times", like: "Europe/Warsaw"},
				{name: "expect", says: "refuse unless the first instant is this (RFC 3339)"},
			},
			also: map[string]string{"taskPayload": "task", "task_payload": "task", "timeExpression": "when",
				"time_expression":          "when",
				"humanReadableDescription": "description", "human_readable_description": "description",
				"timeout_seconds": "timeout"},
			meant: map[string]string{"recipient": `for e-mail send "notify": ["email:bob@example.org"]`,
				"to":           `for e-mail send "notify": ["email:bob@example.org"]`,
				"process_name": `did you mean "agent"? It takes a program with its arguments`,
				"webhook_url":  `did you mean "webhook"?`},
			without: []string{"stdin", "spread", "quiet", "json", "no-autostart"}, answers: []string{"at", "at-each"},
			shows: []string{"id", "kind", "due", "reading", "created", "differs", "warnings"}, request: scheduleRequest,
		},
		{
			name: "list_tasks", title: "List tasks", command: "ls", reads: true,
			own:     option.Rows{idArg},
			says:    "What is pending, next first; with id all there is to know of one task.",
			example: `{"limit": 20}`,
			args: []arg{
				{name: "id", says: "of one task"},
				{name: "all", says: "also what has ended"},
				{name: "before", says: "list occurrences up to a moment", like: "tomorrow midnight"},
				{name: "limit", says: "default 50"},
			},
			also:    map[string]string{"task_id": "id", "taskId": "id", "timer_id": "id"},
			usual:   map[string]string{"limit": strconv.Itoa(listLimit)},
			without: []string{"json", "format", "header"}, answers: []string{"ls", "ls-before", "show"},
			shows: []string{"tasks", "occurrences", "total", "more", "warnings"}, request: listRequest,
		},
		{
			name: "cancel_task", title: "Cancel tasks", command: "rm", destroys: true, repeats: true,
			own:     option.Rows{idsArg},
			says:    "Cancel tasks: nothing of them starts any more. edit_task with action restore undoes it.",
			example: `{"ids": ["k7m2"]}`,
			args: []arg{
				{name: "ids"},
				{name: "match", says: "the one task that says this, in place of ids"},
				{name: "kill", says: "end what runs of them, too"},
			},
			also: map[string]string{"id": "ids", "task_id": "ids", "taskId": "ids", "task_ids": "ids",
				"timer_id": "ids"}, without: []string{"quiet", "json"},
			answers: []string{"rm"}, shows: []string{"removed", "stopped", "errors"}, request: cancelRequest,
		},
		{
			name: "edit_task", title: "Change a task", command: "edit", destroys: true,
			own: option.Rows{idArg, {Name: "action", Kind: option.Text}, timeArg, commandArg,
				{Name: "resume-at", Kind: option.Time}, {Name: "clear", Kind: option.Text, Many: true}},
			says:    "Change a task: its time, words, command, or any other argument of schedule_task. Or pause, resume or restore it.",
			example: `{"id": "k7m2", "when": "+1h"}`,
			args: []arg{
				{name: "id", must: true},
				{name: "action", says: "default change", among: editActions},
				{name: "when",
					says: "15:00 keeps the date, +1h counts from due, or a recurrence; a number needs a unit"},
				{name: "task"},
				{name: "description"},
				{name: "command"},
				{name: "shell"},
				{name: "resume_at", says: "of a pause: when it ends", like: "2h"},
				{name: "clear", says: "arguments to take back", like: []string{"description", "end"}},
			},
			also: map[string]string{"task_id": "id", "taskId": "id", "ids": "id", "task_ids": "id",
				"timer_id": "id", "taskPayload": "task", "task_payload": "task", "timeExpression": "when",
				"time_expression": "when", "humanReadableDescription": "description",
				"human_readable_description": "description",
				"timeout_seconds":            "timeout"},
			without: []string{"match", "quiet", "json"}, answers: []string{"edit", "pause", "resume", "restore"},
			shows:   []string{"id", "due", "changed", "paused", "resumed", "restored", "errors", "warnings"},
			request: editRequest,
		},
		{
			name: "explain_time", title: "Explain a time", command: "when", reads: true,
			own:     option.Rows{timeArg},
			says:    "How a time expression is read, and its next instants. Changes nothing.",
			example: `{"when": "next Friday at noon"}`,
			args: []arg{
				{name: "when", must: true, says: "as schedule_task has it", like: "every weekday at 9am"},
				{name: "number", says: "how many instants, default 5"},
				{name: "tz", like: "Europe/Warsaw"},
			},
			also: map[string]string{"timeExpression": "when", "time_expression": "when", "expression": "when",
				"count": "number", "n": "number"},
			without: []string{"json", "count"}, answers: []string{"when"},
			shows:   []string{"kind", "reading", "canonical", "tz", "next", "notes", "others", "remarks"},
			request: explainRequest,
		},
		{
			name: "task_log", title: "How runs ended", command: "log", reads: true,
			own:     option.Rows{idArg},
			says:    "With id: how the last run of a task (k7m2) or one run (k7m2/3) ended, and its output. Without: the last entries of all.",
			example: `{"id": "k7m2"}`,
			args: []arg{
				{name: "id"},
				{name: "number", says: "how many entries"},
				{name: "since", says: "a length of time back, or a moment", like: "2h"},
				{name: "outcome", says: "only these", like: []string{"failed", "timeout"}},
				{name: "output_limit", says: "bytes of output, the last ones; default 8192"},
			},
			also:    map[string]string{"task_id": "id", "taskId": "id", "timer_id": "id", "limit": "number"},
			usual:   map[string]string{"output-limit": strconv.Itoa(outputLimit)},
			without: []string{"follow", "after", "max", "match", "audit", "json"}, answers: []string{"log"},
			shows: []string{"log", "total", "more", "running"}, request: logRequest,
		},
		{
			name: "inbox", title: "Inbox", command: "inbox", blocks: true,
			own:     option.Rows{{Name: "ack", Kind: option.ID, Many: true}, maxArg, idsArg},
			says:    "Messages that came due and results of tasks, until they are acknowledged. Take them, act, then acknowledge.",
			example: `{"take": true}`,
			args: []arg{
				{name: "take", says: "lease them for 10 minutes: nobody else takes them"},
				{name: "ack", says: "end these items instead of listing", like: []string{"k7m2/3"}},
				{name: "wait", says: "block until there is something"},
				blocking,
				{name: "ids", says: "only of these tasks or items"},
				{name: "limit", says: "default 20"},
			},
			also:    map[string]string{"acknowledge": "ack", "timeout": maxSeconds, "timeout_seconds": maxSeconds},
			usual:   map[string]string{"limit": strconv.Itoa(inboxLimit)},
			without: []string{"max", "quiet", "json"}, answers: []string{"inbox", "ack"},
			shows:   []string{"status", "items", "total", "more", "cursor", "acknowledged", "errors"},
			request: inboxRequest,
		},
		{
			name: "wait_for_health", title: "Wait for a service", command: "health-wait", open: true, blocks: true,
			own: option.Rows{{Name: "targets", Kind: option.Text, Many: true}, maxArg},
			says: "Block until services are there: http(s)://, tcp://host:port, tls://, unix:///path, dns:name, file:path, pid:123, task:ID, docker:NAME, " +
				"postgres://, mysql://, redis://, amqp://, nats://, kafka://, grpc://host:port, which are asked whether they are ready, or exec:LINE, which sh runs. Once for an outage, not in a loop.",
			example: `{"targets": ["http://localhost:8080/health"], "timeout": "2m"}`,
			args: []arg{
				{name: "targets", must: true},
				{name: "timeout", says: "give up after, default 120s", like: "2m"},
				{name: "any", says: "one of them is enough"},
				{name: "invert", says: "wait until they are gone"},
				blocking,
			},
			also: map[string]string{"target": "targets", "url": "targets", "urls": "targets",
				"timeout_seconds": "timeout"},
			without: []string{"max", "quiet", "json", "dry-run"}, answers: []string{"health-wait"},
			shows:   []string{"healthy", "status", "reason", "targets", "attempts", "waited_seconds"},
			request: healthRequest,
		},
		{
			name: "notify", title: "Tell somebody", command: "notify", open: true,
			own:     option.Rows{{Name: "body", Kind: option.Text}},
			says:    "Tell somebody now, through a channel such as desktop or email. list shows the channels.",
			example: `{"body": "the build is done"}`,
			args: []arg{
				{name: "body"},
				{name: "channel", says: "default: as configured", like: []string{"desktop"}},
				{name: "to", says: "addresses of email"},
				{name: "subject"},
				{name: "list"},
				{name: "dry_run", says: "only say what would be sent"},
			},
			also: map[string]string{"message": "body", "text": "body", "channels": "channel",
				"recipient": "to", "recipients": "to"},
			without: []string{"json"}, answers: []string{"notify", "notify-list", "notify-dry-run"},
			shows: []string{"id", "delivered", "channels"}, request: notifyRequest,
		},
	}
	for _, t := range list {
		t.learn(o.Rows(t.command))
	}
	return list
}

// learn adds the options of the command to what the tool takes.
func (t *tool) learn(rows option.Rows) {
	t.rows = slices.Clone(t.own)
	for _, o := range rows {
		if t.own.Named(o.Name) == nil && !slices.Contains(t.without, o.Name) {
			t.rows = append(t.rows, o)
		}
	}
}

// lenient reads the arguments of a call.
func (t *tool) lenient() option.Lenient {
	l := option.Lenient{Name: t.name, Example: t.example, Rows: t.rows, Also: t.also, Meant: t.meant}
	for _, a := range t.args {
		l.Shown = append(l.Shown, a.name)
	}
	return l
}

// keyed returns the argument of a key, or nil.
func (t *tool) keyed(key string) *option.Option {
	for i := range t.rows {
		if t.rows[i].FieldKey() == key {
			return &t.rows[i]
		}
	}
	return nil
}

// options returns the options of the command that were given.
func (t *tool) options(v option.Values) option.Values {
	for _, o := range t.own {
		v = v.Without(o.Name)
	}
	return v
}

// bound is how long a call may block: as it says, but no longer than clients wait.
func (o *Options) bound(v option.Values) (time.Duration, error) {
	text := v.Text("max")
	if text == "" {
		return o.Most, nil
	}
	d, err := when.Duration(text)
	if err != nil || d <= 0 {
		return 0, refuse(fmt.Sprintf("%q is %q, and takes seconds", maxSeconds, text),
			fmt.Sprintf("send %q: 20", maxSeconds))
	}
	return min(d, o.Most), nil
}

// refuse is the request of a call that is wrong before it reaches a command.
func refuse(message, hint string) error { return problem.Of(problem.T(message), problem.T(hint)) }

// schema is the JSON Schema of the arguments in the description.
func (t *tool) schema() json.RawMessage {
	type property struct {
		Type     string    `json:"type"`
		Items    *property `json:"items,omitempty"`
		Says     string    `json:"description,omitempty"`
		Among    []string  `json:"enum,omitempty"`
		Examples []any     `json:"examples,omitempty"`
	}
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	must := []string{}
	for i, a := range t.args {
		p := property{Type: "string", Says: a.says, Among: a.among}
		switch row := t.keyed(a.name); {
		case row.Kind == option.Whole:
			p.Type = "integer"
		case row.Kind == option.Flag, row.Bare:
			p.Type = "boolean"
		case row.Pairs:
			p.Type = "object"
		case row.Many:
			p.Type, p.Items = "array", &property{Type: "string"}
		}
		if a.name == maxSeconds {
			p.Type = "number"
		}
		if a.like != nil {
			p.Examples = []any{a.like}
		}
		if a.must {
			must = append(must, a.name)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", a.name, option.JSON(p))
	}
	b.WriteByte('}')
	if len(must) > 0 {
		fmt.Fprintf(&b, `,"required":%s`, option.JSON(must))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}
