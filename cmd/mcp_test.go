package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/health/nettest"
)

// served is a server on a state of its own, and a client of it.
type served struct {
	*sdk.ClientSession
	t     *testing.T
	tools map[string]*jsonschema.Resolved // the schemas of what they answer
	world cli.World                       // of the server, for calls on the command line
}

// dialMCP starts a server in this process, with a client that it serves. Both end with the test.
func dialMCP(t *testing.T, o *sdk.ClientOptions, words ...string) *served {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	var errs bytes.Buffer
	w := atWorld(t, toServer, fromServer, &errs)
	done := make(chan int, 1)
	go func() {
		done <- Main(append([]string{"ouro-timer", "mcp"}, words...), w)
		fromServer.Close()
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		fromClient.Close() // and what it still has to tell is read until it has ended
		if code := <-done; code != cli.ExitOK || errs.Len() > 0 {
			t.Errorf("the server ends with %d: %s", code, errs.String())
		}
		session.Close()
	})
	c := &served{ClientSession: session, t: t, tools: map[string]*jsonschema.Resolved{}, world: w}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		var s jsonschema.Schema
		text, err := json.Marshal(tool.OutputSchema)
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err == nil {
			c.tools[tool.Name], err = s.Resolve(nil)
		}
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
	}
	return c
}

// bare is a value of JSON without the fields that are null.
func bare(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			if x == nil {
				delete(v, name)
			} else {
				v[name] = bare(x)
			}
		}
	case []any:
		for i, x := range v {
			v[i] = bare(x)
		}
	}
	return v
}

// call calls a tool and returns what it answers, which is as its schema says. The text is the same but for what is null. What is an error
// says why.
func (c *served) call(tool, args string) (answer map[string]any, text string, failed bool) {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(args)})
	if err != nil {
		c.t.Errorf("%s %s: %v", tool, args, err)
		return nil, "", true
	}
	text = r.Content[0].(*sdk.TextContent).Text
	structured, _ := json.Marshal(r.StructuredContent)
	if err := json.Unmarshal(structured, &answer); err != nil {
		c.t.Errorf("%s %s: %v: %s", tool, args, err, text)
	}
	var short any
	if err := json.Unmarshal([]byte(text), &short); err != nil || !reflect.DeepEqual(short, bare(r.StructuredContent)) {
		c.t.Errorf("%s %s: %v: %s is not %s", tool, args, err, text, structured)
	}
	if told, _ := answer["error"].(map[string]any); r.IsError && (told["message"] == nil || told["code"] == nil) {
		c.t.Errorf("%s %s is an error without one: %s", tool, args, text)
	}
	if err := c.tools[tool].Validate(answer); err != nil {
		c.t.Errorf("%s %s: %v: %s", tool, args, err, text)
	}
	return answer, text, r.IsError
}

// must is call of what is good; it returns the answer.
func (c *served) must(tool, args string) map[string]any {
	c.t.Helper()
	answer, text, failed := c.call(tool, args)
	if failed {
		c.t.Fatalf("%s %s: %s", tool, args, text)
	}
	return answer
}

