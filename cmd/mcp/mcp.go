// Package mcp serves the commands of the command line to programs that models work in, by the Model Context Protocol on two streams. A tool
// is a thin translation: arguments into the words of a command, the JSON that the command answers with into a result. It knows neither
// tasks nor times, starts no process, and writes nothing but the protocol to the stream of its answers.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp" // speaks the protocol

	"github.com/ouro-timer/ouro-timer/cmd/mcp/before"
)

func init() { before.Restore() } // the library has been initialised

// Options is what the server has of the program that it is part of.
type Options struct {
	In      io.Reader
	Out     io.Writer
	Version string
	// Most is the longest that a call blocks: clients give up on calls that take longer than they like.
	Most time.Duration

	// Call runs one command, in this process, and returns what it wrote to standard output and its exit code. It is called from many goroutines
	// at once, and returns soon after ctx ends.
	Call func(ctx context.Context, words []string, in string) (answer []byte, exit int)
	// Refuse is the answer to a call that no command sees.
	Refuse func(message, hint string) []byte
	// Crashed is the answer to a call in which something broke that should not have.
	Crashed func(what any, stack []byte) []byte
	// Flags are the options of a command.
	Flags func(command string) []Flag
	// Schema is a brief JSON Schema of the answers of these names, and of errors. It shows some of their fields, and in call, where that is
	// said, the call that goes on.
	Schema func(answers, shows []string, call bool) (json.RawMessage, error)
	// Duration reads a length of time.
	Duration func(text string) (time.Duration, error)
	// Nearest is the name that is most like the word, or empty.
	Nearest func(word string, names []string) string
	// Watch tells of changes of what a resource shows, until ctx ends.
	Watch func(ctx context.Context, uri string) (<-chan struct{}, error)
	// Zone is the zone in which the user's times are meant.
	Zone func() string
}

// server is a session.
type server struct {
	Options
	speaker
	watches
	sdk  *sdk.Server
	ends context.Context // ended when nothing more is to be waited for
	slot chan struct{}   // calls that do not block, side by side
}

// slots is how many calls that do not block are made at once: they take turns at the state anyway.
const slots = 4

// exitMax is the exit code of a call that blocked for as long as it might.
const exitMax = 75

// exitUnmet is the exit code of a call that waited for something that did not come in the time that was given to it.
const exitUnmet = 124

// Serve answers until the client closes our input or ctx ends, and then returns soon: what is under way is cancelled. Its error is that of
// the streams; the end of the input is none.
func Serve(ctx context.Context, o Options) error {
	ends, end := context.WithCancel(ctx)
	defer end()
	s := &server{Options: o, ends: ends, slot: make(chan struct{}, slots)}
	s.tools = all(&s.Options)
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "ouro-timer", Title: "ouro-timer", Version: o.Version}, &sdk.ServerOptions{
		Instructions:       s.instructions(),
		Logger:             slog.New(slog.DiscardHandler),
		Capabilities:       &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{Subscribe: true}},
		SubscribeHandler:   s.subscribe,
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	for _, t := range s.tools {
		row, err := s.row(t)
		if err != nil {
			return err
		}
		s.sdk.AddTool(row, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.call(ctx, t, r), nil
		})
	}
	s.addResources()
	done := make(chan error, 1)
	go func() { done <- s.sdk.Run(ctx, newWire(o.In, o.Out, end, s.subscribed)) }()
	var err error
	select {
	case err = <-done:
	case <-ends.Done(): // a client that reads nothing any more must not keep us
		most := lastWord
		if ctx.Err() == nil {
			most += drainTime
		}
		select {
		case err = <-done:
		case <-ctx.Done():
		case <-time.After(most):
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, io.EOF) || ends.Err() != nil: // a client that has closed our input need not read on
		return nil
	}
	return err
}

// lastWord is how long the answers to cancelled calls may take when the server is told to end, or has drained.
const lastWord = 500 * time.Millisecond

// instructions are what a client may hand on to its model.
func (s *server) instructions() string {
	return "Waiting, reminders and scheduled commands that outlive this session. Times are meant in " + s.Zone() + " unless tz says otherwise. " +
		"An answer with \"error\" says in hint what to send instead. A blocking call lasts at most " + fmt.Sprint(s.Most.Seconds()) +
		" seconds: when status is waiting, make the call in \"call\"."
}

// row is how the tool is listed.
func (s *server) row(t *tool) (*sdk.Tool, error) {
	out, err := s.Schema(t.answers, t.shows, t.blocks)
	if err != nil {
		return nil, err
	}
	no, yes := false, true
	notes := &sdk.ToolAnnotations{ReadOnlyHint: t.reads, IdempotentHint: t.repeats || t.reads, DestructiveHint: &no, OpenWorldHint: &no}
	if t.destroys {
		notes.DestructiveHint = &yes
	}
	if t.open {
		notes.OpenWorldHint = &yes
	}
	return &sdk.Tool{Name: t.name, Title: t.title, Description: t.says + " Example: " + t.example, Annotations: notes, InputSchema: t.schema(), OutputSchema: out}, nil
}

