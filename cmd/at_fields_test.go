package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/urfave/cli/v2"
)

// atTable is the keys of an object.
func atTable() fieldTable {
	c := atCommand()
	return newFieldTable(&c)
}

// TestEveryOptionIsAKey holds --stdin to the options of at: each that is about a task is a key, of a kind that is read.
func TestEveryOptionIsAKey(t *testing.T) {
	c := atCommand()
	table := newFieldTable(&c)
	for _, f := range c.flags {
		name := f.Names()[0]
		if slices.Contains(aboutCall, name) {
			continue
		}
		if table[fieldOf(name)] == nil {
			t.Errorf("--%s has no key", name)
		}
		switch f.(type) {
		case *cli.StringFlag, *cli.IntFlag, *cli.BoolFlag, *cli.StringSliceFlag:
		default:
			t.Errorf("--%s is a %T, which no key is read as", name, f)
		}
	}
	for key := range table {
		if strings.ContainsAny(key, "-") || strings.ToLower(key) != key {
			t.Errorf("the key %q is not in snake_case", key)
		}
	}
	for from, to := range seedKeys {
		if _, ok := table[to]; !ok {
			t.Errorf("%s stands for %s, which is no key", from, to)
		}
	}
}

func TestFieldsRefused(t *testing.T) {
	for _, c := range []struct{ line, message, hint string }{
		{`{"when":"1h","task":"x"} {}`, "it is not JSON: invalid character '{' after top-level value", "one object is read"},
		{`{"when":"1h","task":"x"`, "it is not JSON: unexpected end of JSON input", ""},
		{`{'when':'1h'}`, "it is not JSON: invalid character '\\''", ""},
		{`null`, "it is null, not an object", ""},
		{`"plain"`, "it is a text, not an object", ""},
		{`"\"twice\""`, "it is a text, not an object", ""},
		{`{"when":"1h","task":{"a":1}}`, `"task" is an object, and takes a text`, `write "task": "..."`},
		{`{"when":"1h","task":["x"]}`, `"task" is an array, and takes a text`, ""},
		{`{"delay":30,"task":"x"}`, `"delay" is a number, and takes a text`, `write "delay": "30s"`},
		{`{"when":true,"task":"x"}`, `"when" is true, and takes a text`, `write "when": "..."`},
		{`{"when":"1h","shell":"x","count":1.5}`, `"count" is 1.5, not a whole number`, `write "count": 5`},
		{`{"when":"1h","shell":"x","count":1e99}`, `"count" is 1e99, not a whole number`, ""},
		{`{"when":"1h","shell":"x","count":99999999999}`, `"count" is 99999999999, not a whole number`, ""},
		{`{"when":"1h","shell":"x","until_ok":"yes"}`, `"until_ok" is a text, and takes true or false`, `write "until_ok": true`},
		{`{"when":"1h","shell":"x","until-ok":true}`, `unknown key "until-ok"`, `write "until_ok"`},
		{`{"when":"1h","Task":"x"}`, `unknown key "Task"`, `did you mean "task"?`},
		{`{"when":"1h","taskpayload":"x"}`, `unknown key "taskpayload"`, `did you mean "taskPayload"?`},
		{`{"timeExpresion":"1h","task":"x"}`, `unknown key "timeExpresion"`, `did you mean "timeExpression"?`},
		{`[{"when":"1h"}]`, "it is an array, not an object", "write an object such as " + example + "; many tasks, one object a line: --stdin jsonl"},
		{`{"when":"1h","task":"x"}{"when":"2h","task":"y"}`, "it is not JSON", "one object is read; many tasks, one object a line: --stdin jsonl"},
		{`{"when":"1h","c":"x"}`, `unknown key "c"`, "the keys are"},
		{`{"when":"1h","shell":"x","no_autostart":true}`, `"no_autostart" is about the whole call`, "give --no-autostart on the command line"},
		{`{"when":"1h","shell":"x","spread":"1h"}`, `"spread" is about the whole call`, ""},
		{`{"every":"1h","interval":"2h","shell":"x"}`, `"every" and "interval" are the same`, "give one of them"},
		{`{"when":"1h","cron":"0 9 * * *","shell":"x"}`, `"when" and "cron" exclude each other`, ""},
		{`{"timeExpression":"1h","interval":"2h","shell":"x"}`, `"timeExpression" and "interval" exclude each other`, ""},
		{`{"when":"1h","shell":"x","file":"y"}`, `"shell" and "file" exclude each other`, ""},
		{`{"when":"1h","file":"-"}`, `"file" cannot be standard input`, ""},
		{`{"when":"1h","shell":" "}`, `"shell" is empty`, ""},
		{`{"when":"1h","command":[]}`, `"command" is empty`, ""},
		{`{"when":"1h","command":["ls",1]}`, `in "command" there is a number, and it takes texts`, ""},
		{`{"when":"1h","command":["ls",["x"]]}`, `in "command" there is an array, and it takes texts`, ""},
		{`{"when":"1h","command":["ls"],"program":"/bin/sh"}`, `"program" is for "shell" and "file"`, "leave it out"},
		{`{"when":"1h","shell":"x","env":{"A":1}}`, `the value of "A" in "env" is a number`, ""},
		{`{"when":"1h","shell":"x","env":{"A":"1","A":"2"}}`, `"A" is twice in "env"`, ""},
		{`{"when":"1h","shell":"x","env":{"A=B":"1"}}`, `"A=B" in "env" is no name of a variable`, ""},
		{`{"when":"1h","shell":"x","env":"A=1"}`, `"env" is a text, and takes a list of texts`, ""},
		{`{"when":"1h","shell":"a\u0000b"}`, `"shell" has a NUL character`, ""},
		{`{"when":"1h","task":"\ud800"}`, `it has half of a character, \ud800`, ""},
		{`{"when":"1h","task":"\udc00\ud800"}`, `it has half of a character, \udc00`, ""},
		{strings.Repeat(`{"task":`, 5000) + "1" + strings.Repeat("}", 5000), `"task" is an object, and takes a text`, ""},
		{strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "it is not JSON: invalid character '[' exceeded max depth", ""},
		{"{\"when\":\"1h\",\"task\":\"\xff\"}", "it is not valid UTF-8", ""},
	} {
		_, err := atTable().read([]byte(c.line), unsaid{})
		var f *problem.Problem
		if !errors.As(err, &f) || !strings.HasPrefix(f.message, c.message) || !strings.HasPrefix(f.hint, c.hint) || f.exit != exitUsage {
			t.Errorf("%.80s:\n got %v\n     %+v\nwant %s", c.line, err, f, c.message)
		}
	}
}