// TestMCPTools calls each tool as it is meant, and as models call it.
func TestMCPTools(t *testing.T) {
	t.Parallel()
	c := dialMCP(t, nil)
	id := fmt.Sprint(c.must("schedule_task", `{"when":"tomorrow at 10:00","command":["true"],"description":"backup"}`)["id"])
	message := c.must("schedule_task", `{"timeExpression":"in 2 hours","taskPayload":"call Bob","humanReadableDescription":"Bob","shell":null,"retries":"None"}`)
	if message["type"] != "message" || message["task"] != "call Bob" || message["description"] != "Bob" {
		t.Errorf("%v", message)
	}
	port, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	for _, call := range []struct{ tool, args, says string }{
		{"schedule_task", `"{\"when\":\"1h\",\"task\":\"x\",\"key\":\"one\"}"`, `"created":true`},
		{"schedule_task", `{"when":"2h","task":"x","key":"one"}`, `"differs":["when"`},
		{"schedule_task", `{"when":"1h","command":"echo a | cat","retries":"2","env":{"A":1}}`, `"shell":"echo a | cat"`},
		{"schedule_task", `{"every":300,"command":["true"]}`, `"when":"every 5m"`},
		{"schedule_task", `{"cron":"0 9 * * 1-5","command":["true"],"notifyOn":"failure","tz":"America/New_York"}`, `"tz":"America/New_York"`},
		{"schedule_task", `{"when":"1h","task":"x","dry_run":"yes"}`, `"dry_run":true`},
		{"cancel_task", `{"ids":["` + id + `"],"dryRun":true}`, `"dry_run":true`},
		{"list_tasks", `{}`, `"id":"` + id + `"`},
		{"list_tasks", `{"limit":"1"}`, `"more":5`},
		{"list_tasks", `{"before":"in 3 hours"}`, `"occurrences"`},
		{"list_tasks", `{"id":"` + id + `"}`, `"description":"backup"`},
		{"explain_time", `{"when":"next Friday at noon","number":null}`, `"kind":"once"`},
		{"explain_time", `{"expression":"every day at 3am","n":"2","tz":"UTC"}`, `"tz":"UTC"`},
		{"edit_task", `{"id":"` + id + `","when":"+1h","description":"later"}`, `"changed":["due"`},
		{"edit_task", `{"id":"` + id + `","clear":["description"]}`, `"changed":["description"]`},
		{"edit_task", `{"id":"` + id + `","clear":["backoff_factor"],"retries":3,"backoff":"3s","env":{"A":"1"}}`, `"changed":["env","retries","backoff"]`},
		{"edit_task", `{"id":"` + id + `","clear":["retries","backoff","backoff_factor","env"]}`, `"changed":["env","retries","backoff"]`},
		{"edit_task", `{"id":"` + id + `","task":"x","clear":["command"],"dry_run":true}`, `"type":"message"`},
		{"edit_task", `{"id":"` + id + `","command":["true","x"]}`, `"command":["true","x"]`},
		{"edit_task", `{"id":"` + id + `","action":"pause","resume_at":"2h"}`, `"state":"paused"`},
		{"edit_task", `{"id":"` + id + `","action":"resume"}`, `"resumed"`},
		{"cancel_task", `{"id":"` + id + `"}`, `"removed":[{"id":"` + id},
		{"edit_task", `{"task_id":"` + id + `","action":"restore"}`, `"restored"`},
		{"task_log", `{}`, `"event":"restored"`},
		{"task_log", `{"id":"` + id + `","number":"20"}`, `"event":"created"`},
		{"inbox", `{"take":"true","ids":null}`, `"items":[]`},
		{"inbox", `{"count":true}`, `"count":0`},
		{"inbox", `{"ack_task":"` + id + `","limit":null}`, `"acknowledged":[]`},
		{"wait", `{"when":"0.05","task":"tea"}`, `"status":"triggered"`},
		{"wait", `{"mode":"delay","value":0.05,"taskPayload":"tea"}`, `"task":"tea"`},
		{"wait", `{"mode":"delay","value":5e-2,"task":"tea"}`, `"task":"tea"`},
		{"wait", `{"any":["1h","0.05","inbox"]}`, `"which":"0.05"`},
		{"wait", `{"any":["file:never","1h"],"max_seconds":0.1}`, `"name":"wait"`},
		{"wait", `{"any":["file:never","1h"],"max_seconds":0.1}`, `"any":["file:never","20`},
		{"wait", `{"every":"1s","start":"2020-01-01T00:00:00Z","task":"-x"}`, `"name":"wait"`},
		{"wait_for_health", `{"targets":["exec:false"],"timeout_seconds":0.1}`, `"status":"unhealthy"`},
		{"wait_for_health", `{"targets":"tcp://` + port.Addr().String() + `"}`, `"healthy":true`},
		{"notify", `{"list":true}`, `"channels"`},
	} {
		if _, text, failed := c.call(call.tool, call.args); failed || !strings.Contains(text, call.says) {
			t.Errorf("%s %s: %s", call.tool, call.args, text)
		}
	}
}

