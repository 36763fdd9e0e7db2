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
	callsMost   = 1000    // the most open calls; more are answered with an error
)

// drainTime is how long the open calls may take after the client has closed our input.
const drainTime = 5 * time.Second

// connection is a connection of JSON-RPC on two streams, with a message on each line, as in the
// stdio transport of MCP. Unlike the connection of the library it goes on after a message that
// cannot be read, which is answered with an error. An answer to a cancelled call is not sent, as
// the protocol asks.
type connection struct {
	in         io.Reader
	out        io.Writer
	inputEnded func(error) // is called once, when the input has ended, by io.EOF or an error

	subscribed func(uri string) // is called after a subscription was answered

	lines  chan line
	closed chan struct{} // is closed by Close
	once   sync.Once
	batch  []json.RawMessage // the messages of a line that have not been read yet

	writing sync.Mutex

	mu          sync.Mutex
	openCalls   map[any]*openCall // by the raw ID
	allAnswered chan struct{}     // gets a value when the last open call was answered
}

// line is a line that was read, or the reason why there are no more.
type line struct {
	text []byte
	long bool // the message is too long, and only its ends are kept
	err  error
}

// openCall is a call that was not answered yet.
type openCall struct {
	method    string
	lasting   bool // it is a subscription, which goes on until the client ends it
	cancelled bool
	resource  string // the resource of a subscription
}

func newConnection(in io.Reader, out io.Writer, ended func(error), subscribed func(string)) *connection {
	return &connection{in: in, out: out, inputEnded: ended, subscribed: subscribed, lines: make(chan line),
		closed: make(chan struct{}), openCalls: map[any]*openCall{}, allAnswered: make(chan struct{}, 1)}
}

// Connect returns the connection of the one session. The library calls it.
func (c *connection) Connect(context.Context) (sdk.Connection, error) {
	go c.read()
	return c, nil
}

// SessionID is empty, because there is one session.
func (c *connection) SessionID() string { return "" }

// Close lets Read return. The goroutine that reads the stream may stay, because not every system
// can interrupt it.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// read splits the stream into lines. Its memory does not grow with the stream.
func (c *connection) read() {
	r := bufio.NewReaderSize(c.in, 64<<10)
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
				l.text = append([]byte{}, l.text[:edgeKept]...)
			}
			if l.long {
				l.text = append(l.text, part[max(0, len(part)-edgeKept):]...)
				l.text = append(l.text[:edgeKept], l.text[max(edgeKept, len(l.text)-edgeKept):]...)
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
			if !c.handOn(l) {
				return
			}
		}
		if end != nil {
			c.handOn(line{err: end})
			return
		}
	}
}

// edgeKept is how many bytes of each end of a message that is too long are kept, to find its ID.
const edgeKept = 512

func (c *connection) handOn(l line) bool {
	select {
	case c.lines <- l:
		return true
	case <-c.closed:
		return false
	}
}

// Read returns the next message that can be read, and answers the others. After the last one it
// waits a while for the open calls, so that whoever pipes calls into the server reads the answers.
func (c *connection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if len(c.batch) > 0 {
			next := c.batch[0]
			c.batch = c.batch[1:]
			if msg := c.accept(next); msg != nil {
				return msg, nil
			}
			continue
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case l := <-c.lines:
			switch {
			case l.err != nil:
				c.inputEnded(l.err)
				c.drain(ctx)
				return nil, l.err
			case l.long:
				c.refuse(callID(l.text), jsonrpc.CodeInvalidRequest,
					fmt.Sprintf("the message is longer than %d bytes: keep what is long in a file, and name the file", messageMost))
			default:
				c.split(bytes.TrimPrefix(l.text, []byte("\xef\xbb\xbf")))
			}
		}
	}
}

// split queues the messages of a line: one, or those of a batch, which are answered one by one.
func (c *connection) split(text []byte) {
	switch err := wellFormed(text); {
	case err != nil:
		c.refuse(callID(text), jsonrpc.CodeParseError, err.Error())
	case len(text) > 0 && text[0] == '[':
		if err := json.Unmarshal(text, &c.batch); err != nil || len(c.batch) == 0 {
			c.batch = nil
			c.refuse(jsonrpc.ID{}, jsonrpc.CodeInvalidRequest, "the batch is empty")
		}
	default:
		c.batch = append(c.batch, text)
	}
}

