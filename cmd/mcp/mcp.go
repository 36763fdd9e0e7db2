// Package mcp serves the commands to programs in which models work, by the Model Context Protocol
// on two streams. A tool translates its arguments into a call of a command, and the JSON answer
// into a result. The package knows neither tasks nor times, starts no process, and writes only the
// protocol to the stream of its answers.
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
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

func init() { before.Restore() } // the library is initialised by now

// Options is what the server needs from the program.
type Options struct {
	In      io.Reader
	Out     io.Writer
	Version string
	Program string // the name of this program in lines that can be typed
	// BlockMost is the longest time that a call blocks, because clients give up on long calls.
	BlockMost time.Duration

	// Call runs one command in this process. Many goroutines call it. It returns soon after ctx
	// ends.
	Call func(ctx context.Context, r Request) Answer
	// Refuse is the answer to a call that reaches no command.
	Refuse func(p *problem.Problem) []byte
	// Crashed is the answer to a call that panicked.
	Crashed func(what any, stack []byte) []byte
	// Rows are the options of a command.
	Rows func(command string) option.Rows
	// Schema is a brief JSON Schema of the answers with these names, and of errors. It has some of
	// their fields, and the field of the call that goes on.
	Schema func(answers, shows []string, call bool) (json.RawMessage, error)
	// Watch reports changes of a resource until ctx ends.
	Watch func(ctx context.Context, uri string) (<-chan struct{}, error)
	// Zone is the zone of the user's times.
	Zone func() string
}

// Request is a call of a command.
type Request struct {
	Command string
	Line    option.Line
	// Surface decides how the command words its problems.
	Surface problem.Surface
}

// Answer is the answer of a command.
type Answer struct {
	JSON []byte
	Exit int
	// Next is the call that goes on after the bound of this one, or that waits for the next time of
	// a recurrence. It has no command when there is none.
	Next problem.Call
}

// server is a session.
type server struct {
	Options
	watches
	tools    []*tool
	sdk      *sdk.Server
	inputCtx context.Context // ends with the input, when no call may wait any longer
	slots    chan struct{}   // limits the calls that run at once and do not block
}

// slotsMost is how many calls that do not block run at once. They take turns at the state anyway.
const slotsMost = 4

// exitMax is the exit code of a call that reached its bound.
const exitMax = 75

// exitUnmet is the exit code of a call whose wait ended without what it waited for.
const exitUnmet = 124

// Serve answers until the client closes the input or ctx ends. Then it cancels the open calls and
// returns soon. Its error is one of the streams; the end of the input is not an error.
func Serve(ctx context.Context, o Options) error {
	inputCtx, endInput := context.WithCancelCause(ctx)
	defer endInput(io.EOF)
	s := &server{Options: o, inputCtx: inputCtx, slots: make(chan struct{}, slotsMost)}
	s.tools = allTools(&s.Options)
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: "ouro-timer", Title: "ouro-timer", Version: o.Version},
		&sdk.ServerOptions{
			Instructions: s.instructions(),
			Logger:       slog.New(slog.DiscardHandler),
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{},
				Resources: &sdk.ResourceCapabilities{Subscribe: true}},
			SubscribeHandler:   s.subscribe,
			UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
		})
	for _, t := range s.tools {
		row, err := s.listed(t)
		if err != nil {
			return err
		}
		s.sdk.AddTool(row, func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return s.call(ctx, t, r), nil
		})
	}
	s.addResources()
	done := make(chan error, 1)
	go func() { done <- s.sdk.Run(ctx, newConnection(o.In, o.Out, endInput, s.subscribed)) }()
	var err error
	select {
	case err = <-done:
	case <-inputCtx.Done(): // a client that no longer reads must not keep the server from ending
		patience := cancelTime
		if ctx.Err() == nil {
			patience += drainTime
		}
		select {
		case err = <-done:
		case <-ctx.Done():
		case <-time.After(patience):
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case inputCtx.Err() != nil && context.Cause(inputCtx) != io.EOF:
		return fmt.Errorf("reading standard input: %w", context.Cause(inputCtx))
	case errors.Is(err, io.EOF) || inputCtx.Err() != nil:
		// A client that has closed the input may have stopped reading, so an error is not one of
		// ours.
		return nil
	}
	return err
}

