package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// rows are lines, and what they are.
var rows = []struct {
	line string
	kind kind
	id   string
	code int // of an invalid line or of a response that is an error
}{
	{"", blank, "", 0},
	{" \t\r", blank, "", 0},
	{"hello", garbage, "", 0},
	{"42", garbage, "", 0},
	{`"text"`, garbage, "", 0},
	{"null", garbage, "", 0},
	{`{"level":"info"}`, garbage, "", 0},
	{`{}`, garbage, "", 0},
	{`{broken`, garbage, "", 0},
	{`{'a': 1}`, garbage, "", 0},
	{`["log",1]`, garbage, "", 0},
	{`[]`, garbage, "", 0},
	{`{"log":"got {\"jsonrpc\":\"2.0\"}"}`, garbage, "", 0},
	{`{"method":7}`, garbage, "", 0},
	{`{"jsonrpc":"2.0","method":`, invalid, "null", CodeParse},
	{"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}", invalid, "null", CodeParse},
	{`[{"jsonrpc":"2.0","id":1,"method":"x"}]`, invalid, "null", CodeRequest},
	{`{"jsonrpc":"2.0"}`, invalid, "null", CodeRequest},
	{`{"jsonrpc":"1.0","id":1,"method":"x"}`, invalid, "null", CodeRequest},
	{`{"id":1,"method":7}`, invalid, "null", CodeRequest},
	{`{"id":1,"method":null}`, invalid, "null", CodeRequest},
	{`{"id":{"a":1},"method":"x"}`, invalid, "null", CodeRequest},
	{`{"id":true,"method":"x"}`, invalid, "null", CodeRequest},
	{`{"id":"` + strings.Repeat("x", maxID) + `","method":"x"}`, invalid, "null", CodeRequest},
	{`{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat("[", plain.DepthMost) + strings.Repeat("]", plain.DepthMost) + `}`, invalid, "null", CodeRequest},
	{`{"id":1,"method":"x","params":"` + strings.Repeat("[", 2*plain.DepthMost) + `"}`, request, "1", 0},
	{`{"id":1,"method":"x"}`, request, "1", 0},
	{`{"jsonrpc":"2.0","method":"x"}`, request, "", 0},
	{`{"jsonrpc":"2.0","id":null,"method":"x"}`, request, "null", 0},
	{`{"jsonrpc":"2.0","result":"ok","id":null}`, response, "null", 0},
	{`{"result":"ok"}`, response, "", 0},
	{`{"result":"ok","error":null,"id":"a"}`, response, `"a"`, 0},
	{`{"error":{"code":-3,"message":"m"},"id":"a"}`, response, `"a"`, -3},
	{`{"error":"m","id":"a"}`, response, `"a"`, 0},
	{`{"error":7,"id":"a"}`, response, `"a"`, 0},
}

func TestParse(t *testing.T) {
	for _, c := range rows {
		m := parse([]byte(c.line))
		code := 0
		if m.err != nil {
			code = m.err.Code
		}
		if m.kind != c.kind || string(m.id) != c.id || code != c.code {
			t.Errorf("%.80s: kind %d, id %s, code %d", c.line, m.kind, m.id, code)
		}
		if bad := strings.Contains(c.line, `"error":`) && !strings.Contains(c.line, `"error":null`); bad && (m.err == nil || m.err.Message == "") {
			t.Errorf("%s: no error", c.line)
		}
	}
}

// FuzzParse: whatever stands in a line, it is read as one of the kinds, and what can be answered has an answer of one line that a
// client can read, with its id as it was.
func FuzzParse(f *testing.F) {
	for _, c := range rows {
		f.Add([]byte(c.line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m := parse(line)
		switch m.kind {
		case request:
			if m.notification() != (m.id == nil) {
				t.Error("a request with an id is silent, or one without is not")
			}
		case invalid:
			if m.err == nil || string(m.id) != "null" {
				t.Errorf("invalid, with the id %s and %v", m.id, m.err)
			}
		case response:
			for _, id := range []string{"", "a/1.1"} {
				m.answers(id)
			}
			return
		default:
			return
		}
		if m.notification() {
			return
		}
		answer := answerLine(m.id, nil, m.err)
		var back struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		if bytes.Count(answer, []byte("\n")) != 1 || json.Unmarshal(answer, &back) != nil || back.Version != "2.0" {
			t.Fatalf("answered %q", answer)
		}
		var was, is any
		if json.Unmarshal(m.id, &was) != nil || json.Unmarshal(back.ID, &is) != nil || was != is {
			t.Errorf("the id %s is answered as %s", m.id, back.ID)
		}
	})
}

// FuzzLines: a stream is taken apart into its lines, none of them longer than is allowed.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nlast"), 3)
	f.Add(bytes.Repeat([]byte("x"), 1000), 5000)
	f.Fuzz(func(t *testing.T, data []byte, times int) {
		data = bytes.Repeat(data, min(max(times, 1), 3000))
		if len(data) > 4*maxLine {
			return
		}
		from := NewLines(bytes.NewReader(data))
		for n, want := range bytes.Split(data, []byte("\n")) {
			if n > 0 && len(want) == 0 && n == bytes.Count(data, []byte("\n")) {
				break // behind the last line feed
			}
			line, long, err := from.Next()
			if len(data) == 0 {
				return
			}
			if err != nil || long != (len(want) > maxLine) && len(want) != maxLine || !bytes.HasPrefix(want, line) || !long && len(line) != len(want) {
				t.Fatalf("line %d of %d bytes: %d bytes, long %v, %v", n, len(want), len(line), long, err)
			}
		}
		if _, _, err := from.Next(); err == nil {
			t.Error("there is more than there was")
		}
	})
}
