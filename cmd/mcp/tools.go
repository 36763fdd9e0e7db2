package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Flag is an option of a command. A tool takes it as the argument of its name, with _ for -.
type Flag struct {
	Name string
	Also []string // other names
	Kind Kind
	Says []string // words that are values of it wherever they stand behind it; a closed list, or the best known of an open one
}

// arg is an argument that the description of a tool shows. The tool takes all others that its command has, too.
type arg struct {
	name  string
	kind  Kind
	says  string
	like  any  // an example; nil for none
	must  bool // it has to be there
	among []string
}

// tool is a command as a model sees it.
type tool struct {
	name, title string
	says        string
	example     string // of its arguments
	command     string // the command whose options are arguments of it
	args        []arg
	also        map[string]string // other names of arguments
	meant       map[string]string // what to do in place of arguments that other systems have, by their names with underscores
	most        map[string]string // what an argument is when the call does not say, where that is not as on the command line
	without     []string          // options of the command that it does not take
	answers     []string          // the names of the shapes of its answers
	shows       []string          // the fields of answers that its description shows, beside those that every answer may have
	reads       bool              // it changes nothing
	destroys    bool
	repeats     bool // once more does nothing more
	open        bool // it reaches beyond this machine
	blocks      bool // it may wait for something to come

	kinds   map[string]Kind // of every argument
	flags   map[string]string
	values  map[string][]string // what Flag.Says has, by argument
	nearest func(string, []string) string
	words   func(*Options, *tool, values) (call, error)
}

// call is what a tool has the command line do.
type call struct {
	words []string                                   // with the command
	in    string                                     // standard input
	most  time.Duration                              // the longest it blocks; 0: it does not
	left  time.Duration                              // it has an end in so long, if that is less; 0: there is no telling
	asks  []string                                   // the command that tells when that is, where it has to be asked
	again func(answer map[string]any) map[string]any // the arguments of the call that goes on where this one came to its bound; nil: it ends for good
	next  func(answer map[string]any) map[string]any // the arguments of the call for the next time of a recurrence; nil: none
}

// The argument of tools that block.
const maxSeconds = "max_seconds"

