package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// These are the bounds of what a client may send.
const (
	messageMost = 1 << 20 // the most bytes of a message, which is a line
	callsMost   = 1000    // the most calls under way; more are answered with an error
)

// drainTime is how long calls under way may take after the client has closed our input.
const drainTime = 5 * time.Second

// wire is a connection of JSON-RPC on two streams, with a message on each line, as in the stdio
// transport of MCP. Unlike the connection of the library it goes on after a message that cannot be
// read, which is answered with an error. An answer to a cancelled call is not sent, as the protocol
// asks.
type wire struct {
	in    io.Reader
	out   io.Writer
	ended func() // is called once, when the input has ended

	subscribed func(uri string) // is called after a subscription was answered

	lines chan line
	gone  chan struct{} // is closed by Close
	once  sync.Once
	queue []json.RawMessage // the rest of a batch

	writing sync.Mutex

	mu    sync.Mutex
	calls map[any]*under // by the raw ID
	idle  chan struct{}  // has a value when the last call was answered
}

// line is a line that was read, or why there are no more.
type line struct {
	text []byte
	long bool
	err  error
}

// under is a call that is under way.
type under struct {
	method    string
	stays     bool // a subscription, which goes on until the client ends it
	cancelled bool
	resource  string // the resource of a subscription
}

func newWire(in io.Reader, out io.Writer, ended func(), subscribed func(string)) *wire {
	return &wire{in: in, out: out, ended: ended, subscribed: subscribed, lines: make(chan line),
		gone: make(chan struct{}), calls: map[any]*under{}, idle: make(chan struct{}, 1)}
}

// Connect returns the connection of the one session. The library calls it.
func (w *wire) Connect(context.Context) (sdk.Connection, error) {
	go w.read()
	return w, nil
}

// SessionID is empty, because there is one session.
func (w *wire) SessionID() string { return "" }

// Close lets Read return. The goroutine that reads the stream may stay, because not every system
// can interrupt it.
func (w *wire) Close() error {
	w.once.Do(func() { close(w.gone) })
	return nil
}

// read splits the stream into lines. Its memory does not grow with the stream.
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
				// The ID of a message stands at its beginning or its end, so both are kept.
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

// edge is how many bytes of each end of a message that is too long are kept, to find its ID.
const edge = 512

func (w *wire) pass(l line) bool {
	select {
	case w.lines <- l:
		return true
	case <-w.gone:
		return false
	}
}

// Read returns the next message that can be read, and answers the others. After the last one it
// waits a while for the calls under way, so that whoever pipes calls into the server reads the
// answers.
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

// open queues the messages of a line: one, or those of a batch, which are answered one by one.
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

// accept makes a message of a text, and notes a call. It returns nil when it has answered the
// message.
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

// note notes a call that begins, or the end of the client's interest in one. It returns why a call
// is refused.
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
		// newer versions of the protocol answer like this
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

// answered notes that a call ends, and returns what was known of it; nil when it is unknown.
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

// quiet reports whether no call is under way except subscriptions. The caller holds mu.
func (w *wire) quiet() bool {
	for _, c := range w.calls {
		if !c.stays {
			return false
		}
	}
	return true
}

// drain waits until the calls under way are answered, or drainTime is over.
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

// refuse answers a message that does not reach the library. Its ID is null when it is not known.
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
		// the library gets the same error when it writes next, and ends the session
		_ = w.send(text)
	}
}