// TestMCPRefusals says in a result what was wrong with a call, and what to send instead in the words of tools.
func TestMCPRefusals(t *testing.T) {
	t.Parallel()
	c := dialMCP(t, nil)
	for _, call := range []struct{ tool, args, message, hint string }{
		{"schedule_task", `{"when":"banana","task":"x"}`, `"banana"`, "try"},
		{"schedule_task", `{"task":"x"}`, `schedule_task needs "when"`, `{"when"`},
		{"schedule_task", `{"when":"3600","task":"x"}`, "no 3600 on the clock", "3600s"},
		{"schedule_task", `{"when":1800,"task":"x"}`, `"when" is the number 1800`, `"1800s"`},
		{"edit_task", `{"id":"zzzz","when":30}`, "needs a unit", `"30s"`},
		{"schedule_task", `{"when":"1h","task":"x","process_name":"x"}`, `no argument "process_name"`, `did you mean "agent"?`},
		{"schedule_task", `{"when":"1h","message":"x"}`, `no argument "message"`, `did you mean "task"?`},
		{"schedule_task", `{"every":"5m","task":"x","max_repetitions":3}`, `no argument "max_repetitions"`, `did you mean "count"?`},
		{"schedule_task", `{"hours":1,"task":"x"}`, `no argument "hours"`, `did you mean "when"?`},
		{"wait", `{"when":"1h","repetitions":3}`, `no argument "repetitions"`, "wait takes when,"},
		{"schedule_task", `{"when":"1h","task":"x","recipient":"x"}`, `no argument "recipient"`, `"notify": ["email:`},
		{"schedule_task", `{"when":"1h"}`, "nothing to do", `{"command":["make","backup"],"when":"1h"}`},
		{"schedule_task", `{"when":"1h","task":"x","nottify":"desktop"}`, `no argument "nottify"`, `did you mean "notify"?`},
		{"schedule_task", `{"when":"1h","task":"x","every":"5m"}`, `"every" already gives the time; what is "1h"?`, "leave one of them out"},
		{"schedule_task", `{"when":"1h","task":"x","stdin":"lines"}`, `no argument "stdin"`, ""},
		{"schedule_task", `["1h"]`, "a list, not an object", `{"when"`},
		{"schedule_task", `{"when":"1h","task":"x","expect":"2020-01-01T00:00:00Z"}`, "not 2020", "explain_time shows how words are read"},
		{"list_tasks", `{"limit":0}`, `"limit" must be 1 or more`, "leave it out for 50"},
		{"inbox", `{"limit":0}`, `"limit" must be 1 or more`, "leave it out for 20"},
		{"task_log", `{"id":"zzzz","output_limit":-1}`, `"output_limit" must be`, "leave it out for 8192"},
		{"list_tasks", `{"id":"zzzz"}`, `no task "zzzz"`, `list_tasks {"all":true} shows every task`},
		{"list_tasks", `{"id":"zzzz","all":true}`, "exclude each other", ""},
		{"cancel_task", `{}`, `needs "ids"`, `{"ids": ["k7m2"]}`},
		{"cancel_task", `{"match":"nothing says this"}`, "", ""},
		{"edit_task", `{"when":"+1h"}`, `needs "id"`, ""},
		{"edit_task", `{"ids":["zzzz","yyyy"],"when":"+1h"}`, `no argument "ids"`, `did you mean "id"?`},
		{"edit_task", `{"ids":["zzzz"],"when":"+1h"}`, `no task "zzzz"`, "list_tasks"},
		{"edit_task", `{"id":"zzzz","when":"+1h"}`, `no task "zzzz"`, "list_tasks"},
		{"edit_task", `{"id":"zzzz","when":"1h","description":"","tags":[],"end":null,"expect":""}`,
			`"description" and "tags" are empty`, `leave them out to keep what the task has, or send "clear": ["description","tags"] to take them back`},
		{"edit_task", `{"id":"zzzz","clear":["description"],"description":"x"}`, `"clear" takes "description" back, and the call gives another`, "leave it out"},
		{"edit_task", `{"id":"zzzz","clear":["command"],"shell":"true"}`, `"clear" takes "command" back, and the call gives another`, "leave it out"},
		{"edit_task", `{"id":"zzzz","clear":["prefix"]}`, `"prefix" cannot be taken back`, `"prefix": ...`},
		{"edit_task", `{"id":"zzzz","shell":" "}`, `"shell" is empty`, `"clear": ["shell"] to take it back`},
		{"edit_task", `{"id":"zzzz","action":"resume","description":""}`, `no task "zzzz"`, ""},
		{"schedule_task", `{"when":"1h","task":"x","max_seconds":5}`, `"max_seconds" goes with "wait"`, `add "wait": true`},
		{"task_log", `{"id":"zzzz","max_seconds":5,"wait":false}`, `"max_seconds" goes with "wait"`, `add "wait": true`},
		{"inbox", `{"max_seconds":5}`, `"max_seconds" goes with "wait"`, `add "wait": true`},
		{"cancel_task", `{"ids":["zzzz"],"max_seconds":5}`, `"max_seconds" goes with "kill"`, `add "kill": true`},
		{"inbox", `{"ack":["zzzz/1"],"max_seconds":5}`, "exclude each other", "next"},
		{"inbox", `{"ack":["zzzz/1"],"limit":5}`, "exclude each other", "next"},
		{"inbox", `{"ack":[]}`, `"ack" has no item`, "leave it out"},
		{"inbox", `{"ack":[""]}`, `"ack" has no ID`, "leave it out"},
		{"inbox", `{"ids":[" "],"take":true}`, `"ids" has no ID`, "leave it out"},
		{"list_tasks", `{"id":"zzzz","limit":5}`, "exclude each other", ""},
		{"edit_task", `{"id":"zzzz","action":"fly"}`, `"action" is "fly"`, "change, pause, resume, restore"},
		{"edit_task", `{"id":"zzzz","when":"--quiet"}`, `no task "zzzz"`, ""},
		{"edit_task", `{"id":"zzzz","action":"pause","task":"x"}`, `"task" has no meaning`, ""},
		{"edit_task", `{"id":"--help","when":"1h"}`, `no task "--help"`, ""},
		{"explain_time", `{}`, `needs "when"`, "next Friday at noon"},
		{"explain_time", `{"when":"at 7"}`, "ambiguous", "7:00am"},
		{"task_log", `{"id":"zzzz"}`, `no task "zzzz"`, ""},
		{"task_log", `{"number":"some"}`, "takes a whole number", `"number": 5`},
		{"inbox", `{"ack":["zzzz/1"],"take":true}`, "exclude each other", "next"},
		{"inbox", `{"take":[1,2]}`, `"take" is a list`, `"take": true`},
		{"wait", `{}`, `needs "when"`, `"30s"`},
		{"wait", `{"when":"1h","max_seconds":-1}`, "not a number of seconds", "20"},
		{"wait", `{"when":"1h","max_seconds":0}`, `"max_seconds" must be more than 0`, "20"},
		{"wait", `{"when":"1h","resume":"zzzz"}`, "exclude each other", ""},
		{"wait", `{"when":"1h","any":["2h"]}`, "exclude each other", ""},
		{"wait", `{"any":["2h"],"task":"tea"}`, "exclude each other", "which came"},
		{"wait", `{"when":"1h","delay":"2h"}`, `"when" and "delay" exclude each other`, ""},
		{"list_tasks", `{"fields":"id"}`, `no argument "fields"`, ""},
		{"edit_task", `{"id":"zzzz","no_autostart":true}`, `no argument "no_autostart"`, ""},
		{"wait", `{"any":["nonsense"]}`, "neither a time", "task:ID"},
		{"wait", `{"any":["tomorrow","9am"]}`, "is a time as well", `wait {"any":["tomorrow 9am"]}`},
		{"wait", `{"any":["1h"],"every":"5m"}`, "for a wait for one time", `wait {"any":`},
		{"wait", `{"timer_id":"zzzz"}`, `no wait "zzzz"`, `list_tasks {"all":true} those`},
		{"wait", `{"mode":"later","value":30}`, `"mode" is "later"`, `"interval"`},
		{"wait", `{"mode":"delay","value":-5}`, `wait delay: "-5" is negative`, `wait {"mode":"delay","task":"check the oven","value":"30"}`},
		{"wait", `{"mode":"delay"}`, "belong together", `"when"`},
		{"wait", `{"mode":"delay","value":1,"when":"1h"}`, `"when" excludes`, ""},
		{"wait", `{"when":"yesterday"}`, "in the past", ""},
		{"wait_for_health", `{}`, `needs "targets"`, "localhost"},
		{"wait_for_health", `{"targets":["--header=x"]}`, "has no scheme", ""},
		{"wait_for_health", `{"targets":["tcp://localhost:1"],"status":"200"}`, `"status" is for http`, ""},
		{"wait_for_health", `{"targets":["http://[::1"]}`, `target "http://[::1" is not a valid URL`, `try "http://[::1]"`},
		{"wait_for_health", `{"targets":["localhost:5432"]}`, `target "localhost:5432" has no scheme`, `"tcp://localhost:5432"`},
		{"wait_for_health", `{"targets":["task:zzzz"]}`, `waiting does not mend this: task:zzzz: no such task`, `list_tasks {"all":true} shows every task`},
		{"schedule_task", `{"when":"every 1ms","command":["true"]}`, "an interval of 1ms is too short", `give 1s or more; to wait here for less: wait {"when":"every 1ms"}`},
		{"schedule_task", `{"when":"1h","command":["true"],"env":{"A B":"1"}}`, `"A B" in "env" is not a name of a variable`, `send "env": {"NAME": "VALUE"}`},
		{"schedule_task", `{"when":"1h","command":["true"],"env":["A B=1"]}`, `"env" is "A B=1"`, `write "env": ["NAME"] or "env": {"NAME":"VALUE"}`},
		{"schedule_task", `{"when":"5m","task":"x","until":"1h"}`, "already gives the time", ""},
		{"schedule_task", `{"until":"1ms","task":"x"}`, "is a duration", `say "in 1ms", or give the duration with "delay"`},
		{"schedule_task", `{"when":"1h","task":"x","catchup":"onse"}`, `"catchup" is "onse"`, `did you mean "catchup": "once"?`},
		{"schedule_task", `{"when":"1h","agent":"a | b"}`, "runs without a shell", `name the shell: "agent": "sh -c '...'"`},
		{"schedule_task", `{"when":"1h","command":["sh","-c","a\u0000b"]}`, `"command" has a NUL character`, "leave it out"},
		{"schedule_task", `{"when":"1h","shell":"a\u0000b"}`, `"shell" has a NUL character`, "leave it out"},
		{"schedule_task", `{"when":"1h","task":"a\u0000b"}`, `"task" has a NUL character`, "leave it out"},
		{"schedule_task", `{"when":"1h","task":"\ud83d"}`, `it has half of a character, \ud83d`, "write both halves"},
		{"schedule_task", `{"when":"1h","shell":"true","env":{"A":"a\u0000b"}}`, `"env" has a NUL character`, "leave it out"},
		{"task_log", `{"id":"zzzz","after":"x"}`, `"after" goes with "wait"`, `add "wait": true`},
		{"schedule_task", `{"when":"1h","file":"-"}`, `"file" is -, and this call has no standard input`, `give the text in "shell"`},
		{"edit_task", `{"id":"zzzz","clear":["when"]}`, `"when" cannot be taken back`, `leave it out of "clear"`},
		{"edit_task", `{"id":"zzzz","clear":["dry_run"]}`, `"dry_run" cannot be taken back`, ""},
		{"wait_for_health", `{"targets":["tcp://localhost:1"],"stream":true}`, `no argument "stream"`, ""},
		{"inbox", `{"ack":["zzzz"]}`, `"zzzz" is not the ID of an item`, `inbox shows them; all items of a task: inbox {"ack_task":"zzzz"}`},
		{"notify", `{"body":"-","channel":["email:bob@example.org"],"dry_run":true}`, "email: ", ""},
		{"notify", `{}`, "no body and no subject", `notify {"body":"the build is done"}`},
		{"notify", `{"body":"x","channel":["nobody"]}`, "nobody", `notify {"list":true} shows the channels`},
	} {
		answer, text, failed := c.call(call.tool, call.args)
		if !failed {
			t.Errorf("%s %s is not an error: %s", call.tool, call.args, text)
			continue
		}
		if call.message == "" {
			continue
		}
		if now, _ := answer["now"].(string); len(now) > len("2006-01-02T15:04:05.999+00:00") {
			t.Errorf("%s %s: now is %s", call.tool, call.args, now)
		}
		told, _ := answer["error"].(map[string]any)
		message, _ := told["message"].(string)
		hint, _ := told["hint"].(string)
		if !strings.Contains(message, call.message) || !strings.Contains(hint, call.hint) || told["code"] == nil || strings.Contains(text, "ouro-timer ") {
			t.Errorf("%s %s: %s", call.tool, call.args, text)
		}
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "sleep"}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("a tool that is not there: %v", err)
	}
	if r, text, failed := c.call("cancel_task", `{"ids":["zzzz","yyyy"]}`); !failed || len(r["errors"].([]any)) != 2 ||
		!strings.Contains(text, `no task \"zzzz\"; and 1 more in \"errors\"`) {
		t.Errorf("%s", text)
	}
	if _, text, failed := c.call("inbox", `{"ack":["zzzz/1"]}`); !failed {
		t.Errorf("%s", text)
	}
}