// TestFieldsOverCall has what the object says win over the command line, a time of its own over any there.
func TestFieldsOverCall(t *testing.T) {
	call := &fields{call: unsaid{}, flags: map[string]any{"cron": "0 9 * * *", "task": "of all", "env": []string{"A=1"}, "retries": 2}}
	f, err := atTable().read([]byte(`{"when":"1h","shell":"x","env":{"B":"2"},"until_ok":false,"description":null,"key":"😀 \ud83d\ude00"}`), call)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case f.IsSet("cron") || f.String("cron") != "":
		t.Error("the time of the command line is beside that of the object")
	case f.String("task") != "of all" || f.Int("retries") != 2:
		t.Error("what the object does not say is not as on the command line")
	case !slices.Equal(f.StringSlice("env"), []string{"A=1", "B=2"}):
		t.Errorf("env %q", f.StringSlice("env"))
	case !f.IsSet("until-ok") || f.Bool("until-ok") || f.IsSet("description"):
		t.Error("false was said, null was not")
	case f.String("key") != "😀 😀":
		t.Errorf("key %q", f.String("key"))
	}
	f, err = atTable().read([]byte(`{"shell":"x"}`), call)
	if err != nil || f.String("cron") != "0 9 * * *" {
		t.Errorf("without a time of its own: %v", err)
	}
}

