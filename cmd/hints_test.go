package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schedule"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// oddValues are values that most keys refuse, each for a reason of its own.
var oddValues = []any{"", "%%", "A B", "-1", "0", "banana", "1ms", "every 1ms", "at 10", "|", "a 'b", "onse", strings.Repeat("x", 600), 5, -5, true, nil, []string{"A B=1"},
	[]string{"NOSUCH"}, map[string]any{"A B": "1"}, map[string]any{"A": 5}, map[string]any{"": "1"}, "2020-01-01T00:00:00Z", "desktop:x", "email", "nobody", "https://u:p@host/x", "https://hooks.slack.com/services/T0/B0/x"}

// oddObjects are tasks with one of these values in the place of each key.
func oddObjects() (objects []map[string]any) {
	c := schedule.AtCommand()
	keys := []string{"when", "command"}
	for _, o := range c.Options {
		if !o.OfCall {
			keys = append(keys, o.FieldKey())
		}
	}
	for _, key := range keys {
		for _, value := range oddValues {
			for _, with := range []map[string]any{{"when": "1h", "command": []string{"true"}}, {"when": "every 1h", "task": "x"}, {"when": "1h", "agent": "./x"}, {"task": "x"}} {
				o := map[string]any{key: value}
				for k, v := range with {
					if _, there := o[k]; !there && (k == "when" || !slices.Contains([]string{"command", "shell", "file", "agent"}, key)) {
						o[k] = v
					}
				}
				if slices.Contains(option.Forms, key) {
					delete(o, "when")
				}
				objects = append(objects, o)
			}
		}
	}
	return objects
}

// besideValue is an argument with a value behind it that is not written as JSON has it.
var besideValue = regexp.MustCompile(`"[a-z_]+" ("|'|[A-Z]{2,}\b|\d)`)

// aDash is an option as it is typed; quotedWords are somebody's words, and aCommand is what is typed on a command line.
var (
	aDash       = regexp.MustCompile(`(^|[ (])--?[a-z]+`)
	quotedWords = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|'[^']*'`)
	aCommand    = regexp.MustCompile(`ouro-timer [a-z-]+[^;,]*`)
)

// TestHintsOfObjects holds what is said of an object, in whatever way it is wrong, to the words of
// objects: keys and values as JSON has them, and no option of the command line but in a command
// that is typed there.
func TestHintsOfObjects(t *testing.T) {
	clocktest.Alone(t)
	var in bytes.Buffer
	objects := oddObjects()
	for _, o := range objects {
		b, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&in, "%s\n", b)
	}
	var out, errs bytes.Buffer
	Main([]string{"ouro-timer", "at", "--stdin", "jsonl", "--dry-run", "--json"}, atWorld(t, &in, &out, &errs))
	refused, hints := 0, map[string]bool{}
	for line := range strings.Lines(out.String()) {
		var answer struct {
			Line  int
			Error *cli.ErrorJSON
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if answer.Error == nil {
			continue
		}
		refused++
		message, hint := answer.Error.Message, cli.Deref(answer.Error.Hint)
		hints[hint] = true
		if typed := aDash.FindString(quotedWords.ReplaceAllString(message, "")); typed != "" {
			t.Errorf("%v: %s\nis not in the words of objects: %s", objects[answer.Line-1], message, typed)
		}
		if typed := aDash.FindString(aCommand.ReplaceAllString(quotedWords.ReplaceAllString(hint, ""), "")); typed != "" || besideValue.MatchString(hint) {
			t.Errorf("%v: %s\nis not in the words of objects: %s", objects[answer.Line-1], hint, typed)
		}
	}
	if refused < 300 || len(hints) < 60 {
		t.Errorf("only %d objects are refused, in %d sentences: %s", refused, len(hints), errs.String())
	}
}

// toolCall is a call of a tool in a hint, from its name on.
var toolCall = regexp.MustCompile(`\b(wait|schedule_task|list_tasks|edit_task|explain_time|task_log|inbox) (\{)`)

// placeholders are calls with values that stand for what the caller has.
var placeholders = regexp.MustCompile(`"[A-Z]{2,}"|k7m2|make|agent\.py`)

