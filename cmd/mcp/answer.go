package mcp

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/ouro-timer/ouro-timer/cmd/option"
)

// withFields returns a JSON object with more fields at its end. Everything else stays as it is.
func withFields(answer []byte, more map[string]any) ([]byte, error) {
	text := bytes.TrimSpace(answer)
	if !json.Valid(text) || text[0] != '{' {
		return nil, errors.New("the answer is not an object of JSON")
	}
	for name, v := range more {
		comma := ","
		if len(text) == len("{}") {
			comma = ""
		}
		text = append(text[:len(text)-1:len(text)-1], comma+option.JSON(name)+":"+option.JSON(v)+"}"...)
	}
	return text, nil
}
