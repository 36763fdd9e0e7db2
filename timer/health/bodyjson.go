package health

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/health/jsonpath"
)

// JSONMatch demands that a path of RFC 9535 selects a value in a JSON body.
type JSONMatch struct {
	path   *jsonpath.Path
	text   string // the path as text
	plain  string // the value as it was written
	value  any    // the value as JSON, if isJSON
	isJSON bool
}

// ParseJSONMatch reads PATH=VALUE. The value is JSON, or a text without quotes: 3 is the number as
// well as the text "3". Every error is a *jsonpath.SyntaxError.
func ParseJSONMatch(text string) (JSONMatch, error) {
	path, shown, value, err := jsonpath.Split(text)
	if err != nil {
		return JSONMatch{}, err
	}
	m := JSONMatch{path: path, text: printable(shown), plain: value}
	m.isJSON = json.Unmarshal([]byte(value), &m.value) == nil
	return m, nil
}

// fits reports whether a node is the value.
func (m JSONMatch) fits(node any) bool {
	if text, ok := node.(string); ok && text == m.plain {
		return true
	}
	return m.isJSON && jsonpath.Equal(node, m.value)
}

// judgeJSON checks that a whole JSON body has all that is demanded. One matching node of a path is
// enough.
func judgeJSON(status int, body []byte, asked []JSONMatch) error {
	wrongly := func(c Cause) error {
		c.Number = status
		return &fault{Cause: c, answered: true, rank: wrong}
	}
	if len(body) > maxBody {
		return wrongly(Cause{Kind: LargeBody})
	}
	var doc any
	if err := json.Unmarshal(body, &doc); err != nil {
		return wrongly(Cause{Kind: NotJSON})
	}
	for _, m := range asked {
		nodes, err := m.path.Select(doc)
		found, others := "", 0
		switch {
		case errors.Is(err, jsonpath.ErrTooMuch):
			return wrongly(Cause{Kind: LargeBody, Subject: m.text})
		case len(nodes) > 0 && !slices.ContainsFunc(nodes, m.fits):
			text, _ := plain.JSON(nodes[0]) // it was decoded
			found, others = clipped(string(text)), len(nodes)-1
		case len(nodes) > 0:
			continue
		}
		return wrongly(Cause{Kind: NoJSONMatch, Subject: m.text, Other: found, Of: others})
	}
	return nil
}