// callsIn are the calls of tools in a hint that can be made as they are, as dry runs.
func callsIn(hint string) (calls [][2]string) {
	for _, at := range toolCall.FindAllStringSubmatchIndex(hint, -1) {
		tool, args := hint[at[2]:at[3]], map[string]any{}
		if json.NewDecoder(strings.NewReader(hint[at[4]:])).Decode(&args) != nil {
			continue
		}
		switch tool {
		case "schedule_task", "edit_task":
			args["dry_run"] = true
		case "wait":
			args["max_seconds"] = 0.01
		}
		b, err := json.Marshal(args)
		if err == nil && !placeholders.Match(b) {
			calls = append(calls, [2]string{tool, string(b)})
		}
	}
	return calls
}

// TestHintsOfTools holds what is said of a call of a tool to the words of tools, and makes each call
// that a hint names: it is taken.
func TestHintsOfTools(t *testing.T) {
	clocktest.Alone(t)
	c := dialMCP(t, nil)
	id := fmt.Sprint(c.must("schedule_task", `{"when":"tomorrow at 10:00","command":["true"]}`)["id"])
	tried := map[[2]string]bool{}
	told := func(tool string, args map[string]any) {
		b, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		answer, text, failed := c.call(tool, string(b))
		if !failed {
			return
		}
		e, _ := answer["error"].(map[string]any)
		hint, _ := e["hint"].(string)
		for _, call := range callsIn(hint) {
			if tried[call] {
				continue
			}
			tried[call] = true
			if _, refused, failed := c.call(call[0], call[1]); failed {
				t.Errorf("%s %s: %s\nhint: %s\nand that is refused: %s", tool, b, text, hint, refused)
			}
		}
		for _, field := range []string{"message", "hint"} {
			said, _ := e[field].(string)
			switch {
			case field == "hint" && besideValue.MatchString(said):
				t.Errorf("%s %s: %s\nhas a value that is not written as JSON has it", tool, b, said)
			case strings.Contains(said, "ouro-timer wait"), strings.Contains(said, "ouro-timer at"), strings.Contains(said, "it failed"):
				t.Errorf("%s %s: %s", tool, b, text)
			}
		}
	}
	for i, o := range oddObjects() {
		if i%7 > 0 { // TestHintsOfObjects has all of them
			continue
		}
		o["dry_run"] = true
		told("schedule_task", o)
	}
	edit := schedule.EditCommand()
	for _, o := range edit.Options {
		if !o.IsText() || o.Many || o.Name == "match" || o.Name == "file" {
			continue
		}
		for _, value := range []string{"%%", "at 10", "1ms", "-1", "onse", "a 'b"} {
			told("edit_task", map[string]any{"id": id, o.FieldKey(): value, "dry_run": true})
		}
	}
	for _, target := range []string{"http://[::1", "foo", "tcp://", "task:zzzz", "exec:", "pid:x", "memcached://h"} {
		told("wait_for_health", map[string]any{"targets": []string{target}, "timeout": "10ms"})
	}
	for _, args := range []map[string]any{{"wait": true, "when": "1h", "task": "x", "stream": true}, {"task": "x", "when": "10:00 call Bob"}, {"when": "10:00 call Bob"}, {"when": "1h", "shell": "true", "max": "1s"}} {
		told("schedule_task", args)
	}
	gone := fmt.Sprint(c.must("schedule_task", `{"when":"1h","task":"gone"}`)["id"])
	c.must("cancel_task", `{"ids":["`+gone+`"]}`)
	for _, args := range []map[string]any{{"id": gone, "when": "1h"}, {"id": gone, "action": "pause"}, {"id": id, "clear": []string{"retries"}, "backoff": "3s"}, {"id": id}} {
		told("edit_task", args)
	}
	for _, args := range []map[string]any{{"ack": []string{id}}, {"dry_run": true}, {"ids": []string{"zzzz"}}, {"count": true, "take": true}, {"limit": 0}} {
		told("inbox", args)
	}
	for _, args := range []map[string]any{{"wait": true}, {"id": "zzzz"}, {"id": id + "/7"}, {"id": id, "wait": true, "number": 3}, {"after": "1.0"}, {"output_limit": 5}} {
		told("task_log", args)
	}
	for _, args := range []map[string]any{{"summary": true}, {"id": "zzzz"}, {"before": "banana"}, {"limit": 0}} {
		told("list_tasks", args)
	}
	for _, args := range []map[string]any{{"take": true, "when": "1h"}, {"any": []string{"tomorrow", "9am"}}, {"any": []string{"1h"}, "every": "5m"}, {"any": []string{"10m"}, "take": true}} {
		told("wait", args)
	}
	if len(tried) < 5 {
		t.Errorf("only %d calls of hints were made: %v", len(tried), tried)
	}
	for _, at := range []string{"every 1ms", "at 10", "banana", "0 22-2 * * *", "9am Tokio time", "yesterday"} {
		told("explain_time", map[string]any{"when": at})
		told("edit_task", map[string]any{"id": id, "when": at, "dry_run": true})
		told("schedule_task", map[string]any{"when": at, "task": "x", "dry_run": true})
	}
}

