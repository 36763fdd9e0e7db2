package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// fake is a server of commands that are not there: run answers in their place. It ends with the
// test, or when the client hangs up.
func fake(t *testing.T, client *sdk.ClientOptions, run func(context.Context, Request) Answer) (c *sdk.ClientSession, hangUp func() error) {
	t.Helper()
	o := fakes(run)
	to, from := start(t, &o)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, client).Connect(t.Context(), &sdk.IOTransport{Reader: from, Writer: to}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session, to.Close
}

// fakes are commands that are not there: run answers in their place. Nothing that is watched
// changes.
func fakes(run func(context.Context, Request) Answer) Options {
	return Options{
		Version: "1", BlockMost: 50 * time.Second,
		Call:    run,
		Refuse:  func(p *problem.Problem) []byte { return []byte(option.JSON(map[string]any{"message": p.Error()})) },
		Crashed: func(what any, _ []byte) []byte { return []byte(option.JSON(map[string]any{"broke": what})) },
		Rows: func(command string) option.Rows {
			for _, t := range theTools() {
				if t.command == command {
					return t.rows
				}
			}
			return nil
		},
		Schema: func(_, _ []string, _ bool) (json.RawMessage, error) { return json.RawMessage(`{"type":"object"}`), nil },
		Watch:  func(context.Context, string) (<-chan struct{}, error) { return nil, nil },
		Zone:   func() string { return "UTC" },
	}
}

// start starts a server. It ends with the test, or when its input is closed.
func start(t *testing.T, o *Options) (to io.WriteCloser, from io.ReadCloser) {
	t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	o.In, o.Out = toServer, fromServer
	done := make(chan error, 1)
	go func() {
		done <- Serve(context.WithoutCancel(t.Context()), *o)
		fromServer.Close()
	}()
	t.Cleanup(func() {
		fromClient.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return fromClient, toClient
}

// TestProgress tells a client that asked for it that a call that blocks lives, and hands the bound
// on.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan string, 100)
		c, _ := fake(t, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			told <- fmt.Sprint(r.Params.Progress, " ", r.Params.Message)
		}}, func(ctx context.Context, r Request) Answer {
			if r.Command != "wait" || r.Line.Values.Text("max") != "50s" || !r.Line.Values.Bool("json") || strings.Join(r.Line.Args, " ") != "1h" {
				t.Errorf("%+v", r)
			}
			time.Sleep(12 * time.Second)
			return Answer{JSON: []byte(`{"id":"w3xq"}`), Exit: exitMax, Next: problem.To("wait").With("resume", "w3xq").With("max", "50s")}
		})
		p := &sdk.CallToolParams{Name: "wait", Arguments: map[string]any{"when": "1h", "max_seconds": 3600}}
		p.SetProgressToken("token")
		r, err := c.CallTool(t.Context(), p)
		if err != nil || r.IsError {
			t.Fatalf("%v, %v", r, err)
		}
		if text := r.Content[0].(*sdk.TextContent).Text; text != `{"id":"w3xq","call":{"arguments":{"max_seconds":50,"resume":"w3xq"},"name":"wait"}}` {
			t.Error(text)
		}
		synctest.Wait()
		if n := len(told); n != 2 || <-told != "5 waiting, for 45s more at most" || <-told != "10 waiting, for 40s more at most" {
			t.Errorf("told %d times", n)
		}
	})
}

// TestProgressOfTheWait says of how long a call has left what is less: to its bound, or to what it
// waits for.
func TestProgressOfTheWait(t *testing.T) {
	for _, c := range []struct {
		tool, args string
		total      float64
	}{
		{"wait", `{"when":"7s"}`, 7},
		{"wait", `{"when":"8"}`, 8},
		{"wait", `{"mode":"delay","value":9}`, 9},
		{"wait", `{"when":"in 10 seconds"}`, 10},
		{"wait", `{"resume":"w3xq"}`, 11},
		{"wait", `{"when":"some day"}`, 50},
		{"wait_for_health", `{"targets":["tcp://x:1"],"timeout":12}`, 12},
		{"wait_for_health", `{"targets":["tcp://x:1"]}`, 50},
		{"inbox", `{"wait":true,"max_seconds":13}`, 13},
	} {
		synctest.Test(t, func(t *testing.T) {
			told := make(chan float64, 100)
			s, _ := fake(t, &sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
				told <- r.Params.Total
			}}, func(_ context.Context, r Request) Answer {
				in := func(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339Nano) }
				switch r.Command + " " + strings.Join(r.Line.Args, " ") {
				case "when in 10 seconds":
					return Answer{JSON: []byte(`{"next":["` + in(10*time.Second) + `"]}`)}
				case "show w3xq":
					return Answer{JSON: []byte(`{"due":"` + in(11*time.Second) + `","next":["` + in(time.Hour) + `"]}`)}
				case "when some day":
					return Answer{JSON: []byte(`{"error":{}}`), Exit: 2}
				}
				time.Sleep(6 * time.Second)
				return Answer{JSON: []byte(`{}`)}
			})
			p := &sdk.CallToolParams{Name: c.tool, Arguments: json.RawMessage(c.args)}
			p.SetProgressToken("token")
			if r, err := s.CallTool(t.Context(), p); err != nil || r.IsError {
				t.Fatalf("%v, %v", r, err)
			}
			synctest.Wait()
			if len(told) != 1 {
				t.Fatalf("%s %s is told %d times", c.tool, c.args, len(told))
			}
			if total := <-told; total != c.total {
				t.Errorf("%s %s takes %v, not %v", c.tool, c.args, total, c.total)
			}
		})
	}
}

