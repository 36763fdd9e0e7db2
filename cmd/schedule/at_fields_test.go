package schedule

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// atObjects reads objects that stand for calls of at, beside a command line that says the values.
func atObjects(call option.Values) *Lines {
	c := AtCommand()
	in := &Lines{Fields: c.Options.Fields()}
	in.Base.Cmd, in.Base.Opt, in.Call = &c, call, &in.Base
	return in
}

// TestEveryOptionIsAKey holds --stdin to the options of at: each that is about a task is a key.
func TestEveryOptionIsAKey(t *testing.T) {
	c := AtCommand()
	fields := c.Options.Fields()
	for _, o := range c.Options {
		if !o.OfCall && fields[o.FieldKey()] == nil {
			t.Errorf("--%s has no key", o.Name)
		}
	}
	for key := range fields {
		if strings.ContainsAny(key, "-") || strings.ToLower(key) != key {
			t.Errorf("the key %q is not in snake_case", key)
		}
	}
	for _, key := range []string{"timeExpression", "taskPayload", "humanReadableDescription"} {
		if _, err := fields.Read([]byte(`{"`+key+`":"x"}`), option.Source{Of: c.Options, Call: c.Options}); err != nil {
			t.Errorf("%s is not a key: %v", key, err)
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
		{`{"when":"1h","task":["x"]}`, `"task" is a list, and takes a text`, ""},
		{`{"delay":30,"task":"x"}`, `"delay" is the number 30, and takes a text`, `write "delay": "30s"`},
		{`{"when":true,"task":"x"}`, `"when" is true, and takes a text`, `write "when": "..."`},
		{`{"when":"1h","shell":"x","count":1.5}`, `"count" is 1.5, not a whole number`, `write "count": 5`},
		{`{"when":"1h","shell":"x","count":1e99}`, `"count" is 1e99, not a whole number`, ""},
		{`{"when":"1h","shell":"x","count":99999999999}`, `"count" is 99999999999, which is too large`, `write "count": 5`},
		{`{"when":"1h","shell":"x","nice":-99999999999}`, `"nice" is -99999999999, which is too small`, `write "nice": 5`},
		{`{"when":"1h","shell":"x","memory":512}`, `"memory" is the number 512, and takes a text`, `write "memory": "512M"`},
		{`{"when":"1h","shell":"x","cpu":2}`, `"cpu" is the number 2, and takes a text`, `write "cpu": "2"`},
		{`{"when":"1h","shell":"x","overlap":2}`, `"overlap" is the number 2, and takes a text`, `write "overlap": "skip"`},
		{`{"when":"1h","shell":"x","max":"5s"}`, `"max" is about the whole call`, "give --max on the command line"},
		{`{"when":"1h","shell":"x","until_ok":"yes"}`, `"until_ok" is the text "yes", and takes true or false`, `write "until_ok": true`},
		{`{"when":"1h","shell":"x","until-ok":true}`, `unknown key "until-ok"`, `write "until_ok"`},
		{`{"when":"1h","Task":"x"}`, `unknown key "Task"`, `did you mean "task"?`},
		{`{"when":"1h","taskpayload":"x"}`, `unknown key "taskpayload"`, `did you mean "taskPayload"?`},
		{`{"timeExpresion":"1h","task":"x"}`, `unknown key "timeExpresion"`, `did you mean "timeExpression"?`},
		{`[{"when":"1h"}]`, "it is a list, not an object", "write an object such as " + option.Example + "; many tasks, one object a line: --stdin jsonl"},
		{`{"when":"1h","task":"x"}{"when":"2h","task":"y"}`, "it is not JSON", "one object is read; many tasks, one object a line: --stdin jsonl"},
		{`{"when":"1h","message":"x"}`, `unknown key "message"`, `did you mean "task"?`},
		{`{"when":"1h","processName":"x"}`, `unknown key "processName"`, `did you mean "agent"?`},
		{`{"scheduled_datetime":"1h","task":"x"}`, `unknown key "scheduled_datetime"`, `did you mean "when"?`},
		{`{"when":"1h","c":"x"}`, `unknown key "c"`, "the keys are"},
		{`{"when":"1h","shell":"x","no_autostart":true}`, `"no_autostart" is about the whole call`, "give --no-autostart on the command line"},
		{`{"when":"1h","shell":"x","spread":"1h"}`, `"spread" is about the whole call`, ""},
		{`{"every":"1h","interval":"2h","shell":"x"}`, `"every" and "interval" are the same`, "give one of them"},
		{`{"when":"1h","file":"-"}`, `"file" cannot be standard input`, ""},
		{`{"when":"1h","command":[]}`, `"command" is empty`, ""},
		{`{"when":"1h","command":["ls",1]}`, `in "command" there is the number 1, and it takes texts`, ""},
		{`{"when":"1h","command":["ls",["x"]]}`, `in "command" there is a list, and it takes texts`, ""},
		{`{"when":"1h","shell":"x","env":{"A":1}}`, `"A" in "env" is the number 1, and takes a text`, ""},
		{`{"when":"1h","shell":"x","env":{"A":"1","A":"2"}}`, `the key "A" is there twice`, ""},
		{`{"when":"1h","shell":"x","env":{"A=B":"1"}}`, `"A=B" in "env" is not a name of a variable`, ""},
		{`{"when":"1h","shell":"x","env":"A=1"}`, `"env" is the text "A=1", and takes a list of texts`, ""},
		{`{"when":"1h","shell":"a\u0000b"}`, `"shell" has a NUL character`, ""},
		{`{"when":"1h","task":"\ud800"}`, `it has half of a character, \ud800`, ""},
		{`{"when":"1h","task":"\udc00\ud800"}`, `it has half of a character, \udc00`, ""},
		{strings.Repeat(`{"task":`, 5000) + "1" + strings.Repeat("}", 5000), `"task" is an object, and takes a text`, ""},
		{strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), "it is not JSON: invalid character '[' exceeded max depth", ""},
		{"{\"when\":\"1h\",\"task\":\"\xff\"}", "it is not valid UTF-8", ""},
	} {
		in := atObjects(option.Values{})
		_, err := in.readObject(c.line)
		var p *problem.Problem
		objects := option.Objects{Command: "at", Rows: in.Base.Cmd.Options}
		if !errors.As(err, &p) || !strings.HasPrefix(p.Message.In(objects), c.message) || !strings.HasPrefix(p.Hint.In(objects), c.hint) || p.ExitCode() != cli.ExitUsage {
			t.Errorf("%.80s:\n got %v\n     %+v\nwant %s", c.line, err, p, c.message)
		}
	}
}

