package jsonpath

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestCompliance holds the package against the JSONPath Compliance Test Suite, where OURO_TEST_JSONPATH names its cts.json.
func TestCompliance(t *testing.T) {
	path := os.Getenv("OURO_TEST_JSONPATH")
	if path == "" {
		t.Skip("OURO_TEST_JSONPATH names no cts.json of github.com/jsonpath-standard/jsonpath-compliance-test-suite")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests []struct {
			Name, Selector string
			Document       any
			Result         []any
			Results        [][]any
			Invalid        bool `json:"invalid_selector"`
		}
	}
	if err := json.Unmarshal(text, &suite); err != nil || len(suite.Tests) < 500 {
		t.Fatal(len(suite.Tests), err)
	}
	for _, test := range suite.Tests {
		p, err := Parse(test.Selector)
		if test.Invalid != (err != nil) {
			t.Errorf("%s: Parse(%q): %v", test.Name, test.Selector, err)
		}
		if err != nil {
			continue
		}
		got, err := p.Select(test.Document)
		same := func(want []any) bool { return slices.EqualFunc(got, want, Equal) }
		if err != nil || !same(test.Result) && !slices.ContainsFunc(test.Results, same) {
			t.Errorf("%s: %q selects %v, %v; want %v %v", test.Name, test.Selector, got, err, test.Result, test.Results)
		}
	}
	t.Logf("%d tests", len(suite.Tests))
}

func TestSelect(t *testing.T) {
	const doc = `{"status":"up","n":3,"list":[1,2,3],"parts":[{"name":"db","ok":true},{"name":"mq","ok":false,"text":"a\nb"}],"a b":{"=":null}}`
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		`$`:                         doc,
		`$.status`:                  `"up"`,
		`$.none`:                    ``,
		`$.list[-1]`:                `3`,
		`$.list[::-2]`:              `3 1`,
		`$.list[1:]`:                `2 3`,
		`$.list[9:1:-9000000000]`:   `3`,
		`$..ok`:                     `true false`,
		`$.parts[?@.name=="mq"].ok`: `false`,
		`$.parts[?@.ok==true && @.name!='x'].name`:         `"db"`,
		`$.parts[?!(@.ok==true || @.none)].name`:           `"mq"`,
		`$.parts[?length(@.name)==2 && count(@.*)>2].name`: `"mq"`,
		`$.parts[?match(@.name, 'd.')].name`:               `"db"`,
		`$.parts[?search(@.text, 'a.b')].name`:             ``,
		`$["a b"]['=']`:                                    `null`,
		`$[?value(@..name)=="x"]`:                          ``,
		`$ .list [ 0 , 2 ]`:                                `1 3`,
	} {
		p, err := Parse(query)
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		nodes, err := p.Select(v)
		if err != nil {
			t.Errorf("%s: %v", query, err)
		}
		var got []string
		for _, n := range nodes {
			b, _ := json.Marshal(n)
			got = append(got, string(b))
		}
		if query == "$" {
			if len(nodes) != 1 || !Equal(nodes[0], v) {
				t.Errorf("$ selects %v", nodes)
			}
		} else if strings.Join(got, " ") != want {
			t.Errorf("%s selects %s, want %s", query, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for query, want := range map[string]string{
		``: "a path begins with $ at character 1", `status`: "a path begins with $ at character 1", `$.`: "expected a name or * at character 3", `$status`: "expected . or [ at character 2",
		`$.a `: "expected . or [ at character 4", `$[a]`: "expected a name in quotes", `$[01]`: "no index: 01 at character 3", `$[-0]`: "no index: -0",
		`$['a]`: "a text has no end", `$['\x']`: "no escape", `$["\ud800"]`: "half of a surrogate pair", `$[?1]`: "a value alone is not a test", `$[?@.a==]`: "expected a value",
		`$[?@.*==1]`: "what is compared must be a single value", `$[?nosuch(@)]`: `no function "nosuch"`, `$[?count(1)==1]`: "count wants a query", `$[?length(@.a)]`: "a value alone is not a test",
		`$[?match(@.a,'b')==true]`: "what is compared must be a single value", "$\xff": "is not UTF-8", `$` + strings.Repeat(`[?@`, 200): "nests too deep",
		`$[?@.a==01]`: "no number", `$[9007199254740992]`: "no index",
	} {
		_, err := Parse(query)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", query, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for text, want := range map[string][2]string{
		`$.status=up`:          {`$.status`, `up`},
		`$.a==b`:               {`$.a`, `=b`},
		`$.a=`:                 {`$.a`, ``},
		`$[?@.a==1].b=x=y`:     {`$[?@.a==1].b`, `x=y`},
		`$["a=b"]="c"`:         {`$["a=b"]`, `"c"`},
		`$[?@.a=='=']['=']===`: {`$[?@.a=='=']['=']`, `==`},
	} {
		if _, path, value, err := Split(text); err != nil || path != want[0] || value != want[1] {
			t.Errorf("Split(%q) = %q, %q, %v", text, path, value, err)
		}
	}
	for _, text := range []string{"", "$.a", "status=up", "$.=x", "="} {
		if _, _, _, err := Split(text); err == nil {
			t.Errorf("Split(%q) is taken", text)
		}
	}
}

// TestTooMuch has a query that visits the nodes of a document again and again.
func TestTooMuch(t *testing.T) {
	var doc any = 1.0
	for range 300 {
		doc = []any{doc, doc}[:1]
	}
	p, err := Parse("$" + strings.Repeat("..*", 20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Select(doc); err != ErrTooMuch {
		t.Error(err)
	}
}

// FuzzSelect holds that a text is refused or selects, and that it does not matter which.
func FuzzSelect(f *testing.F) {
	f.Add(`$..a[?@.b=="c" && count($.*)>1, 1:2:3, -1, 'x']`, `{"a":[{"b":"c"},2]}`)
	f.Add(`$[?match(@, "a.b") || !(@.a<=1.5e3)]["é"].*`, `["axb"]`)
	f.Fuzz(func(t *testing.T, query, doc string) {
		p, err := Parse(query)
		if err != nil {
			return
		}
		var v any
		if json.Unmarshal([]byte(doc), &v) != nil {
			return
		}
		if _, err := p.Select(v); err != nil && err != ErrTooMuch {
			t.Error(err)
		}
	})
}