// TestMCPList lists ten tools, in few words: a model reads them all.
func TestMCPList(t *testing.T) {
	t.Parallel()
	c := dialMCP(t, nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	const most = 12_500
	if text, _ := json.Marshal(list); len(text) > most {
		t.Errorf("the list of tools has %d bytes, more than %d", len(text), most)
	}
	blocks := []string{"inbox", "schedule_task", "task_log", "wait", "wait_for_health"}
	reads := []string{"explain_time", "list_tasks", "task_log"} // wait_for_health runs what exec: says
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		if tool.Description == "" || tool.InputSchema == nil || tool.OutputSchema == nil || tool.Annotations.ReadOnlyHint != slices.Contains(reads, tool.Name) {
			t.Errorf("%+v", tool)
		}
		if in, _ := json.Marshal(tool.InputSchema); strings.Contains(string(in), `"max_seconds"`) != slices.Contains(blocks, tool.Name) {
			t.Errorf("%s: %s", tool.Name, in)
		}
		_, example, _ := strings.Cut(tool.Description, "Example: ")
		if !json.Valid([]byte(example)) {
			t.Errorf("%s: the example %q is not JSON", tool.Name, example)
		}
	}
	want := []string{"cancel_task", "edit_task", "explain_time", "inbox", "list_tasks", "notify", "schedule_task", "task_log", "wait", "wait_for_health"}
	if !slices.Equal(names, want) {
		t.Errorf("the tools are %v", names)
	}
}

