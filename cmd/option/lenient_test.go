package option

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// tried takes an argument of each kind.
func tried() Lenient {
	return Lenient{Name: "tried", Example: `{"text": "..."}`, OtherKeys: map[string]string{"payload": "text"}, Instead: map[string]string{"recipient": `send "names"`},
		Rows: Rows{{Name: "text", Kind: Text}, {Name: "span", Kind: Duration}, {Name: "whole", Kind: Whole}, {Name: "truth", Kind: Flag},
			{Name: "texts", Kind: Text, Many: true}, {Name: "names", Kind: ID, Many: true}, {Name: "pairs", Kind: Name, Many: true, Pairs: true},
			{Name: "max", Key: "max_seconds", Kind: Duration}, {Name: "bare", Kind: Duration, Bare: true}, {Name: "time", Kind: Time}, {Name: "prefix", Kind: Text, OrEmpty: true}},
		Shown: []string{"text", "span"}}
}

// TestRead takes what models send for what they mean.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		raw  string
		want map[string]any
	}{
		{``, map[string]any{}},
		{`null`, map[string]any{}},
		{`"None"`, map[string]any{}},
		{`""`, map[string]any{}},
		{`{}`, map[string]any{}},
		{`{"text":"x"}`, map[string]any{"text": "x"}},
		{`"{\"text\":\"x\"}"`, map[string]any{"text": "x"}},
		{`"\"{\\\"text\\\":\\\"x\\\"}\""`, map[string]any{"text": "x"}},
		{`{"text":null,"span":"None","whole":"null","texts":[],"pairs":{},"names":"","truth":"undefined"}`, map[string]any{}},
		{`{"prefix":""}`, map[string]any{"prefix": ""}},
		{`{"prefix":null}`, map[string]any{}},
		{`{"text":30}`, map[string]any{"text": "30"}},
		{`{"text":["x"]}`, map[string]any{"text": "x"}},
		{`{"payload":"x"}`, map[string]any{"text": "x"}},
		{`{"Payload":"x","maxSeconds":5}`, map[string]any{"text": "x", "max": "5s"}},
		{`{"--max-seconds":"5"}`, map[string]any{"max": "5s"}},
		{`{"span":"90"}`, map[string]any{"span": "90s"}},
		{`{"span":1.5}`, map[string]any{"span": "1.5s"}},
		{`{"span":"2h"}`, map[string]any{"span": "2h"}},
		{`{"whole":"3"}`, map[string]any{"whole": 3}},
		{`{"whole":3.0}`, map[string]any{"whole": 3}},
		{`{"truth":"True"}`, map[string]any{"truth": true}},
		{`{"truth":"no"}`, map[string]any{"truth": false}},
		{`{"truth":1}`, map[string]any{"truth": true}},
		{`{"texts":"a b"}`, map[string]any{"texts": []string{"a b"}}},
		{`{"texts":"[\"a\",1]"}`, map[string]any{"texts": []string{"a", "1"}}},
		{`{"texts":["a",2]}`, map[string]any{"texts": []string{"a", "2"}}},
		{`{"names":"a, b c"}`, map[string]any{"names": []string{"a", "b", "c"}}},
		{`{"names":["a,b"]}`, map[string]any{"names": []string{"a", "b"}}},
		{`{"pairs":{"B":2,"A":"x=y"}}`, map[string]any{"pairs": []string{"A=x=y", "B=2"}}},
		{`{"pairs":"{\"A\":\"1\"}"}`, map[string]any{"pairs": []string{"A=1"}}},
		{`{"pairs":["A=1"]}`, map[string]any{"pairs": []string{"A=1"}}},
		{`{"strange":null}`, map[string]any{}},
		{`{"bare":"yes"}`, map[string]any{"bare": ""}},
		{`{"bare":false}`, map[string]any{}},
		{`{"bare":"2m"}`, map[string]any{"bare": "2m"}},
		{`{"time":"1800"}`, map[string]any{"time": "1800"}},
	} {
		v, err := tried().Read(json.RawMessage(c.raw))
		got := v.given
		if got == nil {
			got = map[string]any{}
		}
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
		{`{"whole":1e30}`, "the number 1e30, which is too large", `"whole": 5`},
		{`{"truth":"perhaps"}`, "takes true or false", ""},
		{`{"texts":{"a":1}}`, "takes a list of texts", ""},
		{`{"texts":[{}]}`, `in "texts" there is an object`, ""},
		{`{"pairs":{"A":[]}}`, `"A" in "pairs" is a list, and takes a text`, `{"NAME": "VALUE"}`},
		{`{"pairs":{"A":true}}`, `"A" in "pairs" is true, and takes a text`, `{"NAME": "VALUE"}`},
		{`{"pairs":true}`, `"pairs" is true, and takes an object of texts`, `{"NAME": "VALUE"}`},
		{`{"names":[""]}`, `"names" has no ID`, "leave it out"},
		{`{"names":" , "}`, `"names" has no ID`, "leave it out"},
		{`{"tex":"x"}`, `tried has no argument "tex"`, `did you mean "text"?`},
		{`{"strange":0}`, `no argument "strange"`, "tried takes text, span"},
		{`{"text":"a","text":"b"}`, `"text" is there twice`, ""},
		{`{"text":["a","b"]}`, `"text" is a list, and takes a text`, ""},
		{`{"payload":["a","b"]}`, `tried has no argument "payload"`, `did you mean "text"? It takes a text`},
		{`{"recipient":"a"}`, `tried has no argument "recipient"`, `send "names"; tried takes text`},
		{`{"whole":99999999999}`, `"whole" is the number 99999999999, which is too large`, `"whole": 5`},
		{`{"bare":[1,2]}`, `"bare" is a list`, `"bare": true`},
		{`{"time":1800}`, "a time needs a unit", `"1800s"`},
		{`{"text":"a","payload":"b"}`, `"text" and "payload" are the same`, ""},
	} {
		_, err := tried().Read(json.RawMessage(c.raw))
		p, ok := err.(*problem.Problem)
		if !ok || !strings.Contains(p.Message.String(), c.message) || !strings.Contains(p.Hint.String(), c.hint) {
			t.Errorf("%s: %#v", c.raw, err)
		}
	}
}

// FuzzRead reads any arguments without breaking, and every value of a kind as that kind has it.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"text":"x","whole":"3","pairs":{"A":1}}`, `"{\"texts\":\"[1]\"}"`, `[]`, `{"a`, `{"span":"","truth":0}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		l := tried()
		v, err := l.Read(raw)
		if err != nil {
			if p, ok := err.(*problem.Problem); !ok || p.Message.Empty() {
				t.Errorf("%q: %v", raw, err)
			}
			return
		}
		for name, x := range v.given {
			o := l.Rows.Named(name)
			want := reflect.String
			switch {
			case o.Many:
				want = reflect.Slice
			case o.Kind == Whole:
				want = reflect.Int
			case o.Kind == Flag:
				want = reflect.Bool
			}
			if kind := reflect.TypeOf(x).Kind(); kind != want && !(o.Bare && kind == reflect.Bool) {
				t.Errorf("%q: %s is %#v", raw, name, x)
			}
		}
		if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) || !utf8.Valid(raw) || plain.Deeper(raw, plain.DepthMost) {
			return
		}
		if again, err := l.Read(json.RawMessage(JSON(string(raw)))); err != nil || !reflect.DeepEqual(again, v) {
			t.Errorf("%q is read as %v, and as a text as %v, %v", raw, v, again, err)
		}
	})
}