// TestFieldsOverCall has what the object says win over the command line, a time of its own over any there.
func TestFieldsOverCall(t *testing.T) {
	in := atObjects(option.Values{}.With("cron", "0 9 * * *").With("task", "of all").With("env", []string{"A=1"}).With("retries", 2))
	o, err := in.readObject(`{"when":"1h","shell":"x","env":{"B":"2"},"until_ok":false,"description":null,"key":"😀 \ud83d\ude00"}`)
	if err != nil {
		t.Fatal(err)
	}
	f := in.optionsOf(o)
	switch {
	case f.Has("cron") || f.Text("cron") != "":
		t.Error("the time of the command line is beside that of the object")
	case f.Text("task") != "of all" || f.Int("retries") != 2:
		t.Error("what the object does not say is not as on the command line")
	case !slices.Equal(f.List("env"), []string{"A=1", "B=2"}):
		t.Errorf("env %q", f.List("env"))
	case !f.Has("until-ok") || f.Bool("until-ok") || f.Has("description"):
		t.Error("false was said, null was not")
	case f.Text("key") != "😀 😀":
		t.Errorf("key %q", f.Text("key"))
	}
	o, err = in.readObject(`{"shell":"x"}`)
	if err != nil || in.optionsOf(o).Text("cron") != "0 9 * * *" {
		t.Errorf("without a time of its own: %v", err)
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
	in := atObjects(option.Values{})
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := in.readObject(string(data))
		if err != nil {
			var refused *problem.Problem
			if !errors.As(err, &refused) || refused.Message.Empty() || refused.ExitCode() != cli.ExitUsage || !utf8.ValidString(cli.Visible(refused.Message.String()+refused.Hint.String())) {
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
			t.Fatalf("%q was read and is not an object: %v", data, err)
		}
		for key, v := range keys {
			if v == nil {
				delete(keys, key)
			}
		}
		n := len(o.Values.Names())
		if o.When != nil {
			n++
		}
		if o.Command != nil {
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
		for _, name := range o.Values.Names() {
			check(o.Values.Text(name))
			for _, s := range o.Values.List(name) {
				check(s)
			}
		}
		for _, s := range o.Command {
			check(s)
		}
	})
}