// TestHintsByObject says of some objects what to write instead.
func TestHintsByObject(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ object, message, hint string }{
		{`{"when":"every 1ms","command":["true"]}`, "an interval of 1ms is too short for a task", "give 1s or more; to wait here for less: ouro-timer wait 'every 1ms'"},
		{`{"when":"1h","command":["true"],"env":{"A B":"1"}}`, `"A B" in "env" is not a name of a variable`, `write "env": {"NAME": "VALUE"}`},
		{`{"when":"1h","command":["true"],"env":["A B=1"]}`, `"env" is "A B=1"`, `write "env": ["NAME"] or "env": {"NAME":"VALUE"}`},
		{`{"every":"5m","start":"1h","task":"x"}`, `"start": "1h" is a duration, and an instant is asked for`, `say "in 1h", or name one, as in "tomorrow at 9:00"`},
		{`{"until":"5m","task":"x"}`, `"5m" is a duration, and an instant is asked for`, `say "in 5m", or give the duration with "delay"`},
		{`{"when":"1h","task":"x","program":"sh"}`, `"program" is for commands, and this is a message`, `leave it out, or give a command: "command": ["COMMAND"]`},
		{`{"when":"1h","cron":"0 9 * * *","shell":"x"}`, `"cron" already gives the time; what is "1h"?`, `leave one of them out; when it begins is said by "start": "WHEN"`},
		{`{"when":"1h","until":"5pm","shell":"x"}`, `"until" already gives the time; what is "1h"?`, "leave one of them out"},
		{`{"timeExpression":"1h","interval":"2h","shell":"x"}`, `"every" already gives the time; what is "1h"?`, `leave one of them out; when it begins is said by "start": "WHEN"`},
		{`{"when":"every day at 10:00 UTC+2","task":"x"}`, `could not understand the time expression "every day at 10:00 UTC+2": a recurrence follows the clocks of a place`, `name its area and city in the IANA database, or use "tz"`},
		{`{"when":"TZ=Europe/Warsaw 0 9 * * *","task":"x"}`, `the cron line "TZ=Europe/Warsaw 0 9 * * *" begins with a time zone`, `leave it out and give Europe/Warsaw with "tz"`},
		{`{"when":"1h","shell":"x","file":"y"}`, `"shell" and "file" exclude each other`, "give the command once"},
		{`{"when":"1h","shell":" "}`, `"shell" has no text`, `{"shell":"make backup","when":"1h"}`},
		{`{"when":"1h","command":["ls"],"program":"/bin/sh"}`, `"program" is for "shell" and "file"; what is given by "command" runs without a shell`, `leave it out, or use "shell": "ls"`},
		{`{"when":"1h","command":["make backup"]}`, `there is no program called "make backup"`, `word by word: "command": ["make","backup"]; or for the shell: "shell": "make backup"`},
		{`{"when":"1h","task":"x","key":" "}`, `"key" is empty`, `give a name of your own, such as "key": "backup", or leave it out`},
		{`{"when":"0 9 * * 5-1","task":"x"}`, `could not understand the cron line "0 9 * * 5-1": the weekday range 5-1 runs backwards`, `say "0 9 * * 5-6,0-1"`},
	} {
		var out, errs bytes.Buffer
		code := Main([]string{"ouro-timer", "at", "--stdin", "jsonl"}, atWorld(t, strings.NewReader(tt.object), &out, &errs))
		if want := "ouro-timer: line 1: " + tt.message + "\nhint: " + tt.hint + "\n"; code != cli.ExitUsage || !strings.HasPrefix(errs.String(), want) {
			t.Errorf("%s: exit %d: %s", tt.object, code, errs.String())
		}
	}
}
