package healthwait

import (
	"bufio"
	"crypto/x509"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/health"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// web reads the options about HTTP.
func (r reader) web() (err error) {
	h := &r.options.HTTP
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
				problem.T("give one word, such as %s, OPTIONS or POST", problem.Set("method", "HEAD")))
		case h.Method == http.MethodConnect:
			return problem.Of(problem.T("%s asks a proxy for a tunnel, and does not check a server",
				problem.Set("method", "CONNECT")),
				problem.T("try %s, OPTIONS or POST; for a port alone wait for tcp://host:port",
					problem.Set("method", "HEAD")))
		}
	}
	if r.s.Opt.Has("body") {
		if h.Body, err = regexp.Compile(r.s.Opt.Text("body")); err != nil {
			return problem.Of(problem.T("%s is not a regular expression: %s", problem.Option("body"),
				problem.RegexFault(err)),
				problem.T("write it as in %s; to match one of . * + ? ( ) [ { | itself, put a backslash before it",
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

// maxHeaderFile is the most bytes of a file of headers.
const maxHeaderFile = 64 << 10

// headers reads the values of --header, and the files that some name. No error repeats a value,
// because it may be a secret.
func (r reader) headers(lines []string) (http.Header, error) {
	if len(lines) == 0 {
		return nil, nil
	}
	h := http.Header{}
	for _, line := range lines {
		path, isFile := strings.CutPrefix(line, "@")
		if !isFile {
			if err := addHeader(h, line, problem.T("a %s", problem.Option("header"))); err != nil {
				return nil, err
			}
			continue
		}
		if path == "-" {
			return nil, problem.Of(problem.T("%s is not a file: standard input is for the command after %s",
				problem.Set("header", "@-"), problem.Command),
				problem.T("name a file, such as %s; with bash %s @<(pass show token)",
					problem.Set("header", "@token"), problem.Option("header")))
		}
		text, err := r.optionFile(path, maxHeaderFile)
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
			if err := addHeader(h, scan.Text(), problem.T("line %d of %s", n, cli.Quote(path))); err != nil {
				return nil, err
			}
		}
	}
	return h, nil
}

// addHeader adds the header that a line gives. where names the line in errors.
func addHeader(h http.Header, line string, where problem.Text) error {
	example := problem.Set("header", "Accept: text/html")
	name, value, found := strings.Cut(line, ":")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !found:
		return problem.Of(problem.T("%s has no colon", where),
			problem.T("write a name, a colon and a value: %s; or %s for lines from a file", example,
				problem.Set("header", "@FILE")))
	case !isToken(name):
		return problem.Of(problem.T("%s: %s is not a name of a header", where, cli.Quote(name)),
			problem.T("write a name, a colon and a value: %s", example))
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

// isToken reports whether a word can be a method or the name of a header (RFC 9110, section 5.6.2).
func isToken(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') &&
			!strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	})
}

// maxCAFile is the most bytes of a file of certificates. Those of a whole system take a quarter of
// a MiB.
const maxCAFile = 4 << 20

// trust reads the options about certificates.
func (r reader) trust() error {
	r.options.Insecure = r.s.Opt.Bool("insecure")
	if r.s.Opt.Has("ca") {
		path := r.s.Opt.Text("ca")
		if r.options.Insecure {
			return problem.Of(problem.T("%s exclude each other: one accepts any certificate",
				problem.Options(" and ", "insecure", "ca")), problem.T("leave %s out", problem.Option("insecure")))
		}
		text, err := r.optionFile(path, maxCAFile)
		switch {
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case err != nil:
			return problem.Of(problem.T("%s %s: %v", problem.Option("ca"), cli.Quote(path), err),
				problem.T("name a file of certificates in PEM form, such as ca.pem"))
		}
		r.options.CA = x509.NewCertPool()
		if !r.options.CA.AppendCertsFromPEM([]byte(text)) {
			return problem.Of(problem.T("%s %s holds no certificate in PEM form", problem.Option("ca"),
				cli.Quote(path)),
				problem.T("a certificate in PEM form begins with -----BEGIN CERTIFICATE-----; openssl x509 -inform der -in FILE converts DER"))
		}
	}
	if r.options.MinDays = r.s.Opt.Int("min-days"); r.s.Opt.Has("min-days") && r.options.MinDays < 1 {
		return problem.Of(problem.T("%s must be 1 or more", problem.Option("min-days")),
			problem.T("leave it out: whether the certificate is valid now is checked anyway"))
	}
	return nil
}
