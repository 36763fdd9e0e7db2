package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// wellFormed refuses texts that are not JSON, and JSON that is nested too deeply.
func wellFormed(text []byte) error {
	switch {
	case !utf8.Valid(text):
		return errors.New("the message is not valid UTF-8")
	case plain.Deeper(text, plain.DepthMost):
		return fmt.Errorf("the message is nested deeper than %d levels", plain.DepthMost)
	case !json.Valid(text):
		return errors.New("the message is not JSON: one object on one line is expected")
	}
	return nil
}

// whatIsWrong returns what is wrong with a message that is JSON; empty when nothing is. The library
// would say it in terms of Go, and would read the ID 1.5 as 1.
func whatIsWrong(text []byte) string {
	var m map[string]json.RawMessage
	if json.Unmarshal(text, &m) != nil {
		return "it is not an object"
	}
	if version, _ := option.Decode(m["jsonrpc"]).(string); version != "2.0" {
		return `send "jsonrpc": "2.0"`
	}
	id, named := m["id"]
	if named && !isID(id) {
		return "the id is neither a text nor a whole number below 2^53"
	}
	if method, there := m["method"]; there {
		switch _, ok := option.Decode(method).(string); {
		case !ok:
			return "the method is not text"
		case named && option.Decode(id) == nil:
			return "the id of a call is null"
		}
		return ""
	}
	if m["result"] == nil && m["error"] == nil {
		return "it is neither a call nor an answer"
	}
	return ""
}

// idMost is the largest whole number of JSON that many programs and the library tell from the next.
const idMost = 1<<53 - 1

// isID reports whether a value can be the ID of a call and be sent back unchanged.
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

// plainError rewrites an error of the library for clients, with a code of the protocol and without
// terms of Go.
func plainError(call *openCall, err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); call != nil && (strings.Contains(text, "unmarshal") || strings.Contains(text, `missing required "params"`)) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the params of " + call.method +
			" are not what the protocol has for it"}
	}
	if known, ok := errors.AsType[*jsonrpc.Error](err); !ok || known.Code == 0 {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	return err
}