// waits requires that a call of a tool reaches its bound, and answers with a call that goes on, which
// can be made and goes on in the same way.
func (c *served) waits(tool, args, call string) {
	c.t.Helper()
	answer, text, failed := c.call(tool, args)
	next, _ := answer["call"].(map[string]any)
	if failed || next == nil || answer["status"] != "waiting" || !strings.Contains(text, call) {
		c.t.Errorf("%s %s: %s", tool, args, text)
		return
	}
	further, _ := json.Marshal(next["arguments"])
	again, text, failed := c.call(fmt.Sprint(next["name"]), string(further))
	if failed || again["call"] == nil || next["name"] == tool && !reflect.DeepEqual(again["call"], next) {
		c.t.Errorf("%s %s goes on as %s: %s", tool, args, further, text)
	}
}

// TestMCPBlocks bounds a call that waits, says how to go on, and ends it when the client does not want it any more.
func TestMCPBlocks(t *testing.T) {
	t.Parallel()
	c := dialMCP(t, nil, "--max", "300ms")
	closed := "tcp://" + nettest.Refused(t)
	answer := c.must("wait_for_health", `{"targets":["`+closed+`"],"timeout":600,"max_seconds":9999}`)
	next, _ := answer["call"].(map[string]any)
	args, _ := next["arguments"].(map[string]any)
	if answer["healthy"] != false || next["name"] != "wait_for_health" || args["until"] == nil || args["max_seconds"] == nil || args["timeout"] != nil {
		t.Errorf("%v", answer)
	}
	again, _ := json.Marshal(args)
	if answer = c.must("wait_for_health", string(again)); answer["call"] == nil {
		t.Errorf("the call that goes on: %v", answer)
	}
	c.waits("inbox", `{"wait":true,"take":true}`, `{"arguments":{"limit":20,"take":true,"wait":true},"name":"inbox"}`)
	c.waits("wait", `{"any":["inbox"],"take":"2m","max_seconds":0.1}`, `{"arguments":{"any":["inbox"],"max_seconds":0.1,"take":"2m"},"name":"wait"}`)
	c.waits("wait", `{"any":["inbox"],"take":false}`, `{"arguments":{"any":["inbox"]},"name":"wait"}`)
	c.waits("schedule_task", `{"when":"1h","shell":"true","key":"one","wait":true}`, `"name":"task_log"`)
	c.waits("schedule_task", `{"when":"1h","shell":"true","key":"one","wait":true,"max_seconds":0.2}`, `"max_seconds":0.2`)
	id := fmt.Sprint(c.must("schedule_task", `{"when":"1h","shell":"true"}`)["id"])
	c.waits("task_log", `{"id":"`+id+`","wait":true,"output_limit":10}`, `"id":"`+id+`","output_limit":10,"wait":true`)
	patient := dialMCP(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := patient.CallTool(ctx, &sdk.CallToolParams{Name: "inbox", Arguments: map[string]any{"wait": true}})
		gone <- err
	}()
	patient.must("list_tasks", `{}`) // meanwhile others are answered
	cancel()
	if err := <-gone; err == nil {
		t.Error("a call that was cancelled is answered")
	}
	patient.must("list_tasks", `{}`)
}

