package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/ouro-timer/ouro-timer/cmd/option"
)

// The bounds of what a client may send.
const (
	messageMost = 1 << 20 // bytes of a message, which is a line
	callsMost   = 1000    // calls under way; whoever has more is answered with an error
)

// drainTime is how long calls that were under way when the client closed our input may take to be
// answered.
const drainTime = 5 * time.Second

// wire is a connection on two streams: JSON-RPC, a message a line, as stdio of MCP has it. Unlike
// the one of the library it lives on after a message that cannot be read: that is answered with an
// error, and the next one is read. An answer to a call that was cancelled is not sent, as the
// protocol asks.
type wire struct {
	in    io.Reader
	out   io.Writer
	ended func() // called once, when nothing more comes in

	subscribed func(uri string) // called when the client has been told that it is subscribed

	lines chan line
	gone  chan struct{} // closed by Close
	once  sync.Once
	queue []json.RawMessage // what is left of a batch

	writing sync.Mutex

	mu    sync.Mutex
	calls map[any]*under // by the raw ID
	idle  chan struct{}  // receives when the last call was answered
}

// line is one line read, or why there is no more.
type line struct {
	text []byte
	long bool
	err  error
}

// under is a call that is under way.
type under struct {
	method    string
	stays     bool // until the client ends it: a subscription
	cancelled bool
	resource  string // what it subscribes to, where the answer says so
}

func newWire(in io.Reader, out io.Writer, ended func(), subscribed func(string)) *wire {
	return &wire{in: in, out: out, ended: ended, subscribed: subscribed, lines: make(chan line),
		gone: make(chan struct{}), calls: map[any]*under{}, idle: make(chan struct{}, 1)}
}

// Connect is what the library calls for the one session there is.
func (w *wire) Connect(context.Context) (sdk.Connection, error) {
	go w.read()
	return w, nil
}

// SessionID is empty: there is one session.
func (w *wire) SessionID() string { return "" }

// Close lets Read return. The reader of the stream itself may stay behind: nothing can interrupt it
// on every system.
func (w *wire) Close() error {
	w.once.Do(func() { close(w.gone) })
	return nil
}

// read takes the stream apart into lines, in memory that does not grow with it.
func (w *wire) read() {
	r := bufio.NewReaderSize(w.in, 64<<10)
	for {
		var l line
		for {
			part, err := r.ReadSlice('\n')
			if !l.long {
				l.text = append(l.text, part...)
			}
			if len(l.text) > messageMost+len("\r\n") {
				// What a client calls the message stands at its beginning or at its end; that is
				// kept of it.
				l.long = true
				l.text = append([]byte{}, l.text[:edge]...)
			}
			if l.long {
				l.text = append(l.text, part[max(0, len(part)-edge):]...)
				l.text = append(l.text[:edge], l.text[max(edge, len(l.text)-edge):]...)
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			l.err = err
			break
		}
		end := l.err
		if l.text = bytes.TrimSpace(l.text); len(l.text) > 0 {
			l.err = nil
			if !w.pass(l) {
				return
			}
		}
		if end != nil {
			w.pass(line{err: end})
			return
		}
	}
}

// edge is how much is kept of each end of a message that is too long, to find its ID in.
const edge = 512

func (w *wire) pass(l line) bool {
	select {
	case w.lines <- l:
		return true
	case <-w.gone:
		return false
	}
}

// Read returns the next message that can be read; the others are answered here. After the last one
// it waits until what is under way has been answered, for a while: whoever pipes calls into us
// reads the answers.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(w.queue) > 0 {
			next := w.queue[0]
			w.queue = w.queue[1:]
			if msg := w.accept(next); msg != nil {
				return msg, nil
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-w.gone:
			return nil, io.EOF
		case l := <-w.lines:
			switch {
			case l.err != nil:
				w.ended()
				w.drain(ctx)
				return nil, l.err
			case l.long:
				w.refuse(callID(l.text), jsonrpc.CodeInvalidRequest,
					fmt.Sprintf("the message is longer than %d bytes: keep what is long in a file, and name the file", messageMost))
			default:
				w.open(bytes.TrimPrefix(l.text, []byte("\xef\xbb\xbf")))
			}
		}
	}
}

// open puts the messages of a line into the queue: one, or those of a batch, which are answered one
// by one.
func (w *wire) open(text []byte) {
	switch err := wellFormed(text); {
	case err != nil:
		w.refuse(callID(text), jsonrpc.CodeParseError, err.Error())
	case len(text) > 0 && text[0] == '[':
		if err := json.Unmarshal(text, &w.queue); err != nil || len(w.queue) == 0 {
			w.queue = nil
			w.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "an empty batch")
		}
	default:
		w.queue = append(w.queue, text)
	}
}

// wellFormed refuses what is not JSON, or JSON that nobody writes.
func wellFormed(text []byte) error {
	switch {
	case !utf8.Valid(text):
		return errors.New("the message is not valid UTF-8")
	case option.Deeper(text, option.DepthMost):
		return fmt.Errorf("the message is nested deeper than %d levels", option.DepthMost)
	case !json.Valid(text):
		return errors.New("the message is not JSON: one object on one line is expected")
	}
	return nil
}

