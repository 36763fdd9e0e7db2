package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// Codes of JSON-RPC errors. CodeRefused is not one of the standard: the request was understood but
// not done, and Data says why.
const (
	CodeParse    = -32700
	CodeRequest  = -32600
	CodeMethod   = -32601
	CodeParams   = -32602
	CodeInternal = -32603
	CodeRefused  = -32000
)

// Error is an error of JSON-RPC.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Serve answers a request. An error that is not an *Error is reported as CodeInternal.
type Serve func(ctx context.Context, method string, params json.RawMessage) (any, error)

// Limits of what is read.
const (
	maxLine = 1 << 20 // bytes of a line
	maxID   = 1 << 10 // bytes of an id
)

// kind is what a line is.
type kind int

const (
	blank    kind = iota
	garbage       // not JSON-RPC; ignored and counted
	response      // to a reminder
	request       // one with an id is answered
	invalid       // meant as JSON-RPC, but not valid: ignored, counted, and answered with an error
)

// message is a parsed line.
type message struct {
	kind   kind
	id     json.RawMessage // of a request or a response, as it was written; nil if there is none
	method string
	params json.RawMessage // nil if there are none
	err    *Error          // of a response, or why the line is invalid
}

// notification reports whether the message is a request without an id, which gets no answer.
func (m message) notification() bool { return m.kind == request && m.id == nil }

// parse parses a line without its line feed. A line that cannot be parsed is garbage or invalid.
func parse(line []byte) message {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return message{kind: blank}
	}
	meant := meantAsRPC(line)
	wrong := func(code int, text string) message {
		if !meant {
			return message{kind: garbage}
		}
		return message{kind: invalid, id: json.RawMessage("null"), err: &Error{Code: code, Message: text}}
	}
	switch {
	case line[0] != '{' && line[0] != '[':
		return message{kind: garbage}
	case !utf8.Valid(line):
		return wrong(CodeParse, "the line is not valid UTF-8")
	case plain.Deeper(line, plain.DepthMost):
		return wrong(CodeRequest, fmt.Sprintf("the line is nested more than %d deep", plain.DepthMost))
	case !json.Valid(line):
		return wrong(CodeParse, "the line is not JSON")
	case line[0] == '[':
		return wrong(CodeRequest, "batches are not read; write one object a line")
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(line, &object) != nil {
		return wrong(CodeParse, "the line is not JSON")
	}
	m := message{id: object["id"], params: object["params"]}
	version, versioned := object["jsonrpc"]
	method, called := object["method"]
	failed, refused := object["error"]
	_, answered := object["result"]
	meant = meant || called && m.id != nil
	var text string
	switch {
	case !called && !refused && !answered && !versioned:
		return message{kind: garbage} // it may be a line of a log
	case len(m.id) > maxID || !validID(m.id):
		return wrong(CodeRequest, "the id is not text, number or null of up to 1 KiB")
	case versioned && string(version) != `"2.0"`:
		return wrong(CodeRequest, `jsonrpc is not "2.0"`)
	case called && json.Unmarshal(method, &text) == nil && string(method) != "null":
		m.kind, m.method = request, text
		return m
	case called:
		return wrong(CodeRequest, "the method is not text")
	case refused && string(failed) != "null":
		m.kind, m.err = response, &Error{Message: "an error that does not say what it is"}
		var e struct {
			Code    json.Number `json:"code"`
			Message string      `json:"message"`
		}
		if json.Unmarshal(failed, &e) == nil && e.Message != "" {
			code, _ := e.Code.Int64() // a code that is not a whole number has no meaning
			m.err = &Error{Code: int(code), Message: e.Message}
		} else if json.Unmarshal(failed, &text) == nil && text != "" {
			m.err = &Error{Message: text}
		}
		return m
	case answered:
		m.kind = response
		return m
	}
	return wrong(CodeRequest, "it has neither a method nor a result")
}

// tooLong is a line that was meant as JSON-RPC and is too long.
var tooLong = message{kind: invalid, id: json.RawMessage("null"), err: &Error{Code: CodeRequest, Message: "the line is longer than 1 MiB"}}

// Complaint is the answer to a line that was meant as JSON-RPC and is not, without its line feed;
// nil for any other line. A line that is nil was too long.
func Complaint(line []byte) []byte {
	m := tooLong
	if line != nil {
		m = parse(line)
	}
	if m.kind != invalid {
		return nil
	}
	return bytes.TrimSpace(answerLine(m.id, nil, m.err))
}

// meantAsRPC reports whether a line that cannot be parsed was probably meant as JSON-RPC. Only such
// a line is answered.
func meantAsRPC(line []byte) bool { return bytes.Contains(line, []byte(`"jsonrpc"`)) }

// validID reports whether an id is missing, null, a text or a number.
func validID(id json.RawMessage) bool {
	return len(id) == 0 || id[0] != '{' && id[0] != '[' && id[0] != 't' && id[0] != 'f'
}

// answers reports whether a response belongs to the reminder that was sent with id. An empty id
// means that it was a notification.
func (m message) answers(id string) bool {
	none := len(m.id) == 0 || string(m.id) == "null"
	if id == "" {
		return none
	}
	var text string
	if none || json.Unmarshal(m.id, &text) != nil {
		return none && m.err != nil // it could not read the id of what was sent
	}
	return text == id
}

// mismatch describes a response that does not belong to the reminder that was sent with id.
func (m message) mismatch(id string) string {
	want, is := "null", string(m.id)
	if id != "" {
		want = strconv.Quote(id)
	}
	switch {
	case is == "" || is == "null":
		is = "no id"
	case len(is) > 80:
		is = "an id of " + strconv.Itoa(len(is)) + " bytes"
	default:
		is = "the id " + is
	}
	return "it answered with " + is + ", not " + want
}

// encode writes a message as a line.
func encode(v any) ([]byte, error) {
	text, err := plain.JSON(v)
	return append(text, '\n'), err
}

// fireLine returns the line that tells of a reminder: a request or, without an id, a notification.
func fireLine(r Reminder, id string) ([]byte, error) {
	return encode(struct {
		Version string   `json:"jsonrpc"`
		Method  string   `json:"method"`
		Params  Reminder `json:"params"`
		ID      string   `json:"id,omitempty"`
	}{"2.0", "reminder.fire", r, id})
}

// answerLine returns the line that answers a request.
func answerLine(id json.RawMessage, result any, failed *Error) []byte {
	type answer struct {
		Version string          `json:"jsonrpc"`
		Result  any             `json:"result,omitempty"`
		Error   *Error          `json:"error,omitempty"`
		ID      json.RawMessage `json:"id"`
	}
	a := answer{Version: "2.0", Result: result, Error: failed, ID: id}
	if failed == nil && result == nil {
		a.Result = struct{}{}
	}
	line, err := encode(a)
	if err != nil { // the result cannot be written as JSON
		line, _ = encode(answer{Version: "2.0", Error: &Error{Code: CodeInternal, Message: "the answer cannot be written"}, ID: id})
	}
	return line
}
