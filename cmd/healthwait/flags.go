package healthwait

import (
	"bufio"
	"context"
	"crypto/x509"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// leastInterval is the least --interval.
const leastInterval = 10 * time.Millisecond

func flags() option.Rows {
	return option.Rows{
		option.Option{Name: "timeout", Kind: option.Duration, Group: "How long",
			Default: cli.SpanText(usualTimeout), Help: "give up after DURATION; 0 is never"},
		option.Option{Name: "until", Kind: option.Instant, Group: "How long",
			Help: "give up at INSTANT instead: 2026-12-24T18:00:00+01:00, 10pm"},
		option.Option{Name: "max", Kind: option.Duration, Group: "How long", Env: "OURO_MAX",
			Help: "block for at most DURATION, then exit with code 75 and the command that continues (default: OURO_MAX)"},
		option.Option{Name: "interval", Kind: option.Duration, Group: "What is healthy",
			Default: cli.SpanText(health.DefaultInterval), Help: "the longest pause between attempts, DURATION"},
		option.Option{Name: "attempt-timeout", Kind: option.Duration, Group: "What is healthy",
			Default: cli.SpanText(health.DefaultAttempt), Help: "an attempt fails after DURATION"},
		option.Option{Name: "all", Kind: option.Flag, Group: "What is healthy",
			Help: "wait until all targets are healthy (the default)"},
		option.Option{Name: "any", Kind: option.Flag, Group: "What is healthy", Help: "one healthy target is enough"},
		option.Option{Name: "invert", Kind: option.Flag, Group: "What is healthy",
			Help: "wait until the targets are not there: port free, file or process gone"},
		option.Option{Name: "successes", Kind: option.Whole, Group: "What is healthy", Default: "1",
			Help: "healthy is who answers well N times in a row"},
		option.Option{Name: "stable", Kind: option.Duration, Group: "What is healthy",
			Help: "healthy is who answers well for DURATION without a break"},
		option.Option{Name: "keep-trying", Kind: option.Flag, Group: "What is healthy",
			Help: "also wait out faults that waiting does not mend as a rule"},
		option.Option{Name: "status", Kind: option.List, Group: "http and TLS", Default: "2xx",
			Help: "http: the answers to accept, LIST: 200-299,401 or 2xx"},
		option.Option{Name: "header", Kind: option.Text, Group: "http and TLS", Value: "LINE", Many: true,
			Help: "http: send LINE, such as 'Accept: text/html'; may be given again. ps shows it to everybody on the " +
				"machine: @FILE reads the lines from a file, for secrets"},
		option.Option{Name: "body", Kind: option.Regex, Group: "http and TLS",
			Help: "http: the body must match REGEX (its first MiB is looked at)"},
		option.Option{Name: "body-json", Kind: option.Text, Group: "http and TLS", Value: "PATH=VALUE",
			Many: true,
			Help: "http: the JSON of the body must have VALUE at PATH (JSONPath), as '$.status=up'; may be given again"},
		option.Option{Name: "method", Kind: option.Name, Group: "http and TLS", Value: "METHOD", Default: "GET",
			Help: "http: send METHOD"},
		option.Option{Name: "insecure", Kind: option.Flag, Group: "http and TLS",
			Help: "with TLS: accept any certificate"},
		option.Option{Name: "ca", Kind: option.File, Group: "http and TLS",
			Help: "with TLS: trust the certificates in FILE (PEM) instead of the system's"},
		option.Option{Name: "min-days", Kind: option.Whole, Group: "http and TLS",
			Help: "with TLS: the certificate must be valid for N more days"},
		option.Option{Name: "non-empty", Kind: option.Flag, Group: "Files", Help: "file: it must not be empty"},
		option.Option{Name: "newer-than", Kind: option.File, Group: "Files",
			Help: "file: changed after FILE was, since an instant (2026-12-24T18:00:00Z), within a duration (10m), " +
				"or since the wait began (now)"},
		option.Option{Name: "stream", Kind: option.Flag, OfCall: true,
			Help: "with --json and a command: answer first, and pass on what it writes, instead of answering with it"},
		cli.DryFlag(), cli.QuietFlag("print nothing but errors"), cli.ZoneFlag(), cli.JSONFlag(), cli.FieldsFlag(),
	}
}

// uses says for which schemes an option is. Options about certificates are not for http alone,
// although it may redirect to https, because without a redirect no certificate would be checked.
var uses = []struct {
	flag    string
	schemes []string // nil means the schemes with a certificate
	example string
}{
	{"status", []string{"http", "https"}, "http://localhost:8080/health"},
	{"header", []string{"http", "https"}, "http://localhost:8080/health"},
	{"body", []string{"http", "https"}, "http://localhost:8080/health"},
	{"body-json", []string{"http", "https"}, "http://localhost:8080/health"},
	{"method", []string{"http", "https"}, "http://localhost:8080/health"},
	{"insecure", nil, "https://localhost:8443/"},
	{"ca", nil, "https://localhost:8443/"},
	{"min-days", nil, "tls://example.org:443"},
	{"non-empty", []string{"file"}, "file:build.log"},
	{"newer-than", []string{"file"}, "file:build.log"},
}

// either writes schemes for a sentence.
func either(schemes []string) string {
	last := len(schemes) - 1
	if last == 0 {
		return schemes[0]
	}
	return strings.Join(schemes[:last], ", ") + " and " + schemes[last]
}

// reader reads the options of a call about its targets.
type reader struct {
	ctx   context.Context
	s     *cli.Call
	b     *bounds
	asked *health.Options
}

// bounds reads how long to wait.
func (r reader) bounds() error { return r.b.read(r.s) }

// rhythm reads how often to try, and how many successes are needed.
func (r reader) rhythm() (err error) {
	if r.asked.Interval, err = span(r.s.Opt, "interval", health.DefaultInterval); err != nil {
		return err
	}
	if r.asked.Interval < leastInterval {
		return problem.Of(problem.T("%s must be 10ms or more", problem.Option("interval")),
			problem.T("leave it out for 2s"))
	}
	if r.asked.Attempt, err = span(r.s.Opt, "attempt-timeout", health.DefaultAttempt); err != nil {
		return err
	}
	if r.asked.Attempt <= 0 {
		return problem.Of(problem.T("%s must be more than 0", problem.Option("attempt-timeout")),
			problem.T("leave it out for 5s; %s bounds the whole", problem.Option("timeout")))
	}
	if r.asked.Successes = r.s.Opt.Int("successes"); r.s.Opt.Has("successes") && r.asked.Successes < 1 {
		return problem.Of(problem.T("%s must be 1 or more", problem.Option("successes")),
			problem.T("leave it out for 1"))
	}
	if r.asked.Stable, err = span(r.s.Opt, "stable", 0); err != nil {
		return err
	}
	for _, bound := range []struct {
		name problem.Option
		span time.Duration
		hint string
	}{
		{"timeout", r.b.timeout, "give a longer %s, or a shorter %s"},
		{"max", r.b.most, "it begins anew in each call: give a longer %s, or a shorter %s"},
	} {
		if bound.span > 0 && r.asked.Stable >= bound.span {
			return problem.Of(problem.T("%s %s has no room in %s %s", problem.Option("stable"),
				lasted(r.asked.Stable), bound.name, lasted(bound.span)),
				problem.T(bound.hint, bound.name, problem.Option("stable")))
		}
	}
	// With --max this may be the last of several calls, and the first had room before the deadline.
	// The same is true of a deadline that has passed.
	if left := r.b.due.Sub(r.b.begun); r.b.until && r.b.most == 0 && left > 0 && r.asked.Stable >= left {
		return problem.Of(problem.T("%s %s has no room before %s, which is in %s", problem.Option("stable"),
			lasted(r.asked.Stable), problem.Option("until"), lasted(left)),
			problem.T("give a later %s, or a shorter %s", problem.Option("until"), problem.Option("stable")))
	}
	return nil
}

// web reads the options about HTTP.
func (r reader) web() (err error) {
	h := &r.asked.HTTP
	if r.s.Opt.Has("status") {
		if h.Status, err = statusRanges(r.s.Opt.Text("status")); err != nil {
			return err
		}
	}
	if h.Header, err = r.headers(r.s.Opt.List("header")); err != nil {
		return err
	}
	if r.s.Opt.Has("method") {
		h.Method = strings.ToUpper(r.s.Opt.Text("method"))
		switch {
		case !isToken(h.Method):
			return problem.Of(problem.T("%s %s is not a method of HTTP", problem.Option("method"),
				cli.Quote(r.s.Opt.Text("method"))),
				problem.T("it is one word: try %s, OPTIONS or POST", problem.Set("method", "HEAD")))
		case h.Method == http.MethodConnect:
			return problem.Of(problem.T("%s asks a proxy for a tunnel, and does not ask a server how it is",
				problem.Set("method", "CONNECT")),
				problem.T("try %s, OPTIONS or POST; for a port alone wait for tcp://host:port",
					problem.Set("method", "HEAD")))
		}
	}
	if r.s.Opt.Has("body") {
		if h.Body, err = regexp.Compile(r.s.Opt.Text("body")); err != nil {
			return problem.Of(problem.T("%s is not a regular expression: %s", problem.Option("body"),
				problem.RegexFault(err)),
				problem.T("write it as in %s; a backslash before . * + ? ( ) [ { | takes their meaning away",
					problem.Set("body", `ready|"status": *"ok"`)))
		}
		if h.Method == http.MethodHead {
			return problem.Of(problem.T("%s and %s exclude each other: HEAD is answered without a body",
				problem.Option("body"), problem.Set("method", "HEAD")), problem.T("leave one of them out"))
		}
	}
	for _, text := range r.s.Opt.List("body-json") {
		m, err := health.ParseJSONMatch(text)
		if err != nil {
			return problem.Of(problem.T("%s %s: %v", problem.Option("body-json"), cli.Quote(text), err),
				problem.T("write a path of RFC 9535, = and a value: %s or %s",
					problem.Set("body-json", "$.status=up"),
					problem.Set("body-json", `$.checks[?@.name=="db"].ok=true`)))
		}
		if h.Method == http.MethodHead {
			return problem.Of(problem.T("%s and %s exclude each other: HEAD is answered without a body",
				problem.Option("body-json"), problem.Set("method", "HEAD")), problem.T("leave one of them out"))
		}
		h.JSON = append(h.JSON, m)
	}
	return nil
}

// statusRanges reads --status: 200, 200-299, 2xx, with commas between them.
func statusRanges(list string) (ranges []health.StatusRange, err error) {
	for part := range strings.SplitSeq(list, ",") {
		part = strings.ToLower(strings.TrimSpace(part))
		if len(part) == 3 && part[1:] == "xx" {
			part = part[:1] + "00-" + part[:1] + "99"
		}
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		r := health.StatusRange{From: statusCode(from), To: statusCode(to)}
		switch {
		case r.From == 0 || r.To == 0:
			return nil, problem.Of(problem.T("%s %s: %s is not a status, which has three digits from 100 to 599",
				problem.Option("status"), cli.Quote(list), cli.Quote(part)),
				problem.T("write it as %s or %s", problem.Set("status", "200-299,401"), problem.Set("status", "2xx")))
		case r.From > r.To:
			return nil, problem.Of(problem.T("%s %s: %s runs backwards", problem.Option("status"),
				cli.Quote(list), cli.Quote(part)), problem.T("write it as %s-%s", to, from))
		}
		ranges = append(ranges, r)
	}
	return ranges, nil
}

// statusCode reads a status; 0 when it is not one.
func statusCode(text string) int {
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil && n >= 100 && n <= 599 {
		return n
	}
	return 0
}

// headersMost is the most bytes of a file of headers.
const headersMost = 64 << 10

// headers reads the values of --header, and the files that some name. No error repeats a value,
// because it may be a secret.
func (r reader) headers(lines []string) (http.Header, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	h := http.Header{}
	like := problem.Set("header", "Accept: text/html")
	add := func(line string, where problem.Text) error {
		name, value, found := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !found:
			return problem.Of(problem.T("%s has no colon", where),
				problem.T("write a name, a colon and a value: %s; or %s for lines from a file", like,
					problem.Set("header", "@FILE")))
		case !isToken(name):
			return problem.Of(problem.T("%s: %s is not a name of a header", where, cli.Quote(name)),
				problem.T("write a name, a colon and a value: %s", like))
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return problem.Of(problem.T("%s: the value of %s has a control character", where, name),
				problem.T("write one line for each header; give %s again for the next", problem.Option("header")))
		}
		if err := health.CheckHeader(name); err != nil {
			return problem.Of(problem.T("%s: %v", where, err), problem.T("leave it out"))
		}
		h.Add(name, value)
		return nil
	}
	for _, line := range lines {
		path, isFile := strings.CutPrefix(line, "@")
		if !isFile {
			if err := add(line, problem.T("a %s", problem.Option("header"))); err != nil {
				return nil, err
			}
			continue
		}
		if path == "-" {
			return nil, problem.Of(problem.T("%s names no file: standard input is left to the command after %s",
				problem.Set("header", "@-"), problem.Command),
				problem.T("name one, such as %s; with bash %s @<(pass show token)",
					problem.Set("header", "@token"), problem.Option("header")))
		}
		text, err := r.flagFile(path, headersMost)
		switch {
		case r.ctx.Err() != nil:
			return nil, r.ctx.Err()
		case err != nil:
			return nil, problem.Of(problem.T("%s @%s: %v", problem.Option("header"), cli.Quote(path), err),
				problem.T("name a file with a header a line, such as Authorization: Bearer TOKEN"))
		}
		n := 0
		for scan := bufio.NewScanner(strings.NewReader(text)); scan.Scan(); {
			n++
			if strings.TrimSpace(scan.Text()) == "" {
				continue
			}
			if err := add(scan.Text(), problem.T("line %d of %s", n, cli.Quote(path))); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// isToken reports whether a word can be a method or the name of a header (RFC 9110, section 5.6.2).
func isToken(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') &&
			!strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// authoritiesMost is the most bytes of a file of certificates. All those of a system are a quarter
// of a MiB.
const authoritiesMost = 4 << 20

// trust reads which certificates are accepted.
func (r reader) trust() error {
	r.asked.Insecure = r.s.Opt.Bool("insecure")
	if r.s.Opt.Has("ca") {
		path := r.s.Opt.Text("ca")
		if r.asked.Insecure {
			return problem.Of(problem.T("%s exclude each other: one accepts any certificate",
				problem.Options(" and ", "insecure", "ca")), problem.T("leave %s out", problem.Option("insecure")))
		}
		text, err := r.flagFile(path, authoritiesMost)
		switch {
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case err != nil:
			return problem.Of(problem.T("%s %s: %v", problem.Option("ca"), cli.Quote(path), err),
				problem.T("name a file of certificates in PEM form, such as ca.pem"))
		}
		r.asked.CA = x509.NewCertPool()
		if !r.asked.CA.AppendCertsFromPEM([]byte(text)) {
			return problem.Of(problem.T("%s %s holds no certificate in PEM form", problem.Option("ca"),
				cli.Quote(path)),
				problem.T("one begins with -----BEGIN CERTIFICATE-----; openssl x509 -inform der -in FILE turns the other form into it"))
		}
	}
	if r.asked.MinDays = r.s.Opt.Int("min-days"); r.s.Opt.Has("min-days") && r.asked.MinDays < 1 {
		return problem.Of(problem.T("%s must be 1 or more", problem.Option("min-days")),
			problem.T("leave it out: whether the certificate is valid now is checked anyway"))
	}
	return nil
}

// newerNow is the word for the beginning of the wait in --newer-than.
const newerNow = "now"

func newerThan(what string) problem.Setting { return problem.Set("newer-than", what) }

// file reads the options about files.
func (r reader) file() error {
	f := &r.asked.File
	f.NonEmpty = r.s.Opt.Bool("non-empty")
	if !r.s.Opt.Has("newer-than") {
		return nil
	}
	text := strings.TrimSpace(r.s.Opt.Text("newer-than"))
	if text == "" {
		return problem.Of(problem.T("%s is empty", problem.Option("newer-than")),
			problem.T("try %s, %s or %s", newerThan("Makefile"), newerThan("10m"), newerThan(newerNow)))
	}
	if text == newerNow {
		f.Since = r.b.begun
		return nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		f.Since = t
		return nil
	}
	if d, err := when.Duration(text); err == nil && d > 0 {
		f.Within = d
		return nil
	}
	if _, err := os.Stat(r.s.Opt.Text("newer-than")); err != nil {
		return problem.Of(problem.T("%s %s is not an existing file, a duration or an instant with an offset",
			problem.Option("newer-than"), cli.Quote(text)),
			problem.T("try %s, %s, %s or %s", newerThan("Makefile"), newerThan("10m"),
				newerThan(r.b.begun.In(ownOr(r.s, time.UTC)).Format(time.RFC3339)), newerThan(newerNow)))
	}
	f.NewerThanFile = r.s.Opt.Text("newer-than")
	return nil
}

// call is this call without its bounds and its command. Options that count from the beginning of
// the wait are written so that they mean the same in a later call.
func (o *healthWait) call(s *cli.Call) problem.Call {
	c := problem.To("health-wait", s.Args...)
	for _, row := range s.Cmd.Options {
		switch name := row.Name; {
		case name == "timeout" || name == "until" || name == "max":
		case name == "newer-than" && strings.TrimSpace(s.Opt.Text(name)) == newerNow:
			c = c.With("newer-than", o.group.Asked.File.Since.In(ownOr(s, time.UTC)).Format(time.RFC3339Nano))
		default:
			c = cli.With(c, s.Opt, name)
		}
	}
	return c
}

// span reads an option that is a duration; 0 needs no unit.
func span(given option.Values, flag string, otherwise time.Duration) (time.Duration, error) {
	text := given.Text(flag)
	if !given.Has(flag) {
		return otherwise, nil
	}
	if strings.TrimSpace(text) == "0" {
		return 0, nil
	}
	d, err := when.Duration(text)
	if err != nil {
		return 0, cli.Explain(err).About(problem.Option(flag))
	}
	return d, nil
}