// TestMCPManyAtOnce makes two hundred calls side by side, some of which wait.
func TestMCPManyAtOnce(t *testing.T) {
	t.Parallel()
	c := dialMCP(t, nil, "--max", "1s")
	var calls sync.WaitGroup
	for i := range 200 {
		calls.Add(1)
		go func() {
			defer calls.Done()
			switch i % 4 {
			case 0:
				c.must("schedule_task", fmt.Sprintf(`{"when":"1h","task":"message %d"}`, i))
			case 1:
				c.must("list_tasks", `{"limit":5}`)
			case 2:
				c.must("explain_time", `{"when":"every weekday at 9am"}`)
			case 3:
				c.must("wait", `{"when":"0.2"}`)
			}
		}()
	}
	calls.Wait()
	if answer := c.must("list_tasks", `{"limit":1}`); answer["total"] != 50.0 {
		t.Errorf("%v tasks", answer["total"])
	}
}

// listener is a client that hears of changes.
type listener struct {
	*served
	changed chan string
}

func dialListener(t *testing.T) listener {
	t.Helper()
	changed := make(chan string, 100)
	return listener{dialMCP(t, &sdk.ClientOptions{ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
		changed <- r.Params.URI
	}}), changed}
}

func (l listener) subscribe(uri string) {
	l.t.Helper()
	if err := l.Subscribe(l.t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		l.t.Fatal(err)
	}
}