// accept makes a message of the text and takes note of a call; nil when it was answered instead.
func (w *wire) accept(text json.RawMessage) jsonrpc.Message {
	if why := ill(text); why != "" {
		w.refuse(callID(text), jsonrpc.CodeInvalidRequest, "no JSON-RPC 2.0 message: "+why)
		return nil
	}
	msg, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		w.refuse(callID(text), jsonrpc.CodeInvalidRequest, "no JSON-RPC 2.0 message")
		return nil
	}
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return msg
	}
	if problem := w.note(req); problem != "" {
		w.refuse(req.ID, jsonrpc.CodeInvalidRequest, problem)
		return nil
	}
	return msg
}

// ill says what is wrong with a message that is JSON; empty for nothing. The library would tell of
// it in words of Go, and take 1.5 for 1.
func ill(text []byte) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(text, &m) != nil {
		return "it is not an object"
	}
	if version, _ := option.Decode(m["jsonrpc"]).(string); version != "2.0" {
		return `send "jsonrpc": "2.0"`
	}
	if id, there := m["id"]; there && !isID(id) {
		return "the id is neither a text nor a whole number of at most 2^53"
	}
	if method, there := m["method"]; there {
		if _, ok := option.Decode(method).(string); !ok {
			return "the method is not text"
		}
		return ""
	}
	if m["result"] == nil && m["error"] == nil {
		return "it is neither a call nor an answer"
	}
	return ""
}

// idMost is as far as whole numbers of JSON are exact in many programs, the library among them.
const idMost = 1 << 53

// isID reports whether a value names a call, and can be given back as it came.
func isID(raw json.RawMessage) bool {
	switch id := option.Decode(raw).(type) {
	case nil, string:
		return true
	case json.Number:
		n, err := id.Float64()
		return err == nil && n == math.Trunc(n) && math.Abs(n) <= idMost
	}
	return false
}

// note takes note of a call that begins, and of one that the client wants no answer to any more. It
// says why a call is refused.
func (w *wire) note(req *jsonrpc.Request) (problem string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch id := req.ID.Raw(); {
	case req.Method == "notifications/cancelled":
		var p struct {
			RequestID any `json:"requestId"`
		}
		if json.Unmarshal(req.Params, &p) == nil {
			if id, err := jsonrpc.MakeID(p.RequestID); err == nil && w.calls[id.Raw()] != nil {
				w.calls[id.Raw()].cancelled = true
			}
		}
	case !req.IsCall():
	case w.calls[id] != nil:
		return fmt.Sprintf("the id %v is that of a call that is under way", id)
	case len(w.calls) >= callsMost:
		return fmt.Sprintf("%d calls are under way: wait until some were answered", callsMost)
	default:
		c := &under{method: req.Method, stays: req.Method == "subscriptions/listen"}
		if req.Method == "resources/subscribe" {
			var p sdk.SubscribeParams
			if json.Unmarshal(req.Params, &p) == nil {
				c.resource = p.URI
			}
		}
		w.calls[id] = c
	}
	return ""
}

// Write sends a message. An answer to a call that the client has cancelled is dropped.
func (w *wire) Write(_ context.Context, msg jsonrpc.Message) error {
	var resources []string
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		c := w.answered(msg.ID)
		msg.Error = plainly(c, msg.Error)
		if c != nil && c.cancelled {
			return nil
		}
		if c != nil && c.resource != "" && msg.Error == nil {
			resources = []string{c.resource}
		}
	case *jsonrpc.Request:
		// as newer versions of the protocol answer
		if msg.Method == "notifications/subscriptions/acknowledged" {
			var p sdk.SubscriptionsAcknowledgedParams
			if json.Unmarshal(msg.Params, &p) == nil {
				resources = p.Notifications.ResourceSubscriptions
			}
		}
	}
	text, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if err := w.send(text); err != nil {
		return err
	}
	for _, uri := range resources {
		w.subscribed(uri)
	}
	return nil
}

func (w *wire) send(text []byte) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	_, err := w.out.Write(append(text, '\n'))
	return err
}

// plainly is an error of the library as a client should have it: with a code of the protocol, and
// without words of Go.
func plainly(c *under, err error) error {
	if err == nil {
		return nil
	}
	var known *jsonrpc.Error
	if !errors.As(err, &known) || known.Code == 0 {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	if c != nil && strings.Contains(err.Error(), "unmarshal") {
		return &jsonrpc.Error{Code: known.Code, Message: "the params of " + c.method +
			" are not what the protocol has for it"}
	}
	return err
}

// answered takes note that a call ends, and returns what was known of it; nil for nothing.
func (w *wire) answered(id jsonrpc.ID) *under {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.calls[id.Raw()]
	delete(w.calls, id.Raw())
	if w.quiet() {
		select {
		case w.idle <- struct{}{}:
		default:
		}
	}
	return c
}

// quiet reports whether no call is under way that ends by itself. mu is held.
func (w *wire) quiet() bool {
	for _, c := range w.calls {
		if !c.stays {
			return false
		}
	}
	return true
}

// drain waits until what is under way has been answered, or for as long as that may take.
func (w *wire) drain(ctx context.Context) {
	enough := time.NewTimer(drainTime)
	defer enough.Stop()
	for {
		w.mu.Lock()
		quiet := w.quiet()
		w.mu.Unlock()
		if quiet {
			return
		}
		select {
		case <-w.idle:
		case <-enough.C:
			return
		case <-w.gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

// refuse answers a message that does not get as far as the library. The ID is null where there is
// no telling it.
func (w *wire) refuse(id jsonrpc.ID, code int64, message string) {
	text, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Error   any    `json:"error"`
	}{"2.0", id.Raw(), struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}{code, message}})
	if err == nil {
		// the library meets the same error with its next word, and ends the session
		_ = w.send(text)
	}
}