// all are the tools, in the order in which they are listed. most bounds those that block.
func all(o *Options) []*tool {
	blocking := arg{name: maxSeconds, kind: Span, says: fmt.Sprintf("block at most so long (default and most: %d)", int(o.Most/time.Second))}
	list := []*tool{
		{
			name: "wait", title: "Wait", command: "wait", blocks: true,
			says: "Block until a moment. Long waits come in parts: the answer \"waiting\" has a call to make next. To be told later without blocking, use " +
				"schedule_task.",
			example: `{"when": "30s", "task": "check the build"}`,
			args: []arg{
				{name: "when", says: "what to wait for, such as 10m or 22:30"},
				{name: "task", says: "what to do then, given back"},
				{name: "resume", says: "id of a wait to go on with, in place of when"},
				blocking,
			},
			also: map[string]string{"timeExpression": "when", "time_expression": "when", "taskPayload": "task", "task_payload": "task",
				"timer_id": "resume", "id": "resume", "timeout": maxSeconds, "timeout_seconds": maxSeconds},
			without: []string{"max", "raw", "quiet", "count", "json", "no-autostart", "dry-run"}, answers: []string{"wait", "wait-waiting"},
			shows: []string{"status", "due", "task", "id", "late_seconds", "left_seconds", "missed"}, words: waitWords,
		},
		{
			name: "schedule_task", title: "Schedule a task", command: "at",
			says:    "Schedule a command or a message, once or again and again; it outlives this session. A message, and the output of a command, wait in inbox.",
			example: `{"when": "tomorrow at 10:00", "command": ["make", "backup"]}`,
			args: []arg{
				{name: "when", must: true, says: "e.g. \"in 20 minutes\", \"every weekday at 9am\", \"0 9 * * 1-5\", \"FREQ=DAILY;BYHOUR=18\""},
				{name: "task", says: "text of a message, or payload of the command"},
				{name: "command", kind: Texts, says: "program and arguments, run without a shell"},
				{name: "shell", says: "a line for /bin/sh instead"},
				{name: "description", says: "a few words"},
				{name: "key", says: "a name: while a task has it, no second one is made"},
				{name: "replace", kind: Truth, says: "change the task that has the key"},
				{name: "notify", kind: Texts, says: "channels that tell of it", like: []string{"desktop"}},
				{name: "notify_on", among: []string{"always", "failure", "output", "change", "recovery", "never"}},
				{name: "timeout", kind: Span, says: "ends a run that takes longer", like: "10m"},
				{name: "retries", kind: Whole},
				{name: "env", kind: Pairs, says: "variables for the command"},
				{name: "tz", says: "zone of the times", like: "Europe/Warsaw"},
				{name: "expect", says: "refuse unless the first instant is this (RFC 3339)"},
			},
			also: map[string]string{"taskPayload": "task", "task_payload": "task", "timeExpression": "when", "time_expression": "when",
				"humanReadableDescription": "description", "human_readable_description": "description", "timeout_seconds": "timeout"},
			meant: map[string]string{"recipient": `for e-mail send "notify": ["email:bob@example.org"]`, "to": `for e-mail send "notify": ["email:bob@example.org"]`,
				"process_name": `did you mean "agent"? It takes a program with its arguments`, "webhook_url": `did you mean "webhook"?`},
			without: []string{"stdin", "spread", "quiet", "json", "no-autostart"}, answers: []string{"at"},
			shows: []string{"id", "kind", "due", "reading", "created", "differs", "warnings"}, words: scheduleWords,
		},
		{
			name: "list_tasks", title: "List tasks", command: "ls", reads: true,
			says:    "What is pending, next first; with id all there is to know of one task.",
			example: `{"limit": 20}`,
			args: []arg{
				{name: "id", says: "of one task"},
				{name: "all", kind: Truth, says: "also what has ended"},
				{name: "before", says: "list occurrences up to a moment", like: "tomorrow midnight"},
				{name: "limit", kind: Whole, says: "default 50"},
			},
			also: map[string]string{"task_id": "id", "taskId": "id", "timer_id": "id"}, most: map[string]string{"limit": listLimit},
			without: []string{"json"}, answers: []string{"ls", "ls-before", "show"},
			shows: []string{"tasks", "occurrences", "total", "more", "warnings"}, words: listWords,
		},
		{
			name: "cancel_task", title: "Cancel tasks", command: "rm", destroys: true, repeats: true,
			says:    "Cancel tasks: nothing of them starts any more. edit_task with action restore undoes it.",
			example: `{"ids": ["k7m2"]}`,
			args: []arg{
				{name: "ids", kind: Names},
				{name: "match", says: "the one task that says this, in place of ids"},
				{name: "kill", kind: Truth, says: "end what runs of them, too"},
			},
			also: map[string]string{"id": "ids", "task_id": "ids", "taskId": "ids", "task_ids": "ids", "timer_id": "ids"}, without: []string{"quiet", "json"},
			answers: []string{"rm"}, shows: []string{"removed", "stopped", "errors"}, words: cancelWords,
		},
		{
			name: "edit_task", title: "Change a task", command: "edit", destroys: true,
			says:    "Change a task: its time, words, command, or any other argument of schedule_task. Or pause, resume or restore it.",
			example: `{"id": "k7m2", "when": "+1h"}`,
			args: []arg{
				{name: "id", must: true},
				{name: "action", says: "default change", among: editActions},
				{name: "when", says: "15:00 keeps the date, +1h counts from due, or a recurrence"},
				{name: "task"},
				{name: "description"},
				{name: "command", kind: Texts},
				{name: "shell"},
				{name: "resume_at", says: "of a pause: when it ends", like: "2h"},
				{name: "clear", kind: Texts, says: "arguments to take back", like: []string{"description", "end"}},
			},
			also: map[string]string{"task_id": "id", "taskId": "id", "ids": "id", "task_ids": "id", "timer_id": "id", "taskPayload": "task", "task_payload": "task", "timeExpression": "when",
				"time_expression": "when", "humanReadableDescription": "description", "human_readable_description": "description",
				"timeout_seconds": "timeout"},
			without: []string{"match", "quiet", "json"}, answers: []string{"edit", "pause", "resume", "restore"},
			shows: []string{"id", "due", "changed", "paused", "resumed", "restored", "errors", "warnings"}, words: editWords,
		},
		{
			name: "explain_time", title: "Explain a time", command: "when", reads: true,
			says:    "How a time expression is read, and its next instants. Changes nothing.",
			example: `{"when": "next Friday at noon"}`,
			args: []arg{
				{name: "when", must: true, like: "every weekday at 9am"},
				{name: "number", kind: Whole, says: "how many instants, default 5"},
				{name: "tz", like: "Europe/Warsaw"},
			},
			also:    map[string]string{"timeExpression": "when", "time_expression": "when", "expression": "when", "count": "number", "n": "number"},
			without: []string{"json", "count"}, answers: []string{"when"},
			shows: []string{"kind", "reading", "canonical", "tz", "next", "notes", "others", "remarks"}, words: explainWords,
		},
		{
			name: "task_log", title: "How runs ended", command: "log", reads: true,
			says:    "With id: how the last run of a task (k7m2) or one run (k7m2/3) ended, and its output. Without: the last entries of all.",
			example: `{"id": "k7m2"}`,
			args: []arg{
				{name: "id"},
				{name: "number", kind: Whole, says: "how many entries"},
				{name: "since", says: "a length of time back, or a moment", like: "2h"},
				{name: "outcome", kind: Texts, says: "only these", like: []string{"failed", "timeout"}},
				{name: "output_limit", kind: Whole, says: "bytes of output, the last ones; default 8192"},
			},
			also:    map[string]string{"task_id": "id", "taskId": "id", "timer_id": "id", "limit": "number"},
			most:    map[string]string{"output_limit": outputLimit},
			without: []string{"follow", "after", "max", "match", "audit", "json"}, answers: []string{"log"},
			shows: []string{"log", "total", "more", "running"}, words: logWords,
		},
		{
			name: "inbox", title: "Inbox", command: "inbox", blocks: true,
			says:    "Messages that came due and results of tasks, until they are acknowledged. Take them, act, then acknowledge.",
			example: `{"take": true}`,
			args: []arg{
				{name: "take", kind: Anyway, says: "lease them for 10 minutes: nobody else takes them"},
				{name: "ack", kind: Names, says: "end these items instead of listing", like: []string{"k7m2/3"}},
				{name: "wait", kind: Truth, says: "block until there is something"},
				blocking,
				{name: "ids", kind: Names, says: "only of these tasks or items"},
				{name: "limit", kind: Whole, says: "default 20"},
			},
			also:    map[string]string{"acknowledge": "ack", "timeout": maxSeconds, "timeout_seconds": maxSeconds},
			most:    map[string]string{"limit": inboxLimit},
			without: []string{"max", "quiet", "json"}, answers: []string{"inbox", "ack"},
			shows: []string{"status", "items", "total", "more", "cursor", "acknowledged", "errors"}, words: inboxWords,
		},
		{
			name: "wait_for_health", title: "Wait for a service", command: "health-wait", open: true, blocks: true,
			says: "Block until services are there: http(s)://, tcp://host:port, tls://, unix:///path, dns:name, file:path, pid:123, task:ID, or " +
				"exec:LINE, which sh runs. Once for an outage, not in a loop.",
			example: `{"targets": ["http://localhost:8080/health"], "timeout": "2m"}`,
			args: []arg{
				{name: "targets", kind: Texts, must: true},
				{name: "timeout", kind: Span, says: "give up after, default 120s", like: "2m"},
				{name: "any", kind: Truth, says: "one of them is enough"},
				{name: "invert", kind: Truth, says: "wait until they are gone"},
				blocking,
			},
			also:    map[string]string{"target": "targets", "url": "targets", "urls": "targets", "timeout_seconds": "timeout"},
			without: []string{"max", "quiet", "json", "dry-run"}, answers: []string{"health-wait"},
			shows: []string{"healthy", "status", "reason", "targets", "attempts", "waited_seconds"}, words: healthWords,
		},
		{
			name: "notify", title: "Tell somebody", command: "notify", open: true,
			says:    "Tell somebody now, through a channel such as desktop or email. list shows the channels.",
			example: `{"body": "the build is done"}`,
			args: []arg{
				{name: "body"},
				{name: "channel", kind: Texts, says: "default: as configured", like: []string{"desktop"}},
				{name: "to", kind: Texts, says: "addresses of email"},
				{name: "subject"},
				{name: "list", kind: Truth},
				{name: "dry_run", kind: Truth, says: "only say what would be sent"},
			},
			also:    map[string]string{"message": "body", "text": "body", "channels": "channel", "recipient": "to", "recipients": "to"},
			without: []string{"json"}, answers: []string{"notify", "notify-list", "notify-dry-run"},
			shows: []string{"id", "delivered", "channels"}, words: notifyWords,
		},
	}
	for _, t := range list {
		t.nearest = o.Nearest
		t.learn(o.Flags)
	}
	return list
}

