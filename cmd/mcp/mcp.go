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
	select {
	case err := <-done:
		if errors.Is(err, io.EOF) || ends.Err() != nil { // a client that has closed our input need not read on
			err = nil
		}
		return err
	case <-ctx.Done():
	}
	select { // a client that reads nothing any more must not keep us
	case <-done:
	case <-time.After(lastWord):
	}
	return ctx.Err()
}

// lastWord is how long the answers to cancelled calls may take when the server is told to end.
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
			result = s.result(t, s.Crashed(what, debug.Stack()), 1, nil)
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
		return s.result(t, s.Refuse(no.message, no.hint), 2, nil)
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
			return s.result(t, s.Refuse("cancelled", ""), 1, nil)
		}
	}
	answer, exit := s.Call(ctx, c.words, c.in)
	return s.result(t, answer, exit, c.again)
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
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for begun := time.Now(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				gone := time.Since(begun)
				if gone > c.most {
					return
				}
				_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: gone.Seconds(), Total: c.most.Seconds(),
					Message: fmt.Sprintf("waiting, for %d more seconds at most", int((c.most - gone).Seconds()))})
			}
		}
	}()
	return ctx, func() { stop(); cancel(); <-told }
}

// progressEvery is how often a call that blocks says that it lives.
var progressEvery = 5 * time.Second

// result is an answer of the command line as the result of a tool. It is an error whenever the command line would have ended with another exit
// code than 0, or 75: call again.
func (s *server) result(t *tool, answer []byte, exit int, again func(map[string]any) map[string]any) *sdk.CallToolResult {
	more := map[string]any{}
	if exit == exitMax && again != nil {
		said, _ := decode(answer).(map[string]any)
		more["call"] = map[string]any{"name": t.name, "arguments": again(said)}
	}
	text, err := s.rewrite(t, answer, more)
	if err != nil {
		exit = max(exit, 1)
		if text, err = s.rewrite(t, s.Crashed(fmt.Sprintf("the answer is no object of JSON: %.200q", answer), nil), nil); err != nil {
			text = []byte(`{}`)
		}
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text), IsError: exit != 0 && exit != exitMax}
}