// accept makes a message of a text, and registers a call. It returns nil for a message that it has
// refused, and for one that is passed over.
func (c *connection) accept(text json.RawMessage) jsonrpc.Message {
	if why := whatIsWrong(text); why != "" {
		c.refuse(callID(text), jsonrpc.CodeInvalidRequest, "not a JSON-RPC 2.0 message: "+why)
		return nil
	}
	msg, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil // an answer without an id: who gets an error for one may answer with another
	}
	req, ok := msg.(*jsonrpc.Request)
	if !ok {
		return msg
	}
	if problem := c.register(req); problem != "" {
		c.refuse(req.ID, jsonrpc.CodeInvalidRequest, problem)
		return nil
	}
	return msg
}

// register registers a call that begins, or that the client cancels one. It returns the reason why
// a call is refused.
func (c *connection) register(req *jsonrpc.Request) (problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch id := req.ID.Raw(); {
	case req.Method == "notifications/cancelled":
		var p struct {
			RequestID any `json:"requestId"`
		}
		if json.Unmarshal(req.Params, &p) == nil {
			if id, err := jsonrpc.MakeID(p.RequestID); err == nil && c.openCalls[id.Raw()] != nil {
				c.openCalls[id.Raw()].cancelled = true
			}
		}
	case !req.IsCall():
	case c.openCalls[id] != nil:
		return fmt.Sprintf("the id %v is that of a call that was not answered yet", id)
	case len(c.openCalls) >= callsMost:
		return fmt.Sprintf("%d calls were not answered yet: wait for the answers to some", callsMost)
	default:
		call := &openCall{method: req.Method, lasting: req.Method == "subscriptions/listen"}
		if req.Method == "resources/subscribe" {
			var p sdk.SubscribeParams
			if json.Unmarshal(req.Params, &p) == nil {
				call.resource = p.URI
			}
		}
		c.openCalls[id] = call
	}
	return ""
}

// Write sends a message. An answer to a call that the client has cancelled is dropped.
func (c *connection) Write(_ context.Context, msg jsonrpc.Message) error {
	var resources []string
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		call := c.answered(msg.ID)
		msg.Error = plainError(call, msg.Error)
		if call != nil && call.cancelled {
			return nil
		}
		if call != nil && call.resource != "" && msg.Error == nil {
			resources = []string{call.resource}
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
	if err := c.send(text); err != nil {
		return err
	}
	for _, uri := range resources {
		c.subscribed(uri)
	}
	return nil
}

func (c *connection) send(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(text, '\n'))
	return err
}

// answered removes a call from the open ones and returns it; nil when it is not among them.
func (c *connection) answered(id jsonrpc.ID) *openCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := c.openCalls[id.Raw()]
	delete(c.openCalls, id.Raw())
	if c.noneOpen() {
		select {
		case c.allAnswered <- struct{}{}:
		default:
		}
	}
	return call
}

// noneOpen reports whether no call is open except subscriptions. The caller holds mu.
func (c *connection) noneOpen() bool {
	for _, call := range c.openCalls {
		if !call.lasting {
			return false
		}
	}
	return true
}

// drain waits until the open calls are answered, but no longer than drainTime.
func (c *connection) drain(ctx context.Context) {
	enough := time.NewTimer(drainTime)
	defer enough.Stop()
	for {
		c.mu.Lock()
		quiet := c.noneOpen()
		c.mu.Unlock()
		if quiet {
			return
		}
		select {
		case <-c.allAnswered:
		case <-enough.C:
			return
		case <-c.closed:
			return
		case <-ctx.Done():
			return
		}
	}
}

// refuse answers a message that does not reach the library. Its ID is null when it is not known.
func (c *connection) refuse(id jsonrpc.ID, code int64, message string) {
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
		_ = c.send(text)
	}
}