// cancelTime is how long the answers to cancelled calls may take at the end of the server.
const cancelTime = 500 * time.Millisecond

// instructions are the text that a client may give its model.
func (s *server) instructions() string {
	return "Waiting, reminders and scheduled commands that outlive this session. Times are meant in " + s.Zone() +
		" unless tz says otherwise. " +
		"An answer with \"error\" says in hint what to send instead. A blocking call lasts at most " +
		fmt.Sprint(s.BlockMost.Seconds()) +
		" seconds: when status is waiting, make the call in \"call\"."
}

// listed is the tool as it is listed.
func (s *server) listed(t *tool) (*sdk.Tool, error) {
	out, err := s.Schema(t.answers, t.fields, t.blocks())
	if err != nil {
		return nil, err
	}
	notes := &sdk.ToolAnnotations{ReadOnlyHint: t.readOnly, IdempotentHint: t.idempotent || t.readOnly,
		DestructiveHint: new(t.destructive), OpenWorldHint: new(t.openWorld)}
	return &sdk.Tool{Name: t.name, Title: t.title, Description: t.help + " Example: " + t.example,
		Annotations: notes, InputSchema: t.schema(), OutputSchema: out}, nil
}

// call carries out one call of a tool. An error becomes its result, because the model is to read
// it.
func (s *server) call(ctx context.Context, t *tool, r *sdk.CallToolRequest) (result *sdk.CallToolResult) {
	words := surface{s.tools, t, problem.Shell{Program: s.Program}}
	defer func() {
		if what := recover(); what != nil {
			result = s.result(words, Answer{JSON: s.Crashed(what, debug.Stack()), Exit: problem.ExitFailed}, false)
		}
	}()
	c, err := s.read(t, r.Params.Arguments)
	if err != nil {
		return s.result(words, s.refused(err), false)
	}
	c.Surface = words
	if c.longest > 0 {
		var stop func()
		ctx, stop = s.supervise(ctx, r, c)
		defer stop()
	} else {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return s.result(words, s.refused(problem.New(problem.Cancelled, problem.T("cancelled"),
				problem.Text{})), false)
		}
	}
	return s.result(words, s.Call(ctx, c.Request), c.boundGiven)
}

// read makes a request of the arguments of a call.
func (s *server) read(t *tool, arguments json.RawMessage) (request, error) {
	v, err := t.reader().Read(arguments)
	if err != nil {
		return request{}, err
	}
	return t.request(&s.Options, t, v)
}

// refused is the answer to a call that reaches no command.
func (s *server) refused(err error) Answer {
	p, ok := err.(*problem.Problem)
	if !ok {
		p = problem.Of(problem.T(err.Error()), problem.Text{})
	}
	return Answer{JSON: s.Refuse(p), Exit: p.ExitCode()}
}

// actTime is how long a call that changes something before it waits may take for that after the
// client has closed our input. A client that writes its calls and leaves has meant them.
const actTime = time.Second

// supervise ends a blocking call with the input, and reports its progress to the client until stop
// is called.
func (s *server) supervise(ctx context.Context, r *sdk.CallToolRequest, c request) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	begun := time.Now()
	forget := context.AfterFunc(s.inputCtx, func() {
		if c.acts {
			time.AfterFunc(actTime-time.Since(begun), cancel)
		} else {
			cancel()
		}
	})
	reported := make(chan struct{})
	go func() {
		defer close(reported)
		token := r.Params.GetProgressToken()
		if token == nil {
			return
		}
		total := s.expected(ctx, c)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				elapsed := time.Since(begun)
				if elapsed > c.longest {
					return
				}
				total = max(total, elapsed) // the call is late
				_ = r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token,
					Progress: elapsed.Seconds(), Total: total.Seconds(),
					Message: fmt.Sprintf("waiting, for %s more at most", (total - elapsed).Round(time.Second))})
			}
		}
	}()
	return ctx, func() { forget(); cancel(); <-reported }
}

