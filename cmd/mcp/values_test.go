package mcp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// tried is a tool with an argument of each kind.
func tried() *tool {
	t := &tool{name: "tried", example: `{"text": "..."}`, also: map[string]string{"payload": "text"}, meant: map[string]string{"recipient": `send "names"`},
		args: []arg{{name: "text"}, {name: "span", kind: Span}, {name: "whole", kind: Whole}, {name: "truth", kind: Truth}, {name: "texts", kind: Texts},
			{name: "names", kind: Names}, {name: "pairs", kind: Pairs}, {name: "max_seconds", kind: Span}},
		nearest: func(word string, names []string) string {
			for _, n := range names {
				if strings.HasPrefix(n, word[:min(2, len(word))]) {
					return n
				}
			}
			return ""
		},
	}
	t.learn(func(string) []Flag { return nil })
	return t
}

// TestRead takes what models send for what they mean.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want values
	}{
		{``, values{}},
		{`null`, values{}},
		{`"None"`, values{}},
		{`""`, values{}},
		{`{}`, values{}},
		{`{"text":"x"}`, values{"text": "x"}},
		{`"{\"text\":\"x\"}"`, values{"text": "x"}},
		{`"\"{\\\"text\\\":\\\"x\\\"}\""`, values{"text": "x"}},
		{`{"text":null,"span":"None","whole":"null","texts":[],"pairs":{},"names":"","truth":"undefined"}`, values{}},
		{`{"text":30}`, values{"text": "30"}},
		{`{"text":["x"]}`, values{"text": "x"}},
		{`{"payload":"x"}`, values{"text": "x"}},
		{`{"Payload":"x","maxSeconds":5}`, values{"text": "x", "max_seconds": "5s"}},
		{`{"--max-seconds":"5"}`, values{"max_seconds": "5s"}},
		{`{"span":"90"}`, values{"span": "90s"}},
		{`{"span":1.5}`, values{"span": "1.5s"}},
		{`{"span":"2h"}`, values{"span": "2h"}},
		{`{"whole":"3"}`, values{"whole": 3}},
		{`{"whole":3.0}`, values{"whole": 3}},
		{`{"truth":"True"}`, values{"truth": true}},
		{`{"truth":"no"}`, values{"truth": false}},
		{`{"truth":1}`, values{"truth": true}},
		{`{"texts":"a b"}`, values{"texts": []string{"a b"}}},
		{`{"texts":"[\"a\",1]"}`, values{"texts": []string{"a", "1"}}},
		{`{"texts":["a",2]}`, values{"texts": []string{"a", "2"}}},
		{`{"names":"a, b c"}`, values{"names": []string{"a", "b", "c"}}},
		{`{"names":["a,b"]}`, values{"names": []string{"a", "b"}}},
		{`{"pairs":{"B":2,"A":"x=y"}}`, values{"pairs": []string{"A=x=y", "B=2"}}},
		{`{"pairs":"{\"A\":\"1\"}"}`, values{"pairs": []string{"A=1"}}},
		{`{"pairs":["A=1"]}`, values{"pairs": []string{"A=1"}}},
		{`{"strange":null}`, values{}},
	} {
		got, err := tried().read(json.RawMessage(c.raw))
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s is read as %#v, %v", c.raw, got, err)
		}
	}
}

// TestReadRefuses says of what it does not take what to send instead.
func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ raw, message, hint string }{
		{`[1]`, "a list, not an object", `{"text": "..."}`},
		{`"tomorrow"`, `the text "tomorrow", not an object`, `{"text"`},
		{`5`, "the number 5, not an object", ""},
		{`{"text":{"a":1}}`, `"text" is an object, and takes a text`, `"text": "..."`},
		{`{"text":true}`, `"text" is true, and takes a text`, ""},
		{`{"whole":"three"}`, `"whole" is the text "three", and takes a whole number`, `"whole": 5`},
		{`{"whole":1e30}`, "takes a whole number", ""},
		{`{"truth":"perhaps"}`, "takes true or false", ""},
		{`{"texts":{"a":1}}`, "takes a list of texts", ""},
		{`{"texts":[{}]}`, `in "texts" there is an object`, ""},
		{`{"pairs":{"A":[]}}`, "takes an object of texts", `{"NAME": "VALUE"}`},
		{`{"tex":"x"}`, `tried has no argument "tex"`, `did you mean "text"?`},
		{`{"strange":0}`, `no argument "strange"`, "tried takes text, span"},
		{`{"text":"a","text":"b"}`, `"text" is there twice`, ""},
		{`{"text":["a","b"]}`, `"text" is a list, and takes a text`, ""},
		{`{"payload":["a","b"]}`, `tried has no argument "payload"`, `did you mean "text"? It takes a text`},
		{`{"recipient":"a"}`, `tried has no argument "recipient"`, `send "names"; tried takes text`},
		{`{"text":"a","payload":"b"}`, `"text" and "payload" are the same`, ""},
	} {
		_, err := tried().read(json.RawMessage(c.raw))
		no, ok := err.(*refusal)
		if !ok || !strings.Contains(no.message, c.message) || !strings.Contains(no.hint, c.hint) {
			t.Errorf("%s: %#v", c.raw, err)
		}
	}
}

// FuzzRead reads any arguments without breaking, and every value of a kind as that kind has it.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"text":"x","whole":"3","pairs":{"A":1}}`, `"{\"texts\":\"[1]\"}"`, `[]`, `{"a`, `{"span":"","truth":0}`} {
		f.Add([]byte(seed))
	}
	kinds := map[Kind]reflect.Kind{Text: reflect.String, Span: reflect.String, Whole: reflect.Int, Truth: reflect.Bool,
		Texts: reflect.Slice, Names: reflect.Slice, Pairs: reflect.Slice}
	f.Fuzz(func(t *testing.T, raw []byte) {
		tool := tried()
		v, err := tool.read(raw)
		if err != nil {
			if no, ok := err.(*refusal); !ok || no.message == "" {
				t.Errorf("%q: %v", raw, err)
			}
			return
		}
		for name, x := range v {
			if kind := reflect.TypeOf(x).Kind(); kind != kinds[tool.kinds[name]] {
				t.Errorf("%q: %s is %#v", raw, name, x)
			}
		}
		if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) || !utf8.Valid(raw) || deeper(raw, depthMost) {
			return
		}
		if again, err := tool.read(json.RawMessage(plain(string(raw)))); err != nil || !reflect.DeepEqual(again, v) {
			t.Errorf("%q is read as %v, and as a text as %v, %v", raw, v, again, err)
		}
	})
}