// learn adds the options of the tool's command to what it takes.
func (t *tool) learn(flags func(string) []Flag) {
	t.kinds, t.flags, t.values = map[string]Kind{}, map[string]string{}, map[string][]string{}
	if t.also == nil {
		t.also = map[string]string{}
	}
	for _, f := range flags(t.command) {
		if slices.Contains(t.without, f.Name) {
			continue
		}
		name := strings.ReplaceAll(f.Name, "-", "_")
		if other := renamed[name]; other != "" && (t.command == "at" || t.command == "edit") {
			name = other
		}
		t.kinds[name], t.flags[name], t.values[name] = f.Kind, f.Name, f.Says
		for _, other := range f.Also {
			if other = strings.ReplaceAll(other, "-", "_"); len(other) > 1 && t.also[other] == "" {
				t.also[other] = name
			}
		}
	}
	switch t.command {
	case "at", "edit":
		t.kinds["env"] = Pairs
	case "wait":
		t.kinds["mode"], t.kinds["value"] = Text, Text
	}
	for _, a := range t.args {
		t.kinds[a.name] = a.kind
	}
}

// renamed are the options of at and edit that their answers have under another name.
var renamed = map[string]string{"c": "shell", "shell": "program"}

// options are the words of what was given of the command's options, but for the arguments named.
func (t *tool) options(v values, but ...string) []string {
	var words []string
	for _, name := range sorted(v) {
		flag, ok := t.flags[name]
		if !ok || slices.Contains(but, name) {
			continue
		}
		switch x := v[name].(type) {
		case bool:
			if x {
				words = append(words, "--"+flag)
			}
		case int:
			words = append(words, "--"+flag+"="+strconv.Itoa(x))
		case []string:
			for _, one := range x {
				words = append(words, "--"+flag+"="+one)
			}
		case string:
			words = append(words, "--"+flag+"="+x)
		}
	}
	return words
}

// bound is how long a call that blocks may do so: as it says, and never longer than clients put up with.
func (o *Options) bound(v values) (time.Duration, error) {
	text := v.text(maxSeconds)
	if text == "" {
		return o.Most, nil
	}
	d, err := o.Duration(text)
	if err != nil || d <= 0 {
		return 0, refuse(fmt.Sprintf("%q is %q, and takes seconds", maxSeconds, text), fmt.Sprintf("send %q: 20", maxSeconds))
	}
	return min(d, o.Most), nil
}

// schema is the JSON Schema of what the tool takes, as far as it shows.
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
		switch a.kind {
		case Whole:
			p.Type = "integer"
		case Truth, Anyway:
			p.Type = "boolean"
		case Texts, Names:
			p.Type, p.Items = "array", &property{Type: "string"}
		case Pairs:
			p.Type = "object"
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
		fmt.Fprintf(&b, "%q:%s", a.name, plain(p))
	}
	b.WriteByte('}')
	if len(must) > 0 {
		fmt.Fprintf(&b, `,"required":%s`, plain(must))
	}
	b.WriteByte('}')
	return json.RawMessage(b.String())
}
