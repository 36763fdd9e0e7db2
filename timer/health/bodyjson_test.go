package health

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func TestBodyJSON(t *testing.T) {
	const up = `{"status":"up","n":3,"ok":true,"none":null,"text":"3","parts":[{"name":"db","ok":true},{"name":"mq","ok":false}],"o":{"b":1,"a":[]}}`
	for _, test := range []struct{ body, asked, want string }{
		{up, `$.status=up`, ""},
		{up, `$.status="up"`, ""},
		{up, `$.status=down`, `HTTP 200, but $.status is "up"`},
		{up, `$.state=up`, `HTTP 200, but $.state is not there`},
		{up, `$.n=3`, ""},
		{up, `$.n=3.0`, ""},
		{up, `$.n="3"`, `HTTP 200, but $.n is 3`},
		{up, `$.text=3`, ""},
		{up, `$.text="3"`, ""},
		{up, `$.ok=true`, ""},
		{up, `$.none=null`, ""},
		{up, `$.o={"a":[],"b":1}`, ""},
		{up, `$.parts[*].ok=false`, ""},
		{up, `$.parts[*].ok=1`, `HTTP 200, but $.parts[*].ok is true, and 1 more`},
		{up, `$.parts[?@.name=="mq"].ok=true`, `HTTP 200, but $.parts[?@.name=="mq"].ok is false`},
		{up, `$.status=`, `HTTP 200, but $.status is "up"`},
		{`{"a":"\u001b[2J` + strings.Repeat("x", 500) + `"}`, `$.a=b`, `HTTP 200, but $.a is "\u001b[2J` + strings.Repeat("x", 49) + "…"},
		{`up`, `$=up`, `HTTP 200, but the body is not JSON`},
		{``, `$=up`, `HTTP 200, but the body is not JSON`},
		{up + up, `$.ok=true`, `HTTP 200, but the body is not JSON`},
		{`"` + strings.Repeat("x", maxBody) + `"`, `$=x`, `HTTP 200, but the body is larger than 1 MiB`},
		{strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "$" + strings.Repeat("..*", 9) + "=1", "HTTP 200, but the body is too large for $..*..*..*..*..*..*..*..*..*"},
	} {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(test.body)) }))
		m, err := ParseJSONMatch(test.asked)
		if err != nil {
			t.Fatal(err)
		}
		if got := once(t, Options{HTTP: HTTP{JSON: []JSONMatch{m}}}, web.URL).Last.String(); got != test.want {
			t.Errorf("%s: %q, want %q", test.asked, got, test.want)
		}
		if got := once(t, Options{HTTP: HTTP{JSON: []JSONMatch{m}, Body: regexp.MustCompile("nothing of the sort")}}, web.URL).Last; test.want == "" && got.Kind != NoMatch {
			t.Errorf("%s and an expression: %q", test.asked, got)
		}
		web.Close()
	}
}