// call makes one call of a tool. Whatever goes wrong is the result: the model is to read it.
func (s *server) call(ctx context.Context, t *tool, r *sdk.CallToolRequest) (result *sdk.CallToolResult) {
	defer func() {
		if what := recover(); what != nil {
			result = s.result(t, s.Crashed(what, debug.Stack()), 1, call{})
		}
	}()
	v, err := t.read(r.Params.Arguments)
	var c call
	if err == nil {
		c, err = t.words(&s.Options, t, v)
	}
	if err != nil {
		var no *refusal
		if !errors.As(err, &no) {
			no = &refusal{message: err.Error()}
		}
		return s.result(t, s.Refuse(no.message, no.hint), 2, call{})
	}
	if c.most > 0 {
		var stop func()
		ctx, stop = s.attend(ctx, t, r, c)
		defer stop()
	} else {
		select {
		case s.slot <- struct{}{}:
			defer func() { <-s.slot }()
		case <-ctx.Done():
			return s.result(t, s.Refuse("cancelled", ""), 1, call{})
		}
	}
	answer, exit := s.Call(ctx, c.words, c.in)
	return s.result(t, answer, exit, c)
}

// attend looks after a call that blocks: it ends with the input, and tells the client now and then that it lives.
func (s *server) attend(ctx context.Context, t *tool, r *sdk.CallToolRequest, c call) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ends, cancel)
	told := make(chan struct{})
	go func() {
		defer close(told)
		token := r.Params.GetProgressToken()
		if token == nil {
			return
		}
		begun := time.Now()
		total := s.lasts(ctx, c)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				gone := time.Since(begun)
				if gone > c.most {
					return
				}
				total = max(total, gone) // it is late
				_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: gone.Seconds(), Total: total.Seconds(),
					Message: fmt.Sprintf("waiting, for %d more seconds at most", int((total - gone).Seconds()))})
			}
		}
	}()
	return ctx, func() { stop(); cancel(); <-told }
}

// lasts is how long a call that blocks takes at most: to its bound, or to the instant that it waits for.
func (s *server) lasts(ctx context.Context, c call) time.Duration {
	if c.left > 0 {
		return min(c.most, c.left)
	}
	if c.asks == nil {
		return c.most
	}
	text, _ := s.Call(ctx, c.asks, "")
	var answer struct {
		Due  time.Time   // of a wait that goes on
		Next []time.Time // of what is yet to begin
	}
	if json.Unmarshal(text, &answer) == nil {
		if len(answer.Next) > 0 && answer.Due.IsZero() {
			answer.Due = answer.Next[0]
		}
		if left := time.Until(answer.Due); left > 0 {
			return min(c.most, left)
		}
	}
	return c.most
}

// progressEvery is how often a call that blocks says that it lives.
var progressEvery = 5 * time.Second

// result is an answer of the command line as the result of a tool. It is an error whenever the command line would have ended with another exit
// code than 0, 75 (call again) or 124 (what was waited for did not come: the answer that was asked for), and then it has an error in it. What
// is null is left out of the text, which models pay for.
func (s *server) result(t *tool, answer []byte, exit int, c call) *sdk.CallToolResult {
	failed := exit != 0 && exit != exitMax && exit != exitUnmet
	said, _ := decode(answer).(map[string]any)
	more := map[string]any{}
	var next map[string]any
	switch {
	case exit == exitMax && c.again != nil:
		next = c.again(said)
	case exit == 0 && c.next != nil:
		next = c.next(said)
	case failed && said != nil && said["error"] == nil:
		more["error"] = s.first(t, said)
	}
	if next != nil {
		more["call"] = map[string]any{"name": t.name, "arguments": next}
	}
	full, err := s.rewrite(t, answer, more)
	if err != nil {
		failed = true
		if full, err = s.rewrite(t, s.Crashed(fmt.Sprintf("the answer is no object of JSON: %.200q", answer), nil), nil); err != nil {
			full = []byte(`{}`)
		}
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(lean(full))}}, StructuredContent: json.RawMessage(full), IsError: failed}
}

// first is the error of an answer that has one for each of the things it was about: the first of them, and how many there are.
func (s *server) first(t *tool, answer map[string]any) map[string]any {
	told := map[string]any{"code": "failed", "message": "it failed", "hint": "the rest of the answer says what", "candidates": []any{}}
	for _, list := range []string{"errors", "channels"} {
		n := 0
		all, _ := answer[list].([]any)
		for _, one := range all {
			one, _ := one.(map[string]any)
			text, _ := one["message"].(string)
			if list == "channels" {
				text, _ = one["error"].(string)
				text = strings.TrimPrefix(fmt.Sprint(one["channel"], ": ", text), "<nil>: ")
			}
			if one["message"] == nil && one["error"] == nil {
				continue
			}
			if n++; n > 1 {
				continue
			}
			told["message"] = s.tell(t, text)
			for _, field := range []string{"code", "candidates"} {
				if x, there := one[field]; there {
					told[field] = x
				}
			}
			if hint, ok := one["hint"].(string); ok {
				told["hint"] = s.advise(t, hint)
			}
		}
		if n > 1 {
			told["message"] = fmt.Sprintf("%s; and %d more in %q", told["message"], n-1, list)
		}
		if n > 0 {
			break
		}
	}
	return told
}
