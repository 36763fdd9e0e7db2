package option

import (
	"slices"
	"strings"
)

// ForeignOption has the names that other systems give to one option or argument of ours, or that
// other commands of ours have.
type ForeignOption struct {
	Commands string // the commands of ours that people try them with
	Options  string
	Ours     string // the key of it in an object, if there is one
	Instead  string // what to type
}

// ForeignOptions has the names in lower case, with - for _. Names of one letter are as they are.
var ForeignOptions = []ForeignOption{
	{"at edit", "when time date datetime due at on-calendar time-expression timeexpression run-at execute-at scheduled-datetime scheduled-time", "when",
		"the time is not an option: ouro-timer at tomorrow 10am --task TEXT"},
	{"wait", "when time date at time-expression", "when",
		"the time is not an option: ouro-timer wait 5m TASK, or --until 22:00"},
	{"at edit", "hours hour minutes minute seconds second days delay-seconds delay-minutes on-active", "when",
		"write the time as one: ouro-timer at 1 hour 30 minutes --task TEXT, or --delay 90m"},
	{"wait", "hours hour minutes minute seconds second duration delay-seconds on-active", "when",
		"write the time as one: ouro-timer wait 1h30m TASK, or --delay 90m"},
	{"at edit wait", "interval-seconds repeat repeat-every every-seconds on-unit-active", "every", "write --every 5m"},
	{"at edit wait", "schedule cron-expression expression cronexpr", "cron", "write --cron '0 9 * * 1-5'"},
	{"at edit wait", "recurrence rule", "rrule", "write --rrule RULE"},
	{"at edit wait", "timezone time-zone zone", "tz", "write --tz ZONE, such as Europe/Warsaw"},
	{"at edit wait", "start-at starts start-time", "start", "write --start WHEN"},
	{"at edit wait", "end-at ends end-time until-date", "end", "write --end WHEN"},
	{"at edit wait", "max-repetitions repetitions times limit max-runs", "count", "write --count N"},
	{"at edit", "process-name process agent-process", "agent", "write --agent PROGRAM"},
	{"at edit", "payload task-payload taskpayload message text prompt body reminder", "task", "write --task TEXT"},
	{"at edit", "name human-readable-description humanreadabledescription label unit summary", "description",
		"write --description TEXT; --key NAME where there must be one only"},
	{"at edit", "command cmd exec script tool args run", "command",
		"the command is not an option, it follows --: ouro-timer at tomorrow 10am -- make backup"},
	{"at edit", "webhook-url callback callback-url", "webhook", "write --webhook URL"},
	{"at edit", "marker message-prefix", "prefix", "write --prefix TEXT"},
	{"at edit", "misfire missed-runs misfire-policy", "catchup", "write --catchup once, all or skip"},
	{"at edit", "email mail recipient to notify-email", "notify", "write --notify email:bob@example.org"},
	{"at", "l", "", "what at -l and atq list: ouro-timer ls"},
	{"at", "r", "", "what at -r and atrm remove: ouro-timer rm ID"},
	{"at", "m", "", "write --notify email:bob@example.org --notify-on always"},
	{"at", "M", "", "write --notify-on never"},
	{"at", "u", "", "write --notify email:bob@example.org"},
	{"at", "t", "",
		"the time is not an option: ouro-timer at 2030-12-24T18:00, or in the form of at -t: ouro-timer at 203012241800"},
	{"at", "b", "",
		"ouro-timer at now -- COMMAND; when the load is low, as batch does: " +
			"ouro-timer at every 1m --if 'SHELL TEXT' --until-ok -- COMMAND"},
	{"at", "o", "", "ouro-timer ls --json has each time with its offset"},
	{"at", "v", "", "the answer names the time; ouro-timer when WORDS explains it"},
	{"at", "V", "", "ouro-timer version"},
	{"wait", "mode value", "", "the words are arguments: ouro-timer wait delay 30 'check the oven'"},
	{"wait", "task message text description payload", "task", "the task follows the time: ouro-timer wait 5m check the oven"},
	{"wait", "timeout max-seconds max-wait", "", "write --max DURATION"},
	{"notify", "recipient recipients email address", "", "write --to RECIPIENT"},
	{"notify", "body message text content", "",
		`the text is an argument: ouro-timer notify --to bob@example.org --subject "Daily digest" "Nothing new."`},
	{"notify", "title", "", "write --subject TEXT"},
	{"health-wait", "timeout-seconds time-out max-wait", "", "write --timeout 120s"},
	{"health-wait", "url target host endpoint", "",
		"the target is an argument: ouro-timer health-wait http://localhost:8080/health"},
	{"health-wait", "expect-status-code expect-status status-code", "", "write --status LIST, such as 200"},
	{"health-wait", "expect-body-regex body-regex", "", "write --body REGEX"},
	{"health-wait", "invert-check", "", "write --invert"},
	{"top", "json fields format", "", "top is a view for a terminal; ouro-timer ls, inbox and log answer with it"},
	{"agent", "json fields", "", "leave it out: the lines of an agent are JSON"},
}

// Foreign returns what to type instead of an option of another system; empty for other words.
func Foreign(word, command string) string {
	if len(word) > 1 {
		word = strings.ReplaceAll(strings.ToLower(word), "_", "-")
	}
	instead := foreign(word, command).Instead
	if command == "edit" {
		return strings.NewReplacer("ouro-timer at ", "ouro-timer edit ID ", " --task TEXT", "").Replace(instead)
	}
	return instead
}

// ForeignKey returns our key for a key of another system; empty for other words.
func ForeignKey(word, command string) string {
	return foreign(strings.ReplaceAll(snake(word), "_", "-"), command).Ours
}

func foreign(word, command string) ForeignOption {
	for _, o := range ForeignOptions {
		if slices.Contains(strings.Fields(o.Commands), command) && slices.Contains(strings.Fields(o.Options), word) {
			return o
		}
	}
	return ForeignOption{}
}