// TestRefusalSpeaksOfKeys has errors of a call name keys where an object stands for it.
func TestRefusalSpeaksOfKeys(t *testing.T) {
	for _, c := range [][2]string{
		{"--until-ok has no effect here", `"until_ok" has no effect here`},
		{"give 1ms or more, such as --jitter 10m", `give 1ms or more, such as "jitter": "10m"`},
		{"--retries is -1", `"retries" is -1`},
		{"give --retries 3", `give "retries": 3`},
		{"--shell takes a program such as /bin/bash", `"program" takes a program such as /bin/bash`},
		{"-f takes a file, or - for standard input", `"file" takes a file, or - for standard input`},
		{"ouro-timer when --from 2026-01-01", "ouro-timer when --from 2026-01-01"},
		{`not allowed: "/bin/sh -c 'echo \"hi\" --task x'"`, `not allowed: "/bin/sh -c 'echo \"hi\" --task x'"`},
		{"use -c 'grep --key x', the task's own --key", `use "shell": "grep --key x", the task's own "key"`},
		{"write --env NAME or --env NAME=VALUE", `write "env": ["NAME"] or "env": {"NAME":"VALUE"}`},
		{`--env is "A B=1"`, `"env" is "A B=1"`},
		{"--env A: no such variable is set", `"env": ["A"]: no such variable is set`},
		{`a name of your own, such as --key backup, or leave it out`, `a name of your own, such as "key": "backup", or leave it out`},
		{"leave --jitter out, and give --notify slack", `leave "jitter" out, and give "notify": ["slack"]`},
		{"what --env names, and --title too", `what "env" names, and "title" too`},
		{`name the shell: --agent "sh -c '...'"`, `name the shell: "agent": "sh -c '...'"`},
		{"give a few words, such as --prefix '[backup] '", `give a few words, such as "prefix": "[backup] "`},
		{"--notify desktop, or another channel, tells somebody", `"notify": ["desktop"], or another channel, tells somebody`},
		{"write it as --notify mailto:bob@example.org, or --to", `write it as "notify": ["mailto:bob@example.org"], or --to`},
		{"did you mean --catchup once? it takes once, all or skip", `did you mean "catchup": "once"? it takes once, all or skip`},
		{"it happens once; --catchup skip keeps it from running late", `it happens once; "catchup": "skip" keeps it from running late`},
		{"leave it out and give --tz Europe/Warsaw", `leave it out and give "tz": "Europe/Warsaw"`},
		{`--agent "sh -c \"x" has a quote that is not closed`, `"agent": "sh -c \"x" has a quote that is not closed`},
		{"--retries and --backoff say otherwise", `"retries" and "backoff" say otherwise`},
		{"give 1s or more; for less there is ouro-timer wait 'every 1ms'", "give 1s or more; for less there is ouro-timer wait 'every 1ms'"},
		{"ouro-timer wait --interval 1ms shows it, and --interval does", `ouro-timer wait --interval 1ms shows it, and "every" does`},
		{`ouro-timer at 1h --agent "./agent.py --quiet" --title "Self-review"`, `{"agent":"./agent.py --quiet","title":"Self-review","when":"1h"}`},
		{"start one with ouro-timer run --background; --notify then", `start one with ouro-timer run --background; "notify" then`},
		{"give a command by itself (-- COMMAND), after --", `give a command by itself ("command"), after --`},
		{"a well-known word - and a dash", "a well-known word - and a dash"},
	} {
		if got := asObject().Advise(c[0]); got != c[1] {
			t.Errorf("%s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

// FuzzFields reads any bytes: no panic, and what is read is JSON, is text without NUL, says each thing once and says what to do.
func FuzzFields(f *testing.F) {
	for _, line := range []string{
		`{"when":"1h","command":["true"]}`, `{"timeExpression":"1h","taskPayload":"x","humanReadableDescription":"y"}`,
		`"{\"when\":\"1h\",\"task\":\"b\"}"`, `{"when":"1h","shell":"x","env":{"A":"1"},"retries":3,"until_ok":true,"key":null}`,
		`{"when":"1h","task":"\ud83d\ude00\ud800"}`, `{"every":"1h","interval":"1h"}`, `[[[[`, `{"":{}}`, "\xef\xbb\xbf{}", `{"env":["A"],"command":["a","\u0000"]}`,
	} {
		f.Add([]byte(line))
	}
	table := atTable()
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := table.read(data, unsaid{})
		if err != nil {
			var refused *problem.Problem
			if !errors.As(err, &refused) || refused.message == "" || refused.exit != exitUsage || !utf8.ValidString(visible(refused.message+refused.hint)) {
				t.Fatalf("%q is refused with %#v", data, err)
			}
			return
		}
		var text string
		if json.Unmarshal(data, &text) == nil {
			data = []byte(text)
		}
		var keys map[string]any
		if err := json.Unmarshal(data, &keys); err != nil {
			t.Fatalf("%q was read and is no object: %v", data, err)
		}
		for key, v := range keys {
			if v == nil {
				delete(keys, key)
			}
		}
		n := len(o.flags)
		if o.when != nil {
			n++
		}
		if o.argv != nil {
			n++
		}
		if n != len(keys) {
			t.Fatalf("%q: of %d keys %d were taken", data, len(keys), n)
		}
		check := func(s string) {
			if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
				t.Fatalf("%q gave %q", data, s)
			}
		}
		for _, v := range o.flags {
			switch v := v.(type) {
			case string:
				check(v)
			case []string:
				for _, s := range v {
					check(s)
				}
			}
		}
		for _, s := range o.argv {
			check(s)
		}
	})
}

// TestTimeFirst tells of a time that is none before it tells that there is nothing to do.
func TestTimeFirst(t *testing.T) {
	for in, want := range map[string]string{
		`{"when":"bogus"}`:            `line 1: could not understand the time expression "bogus"`,
		`{"when":"1h"}`:               "line 1: there is nothing to do at that time",
		`{"when":"bogus","task":"x"}`: `line 1: could not understand the time expression "bogus"`,
	} {
		var out, errs bytes.Buffer
		code := Main([]string{"ouro-timer", "at", "--stdin", "jsonl"}, atWorld(t, strings.NewReader(in), &out, &errs))
		if code != exitUsage || !strings.HasPrefix(errs.String(), "ouro-timer: "+want) {
			t.Errorf("%s: exit %d: %s", in, code, errs.String())
		}
	}
}