// told waits until the client is told that the resource has changed.
func (l listener) told(uri string) {
	l.t.Helper()
	for {
		select {
		case got := <-l.changed:
			if got == uri {
				return
			}
		case <-time.After(5 * time.Minute):
			l.t.Fatalf("not told of %s", uri)
		}
	}
}

func (l listener) read(uri string) (answer map[string]any) {
	l.t.Helper()
	r, err := l.ReadResource(l.t.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		l.t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(r.Contents[0].Text), &answer); err != nil {
		l.t.Fatal(err)
	}
	return answer
}

// schedule has somebody else schedule a message.
func (l listener) schedule() {
	l.t.Helper()
	w := l.world
	w.In, w.Out, w.Err = strings.NewReader(""), io.Discard, io.Discard
	if code := Main([]string{"ouro-timer", "at", "1h", "--task", "x"}, w); code != cli.ExitOK {
		l.t.Fatalf("exit %d", code)
	}
}

// TestMCPResources reads what is pending, and is told when it subscribes and when that changes.
func TestMCPResources(t *testing.T) {
	t.Parallel()
	l := dialListener(t)
	list, err := l.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	if n := l.read("ouro://tasks")["total"]; n != 0.0 {
		t.Errorf("%v tasks", n)
	}
	if l.read("ouro://inbox")["items"] == nil {
		t.Error("the inbox has no items")
	}
	for _, uri := range []string{"ouro://inbox", "ouro://tasks"} {
		l.subscribe(uri)
		l.told(uri)
	}
	l.schedule()
	l.told("ouro://tasks")
	if n := l.read("ouro://tasks")["total"]; n != 1.0 {
		t.Errorf("%v tasks", n)
	}
}

// TestMCPHastySubscriber is told of a change that comes while its subscription is under way: the client does not wait for the answer.
func TestMCPHastySubscriber(t *testing.T) {
	t.Parallel()
	l := dialListener(t)
	l.subscribe("ouro://tasks")
	l.schedule()
	l.told("ouro://tasks")
	if n := l.read("ouro://tasks")["total"]; n != 1.0 {
		t.Errorf("%v tasks", n)
	}
}
