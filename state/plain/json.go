package plain

import (
	"bytes"
	"encoding/json"
)

// JSON is a value as JSON on one line, without the escapes that only JSON inside HTML needs.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// DepthMost is how deep arrays and objects may be nested in the JSON of a message.
const DepthMost = 64

// Deeper reports whether arrays and objects of JSON are nested deeper than most.
func Deeper(text []byte, most int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
