package mcp

import (
	"encoding/json"
	"math"
	"regexp"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// outerID finds the ID of a call at the beginning or at the end of its text.
var outerID = sync.OnceValue(func() *regexp.Regexp {
	const id = `"id"\s*:\s*(-?[0-9]{1,15}|"(?:[^"\\]|\\.){1,100}")`
	return regexp.MustCompile(`^\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*` + id + `|` + id + `\s*\}$`)
})

// callID finds the ID of a message that cannot be read, if possible, because the client waits for
// an answer to it. Otherwise it returns no ID.
func callID(text []byte) jsonrpc.ID {
	var whole struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(text, &whole) == nil {
		if n, ok := whole.ID.(float64); ok && (n != math.Trunc(n) || math.Abs(n) > idMost) {
			return jsonrpc.ID{} // the library would change the ID
		}
		id, _ := jsonrpc.MakeID(whole.ID) // an error means no ID
		return id
	}
	found := outerID().FindSubmatch(text)
	for _, part := range found[min(1, len(found)):] {
		var raw any
		if len(part) == 0 || json.Unmarshal(part, &raw) != nil {
			continue
		}
		if id, err := jsonrpc.MakeID(raw); err == nil {
			return id
		}
	}
	return jsonrpc.ID{}
}