// TestProtocolErrors have a code of the protocol and no words of Go.
func TestProtocolErrors(t *testing.T) {
	o := fakes(nil)
	to, from := start(t, &o)
	defer from.Close()
	go func() {
		const hello = `"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
		for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
			`{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":7}}`, `{"jsonrpc":"2.0","id":2,` + hello,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":3,` + hello, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":5}}`,
			`{"jsonrpc":"2.0","id":6,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}`} {
			_, _ = io.WriteString(to, line+"\n")
		}
		to.Close()
	}()
	codes := map[float64]int{}
	d := json.NewDecoder(from)
	for {
		var answer struct {
			ID    float64
			Error *struct {
				Code    int
				Message string
			}
		}
		if d.Decode(&answer) != nil {
			break
		}
		if answer.Error != nil {
			codes[answer.ID] = answer.Error.Code
			if strings.Contains(answer.Error.Message, "unmarshal") {
				t.Errorf("%+v", answer.Error)
			}
		}
	}
	if want := map[float64]int{1: -32600, 3: -32600, 4: -32602, 5: -32602, 6: -32602}; !reflect.DeepEqual(codes, want) {
		t.Errorf("%v", codes)
	}
}

// TestCancelled ends what a command waits for when the client does not want it, and when the client
// is gone.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan bool, 2)
		c, hangUp := fake(t, nil, func(ctx context.Context, _ Request) Answer {
			<-ctx.Done()
			ended <- true
			return Answer{JSON: []byte(`{}`), Exit: 1}
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait()
			cancel()
		}()
		if _, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "wait", Arguments: map[string]any{"when": "1h"}}); err == nil {
			t.Error("a cancelled call was answered")
		}
		<-ended
		go func() {
			_, _ = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "inbox", Arguments: map[string]any{"wait": true}})
		}()
		synctest.Wait()
		if err := hangUp(); err != nil {
			t.Error(err)
		}
		<-ended
	})
}

// TestBroken answers although something broke that should not have.
func TestBroken(t *testing.T) {
	answers := []string{"", "nonsense", `{"a":1}{"b":2}`}
	c, _ := fake(t, nil, func(context.Context, Request) Answer {
		if len(answers) == 0 {
			panic("ouch")
		}
		answer := answers[0]
		answers = answers[1:]
		return Answer{JSON: []byte(answer)}
	})
	for range 5 {
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_tasks"})
		if err != nil || !r.IsError || !strings.Contains(r.Content[0].(*sdk.TextContent).Text, "broke") {
			t.Errorf("%v, %v", r, err)
		}
	}
}

// TestFirstError says of a run that was waited for how it ended.
func TestFirstError(t *testing.T) {
	for answer, want := range map[string]string{
		`{"id":"k7m2/3","outcome":"failed","exit_code":3}`:         "the run k7m2/3 ended as failed",
		`{"errors":[{"code":"not_found","message":"no task"},{}]}`: `no task; and 1 more in "errors"`,
		`{}`: "it failed",
	} {
		if got := firstError([]byte(answer)); got["message"] != want {
			t.Errorf("%s: %v", answer, got)
		}
	}
	if got := firstError([]byte(`{"error":{"message":"x"}}`)); got != nil {
		t.Errorf("an error of its own: %v", got)
	}
}

// TestClientWritesAndLeaves: what a call changes before it waits is done although the client has closed our input at once, and what only
// waits is not.
func TestClientWritesAndLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := fakes(func(ctx context.Context, r Request) Answer {
			select {
			case <-ctx.Done():
				return Answer{JSON: []byte(`{"did":"nothing"}`)}
			case <-time.After(actTime / 2):
			}
			<-ctx.Done()
			return Answer{JSON: []byte(`{"did":"` + r.Command + `"}`)}
		})
		in, client := io.Pipe()
		var out strings.Builder
		o.In, o.Out = in, &out
		done := make(chan error)
		go func() { done <- Serve(t.Context(), o) }()
		if _, err := io.WriteString(client, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		for i, call := range []string{`"schedule_task","arguments":{"when":"now","command":["true"],"wait":true}`, `"cancel_task","arguments":{"ids":["k7m2"],"kill":true}`,
			`"inbox","arguments":{"wait":true}`} {
			if _, err := fmt.Fprintf(client, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s}}`+"\n", i+1, call); err != nil {
				t.Fatal(err)
			}
		}
		client.Close()
		begun := time.Now()
		if err := <-done; err != nil || time.Since(begun) > actTime+cancelTime {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		for _, want := range []string{`{"did":"at"}`, `{"did":"rm"}`, `{"did":"nothing"}`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s is not in %s", want, out.String())
			}
		}
	})
}

// TestClientReadsNothing ends the server, soon, although the client that has closed our input reads
// no answer.
func TestClientReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := fakes(nil)
		in, client := io.Pipe()
		unread, out := io.Pipe()
		defer unread.Close()
		o.In, o.Out = in, out
		done := make(chan error)
		go func() { done <- Serve(context.WithoutCancel(t.Context()), o) }()
		if _, err := io.WriteString(client, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		client.Close()
		begun := time.Now()
		if err := <-done; err != nil || time.Since(begun) > drainTime+cancelTime {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}