// expected is how long a call may block: until its bound, or until the instant that it waits for.
func (s *server) expected(ctx context.Context, c request) time.Duration {
	if c.remaining > 0 {
		return min(c.longest, c.remaining)
	}
	if c.dueRequest == nil {
		return c.longest
	}
	text := s.Call(ctx, *c.dueRequest).JSON
	var answer struct {
		Due  time.Time   // when a wait is due
		Next []time.Time // the next instants of a new wait
	}
	if json.Unmarshal(text, &answer) == nil {
		if len(answer.Next) > 0 && answer.Due.IsZero() {
			answer.Due = answer.Next[0]
		}
		if left := time.Until(answer.Due); left > 0 {
			return min(c.longest, left)
		}
	}
	return c.longest
}

// progressEvery is how often a blocking call reports its progress.
var progressEvery = 5 * time.Second

// result makes the result of a tool from an answer. It is an error, and has an error in it, when
// the exit code is not 0, 75 (call again) or 124 (what was waited for did not come, which the call
// asked about). The call that goes on has a bound if this one had.
func (s *server) result(words surface, answer Answer, bounded bool) *sdk.CallToolResult {
	failed := answer.Exit != 0 && answer.Exit != exitMax && answer.Exit != exitUnmet
	more := map[string]any{}
	if answer.Next.Command != "" {
		if tool, args := words.arguments(answer.Next); tool != nil {
			if !bounded {
				delete(args, maxSeconds)
			}
			more["call"] = map[string]any{"name": tool.name, "arguments": args}
		}
	}
	if failed {
		if found := firstError(answer.JSON); found != nil {
			more["error"] = found
		}
	}
	full, err := withFields(answer.JSON, more)
	if err != nil {
		failed = true
		full = s.Crashed(fmt.Sprintf("the answer is not an object of JSON: %.200q", answer.JSON), nil)
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(full)}},
		StructuredContent: json.RawMessage(full), IsError: failed}
}

// firstError returns the first error of an answer about several things, and how many there are.
func firstError(answer []byte) map[string]any {
	var several struct {
		Error  any
		Errors []struct {
			Code       any
			Message    string
			Hint       string
			Candidates []any
		}
		Channels []struct{ Channel, Error, Problem, Hint *string }

		ID, Outcome string // of a run that was waited for
	}
	if json.Unmarshal(answer, &several) != nil || several.Error != nil {
		return nil
	}
	found := map[string]any{"code": problem.Failed, "message": "it failed",
		"hint": "the rest of the answer says what"}
	if several.Outcome != "" {
		found["message"] = fmt.Sprintf("the run %s ended as %s", several.ID, several.Outcome)
	}
	where, n := "errors", len(several.Errors)
	if n > 0 {
		one := several.Errors[0]
		found["code"], found["message"], found["hint"] = one.Code, one.Message, one.Hint
		if len(one.Candidates) > 0 {
			found["candidates"] = one.Candidates
		}
	}
	for _, c := range several.Channels {
		if c.Error == nil {
			c.Error = c.Problem // of a dry run
		}
		if c.Error == nil {
			continue
		}
		where = "channels"
		if n++; n > 1 {
			continue
		}
		found["message"] = *c.Error
		if c.Channel != nil {
			found["message"] = *c.Channel + ": " + *c.Error
		}
		if c.Hint != nil {
			found["hint"] = *c.Hint
		}
	}
	if n > 1 {
		found["message"] = fmt.Sprintf("%s; and %d more in %q", found["message"], n-1, where)
	}
	return found
}
