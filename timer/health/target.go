package health

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// schemes are the kinds of targets, in the order in which errors list them.
var schemes = []string{"http", "https", "tcp", "tls", "unix", "dns", "file", "pid", "task", "docker", "exec"}

// Schemes returns the kinds of targets. Those of servers with a protocol of their own come last.
func Schemes() []string {
	all := slices.Clone(schemes)
	for _, s := range servers {
		all = append(all, s.scheme)
	}
	return all
}

// Target is one thing to be healthy:
//
//	http://host:port/path   answers with 2xx, see HTTP; https too
//	tcp://host:port         accepts a connection
//	tls://host:port         completes a handshake with a valid certificate for host
//	unix:///path            accepts a connection on a socket
//	dns:name                resolves to an address
//	file:path               exists, and is as Options.File asks
//	dns://server/name       that server answers with its address; ?type=MX asks for others
//	docker:name             the container is healthy, or runs if it has no check of its own
//	pid:number              the process that had the number when the wait began still runs
//	task:ID                 a task, or its occurrence ID/N, has ended well, see Tasks
//	exec:command line       /bin/sh -c ends with 0; what it started ends with it; not on Windows
//
// A server that has a row among the servers (postgres://host:port/db, redis://host, ...) says in
// its own protocol that it is ready. Its usual port is taken where none is named.
//
// Paths of unix and file are taken as they stand, without %-decoding.
//
// These faults are permanent: a certificate for another name or of an unknown authority, HTTP 401,
// 403 and 407, a redirect to what is neither http nor https, a process that is not there or has
// ended, a task that is unknown or has failed, exit codes 126 and 127 of a command line (the shell
// cannot start it), a path too long for a socket.
type Target struct {
	text   string // as typed, a password masked
	scheme string
	url    *url.URL // http, https, the servers, and dns with a server
	host   string   // tcp, tls, dns, the servers: a name or an address without brackets
	port   string   // tcp, tls, the servers
	arg    string   // unix, file: a path; exec: a command line; task: an ID; docker: a name
	pid    int      // pid
}

// String returns the target as typed, with its password masked.
func (t Target) String() string { return t.text }

// Scheme returns its kind in lower case, such as "tcp". It decides which of the Options the target
// uses.
func (t Target) Scheme() string { return t.scheme }

// Arg returns what the target names: the path of a file or a socket, the line of a command, the ID
// of a task, the name of a container. Other targets have none.
func (t Target) Arg() string { return t.arg }

// ParseError is the refusal of a target.
type ParseError struct {
	Target  string // as typed, a password masked
	Problem string // what is wrong with the target: "has no port"
	Clause  bool   // Problem is a clause of its own: "an IPv6 address needs brackets"
	Hint    string // what to type instead, one line; may be empty
	Bare    bool   // it has no scheme, so it may be a word of something else
}

func (e *ParseError) Error() string { return fmt.Sprintf("target %q: %s", e.Target, e.Problem) }

// Parse reads a target in one of the forms that Target lists; the scheme may be in capitals. A
// password in a URL is used, and is masked wherever the target is shown. Parse looks nothing up:
// that a process or a task does not exist is found by Wait. Every error is a *ParseError.
func Parse(text string) (Target, error) {
	t := Target{text: mask(text)}
	refuse := func(p problem) (Target, error) {
		return Target{}, &ParseError{Target: t.text, Problem: p.text, Clause: p.clause, Hint: p.hint, Bare: p.bare}
	}
	if plain := utf8.ValidString(text); !plain || strings.ContainsFunc(text, unicode.IsControl) {
		line := len(text) > 5 && strings.EqualFold(text[:5], "exec:") && plain && !strings.Contains(text, "\x00")
		t.text = escaped(t.text)
		if !line { // a command line may have tabs and line breaks
			return refuse(predicate("contains a control character or invalid UTF-8", strangeHint))
		}
	}
	scheme, rest, found := strings.Cut(text, ":")
	scheme = strings.ToLower(scheme)
	service := serverOf(scheme)
	known := service != nil || slices.Contains(schemes, scheme)
	switch {
	case strings.TrimSpace(text) == "":
		return refuse(predicate("is empty", `try "tcp://localhost:5432" or "http://localhost:8080/health"`))
	case !found, !known && !strings.HasPrefix(rest, "//"):
		p := predicate("has no scheme", schemelessHint(t.text))
		p.bare = true
		return refuse(p)
	case !known:
		_, masked, _ := strings.Cut(t.text, ":")
		return refuse(clause(fmt.Sprintf("unsupported scheme %q: use %s", scheme, plain.List(Schemes(), "or")), schemeHint(scheme, masked)))
	}
	t.scheme = scheme
	err := t.parseRest(service, rest, text)
	if p, ok := errors.AsType[problem](err); ok {
		return refuse(p)
	}
	return t, nil
}

// parseRest reads what follows the scheme. service is what the scheme stands for, or nil when it is
// no protocol of a server.
func (t *Target) parseRest(service *server, rest, text string) (err error) {
	if service != nil {
		if t.url, err = parseServer(service, rest, text, t.text); err == nil {
			t.host, t.port = t.url.Hostname(), cmp.Or(t.url.Port(), service.port)
		}
	}
	switch t.scheme {
	case "http", "https":
		t.url, err = parseWeb(text, t.text)
	case "tcp", "tls":
		t.host, t.port, err = parseHostPort(t.scheme, rest)
	case "dns":
		if asksServer(rest) {
			if t.url, err = parseDNS(text, t.text); err == nil {
				t.host, t.port = t.url.Hostname(), cmp.Or(t.url.Port(), "53")
			}
		} else {
			t.host, err = parseName(rest)
			// an address resolves to itself, and no server is asked
			if err == nil && strings.HasPrefix(rest, "//") && net.ParseIP(t.host) != nil {
				err = predicate("has an address, not a name to look up", `try "dns://`+t.host+`/example.org", which asks that server`)
			}
		}
	case "docker":
		t.arg, err = parseContainer(rest)
	case "unix", "file":
		t.arg, err = parsePath(t.scheme, rest)
	case "pid":
		t.pid, err = parsePID(rest)
	case "task":
		t.arg, err = parseTask(rest)
	case "exec":
		t.arg, err = strings.TrimSpace(rest), nil
		if t.arg == "" {
			err = predicate("has no command", `try "exec:pg_isready -q"`)
		} else if runtime.GOOS == "windows" {
			err = clause("exec is not supported on this system", "")
		}
	}
	return err
}

// problem is a ParseError without its target.
type problem struct {
	text, hint   string
	clause, bare bool
}

func (p problem) Error() string { return p.text }

// predicate returns a problem that follows the target in a sentence. clause returns one that is a
// clause of its own.
func predicate(text, hint string) problem { return problem{text: text, hint: hint} }

func clause(text, hint string) problem { return problem{text: text, hint: hint, clause: true} }

const strangeHint = "write it without line breaks and other control characters; " +
	"a file of such a name can be looked at with exec:"

// parseWeb reads a URL; masked is the part that may be shown.
func parseWeb(text, masked string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil && strings.Contains(text, "@") { // the reason might quote a password
		return nil, predicate("is not a valid URL", "write special characters of a user or password as %40, %2F, %3A")
	}
	if err != nil {
		return nil, invalidURL(masked, innermost(err).Error())
	}
	if u.Host == "" || u.Hostname() == "" {
		return nil, predicate("has no host", hostHint(u.Scheme, masked))
	}
	if !strings.HasPrefix(u.Host, "[") && strings.Count(u.Host, ":") > 1 {
		return nil, tooManyColons(u.Scheme, u.Host)
	}
	if err := checkHost(u.Hostname()); err != nil {
		return nil, err
	}
	if p := u.Port(); p != "" || strings.HasSuffix(u.Host, ":") {
		if err := checkPort(p); err != nil {
			return nil, clause(err.Error(), portHint(u.Scheme, u.Hostname(), p))
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// parseServer reads the URL of a server that is asked in its own protocol. It may have parts that
// only the clients of the server need, such as a database, or options after a question mark.
func parseServer(s *server, rest, text, masked string) (*url.URL, error) {
	if !strings.HasPrefix(rest, "//") {
		_, place, _ := strings.Cut(masked, ":")
		// in a file of containers, a service often has the name of its software
		if checkPort(place) == nil {
			return nil, predicate(`lacks "//"`, fmt.Sprintf(`try "%s://localhost:%s", or "%[1]s://%[1]s:%[2]s" where %[1]s is the host`, s.scheme, place))
		}
		return nil, predicate(`lacks "//"`, hostHint(s.scheme, masked))
	}
	u, err := parseWeb(text, masked)
	if err != nil {
		return nil, err
	}
	host := u.Host
	if u.Port() == "" && s.port == "" {
		return nil, predicate("has no port", fmt.Sprintf(`try "%s://%s:%s%s"`, s.scheme, host, s.like, u.EscapedPath()))
	}
	if s.path == "" && strings.Trim(u.Path, "/") != "" {
		return nil, predicate("has more than a host and a port", fmt.Sprintf(`try "%s://%s"`, s.scheme, host))
	}
	return u, nil
}

func parseHostPort(scheme, rest string) (host, port string, err error) {
	rest, ok := strings.CutPrefix(rest, "//")
	rest = strings.TrimSuffix(rest, "/")
	place := rest[strings.LastIndex(rest, "@")+1:] // without a password
	if end := strings.IndexAny(place, "/?#"); ok && end >= 0 {
		place = place[:end]
	}
	hint := `try "` + scheme + `://` + place + `"`
	switch {
	case !ok:
		return "", "", predicate(`lacks "//"`, hostHint(scheme, scheme+":"+place))
	case strings.ContainsAny(rest, "/?#@"):
		if !hostAndPort().MatchString(place) {
			hint = `try "` + scheme + `://localhost:5432"`
		} else if path, found := strings.CutPrefix(rest, place+"/"); found {
			hint += `, or "http://` + place + "/" + path + `" for a web server`
		}
		return "", "", predicate("has more than a host and a port", hint)
	}
	host, port, err = net.SplitHostPort(rest)
	if err != nil && !strings.HasPrefix(rest, "[") && strings.Count(rest, ":") > 1 {
		return "", "", tooManyColons(scheme, rest)
	}
	if err != nil {
		if checkHost(rest) != nil || rest == "" || strings.HasPrefix(rest, "[") {
			rest = "localhost"
		}
		return "", "", predicate("has no port", `try "`+scheme+`://`+rest+`:5432"`)
	}
	if host == "" {
		return "", "", predicate("has no host", hostHint(scheme, scheme+":"+port))
	}
	if err := checkHost(host); err != nil {
		return "", "", err
	}
	if err := checkPort(port); err != nil {
		return "", "", clause(err.Error(), portHint(scheme, host, port))
	}
	return host, port, nil
}

// asksServer reports whether a dns target has a server and a name to ask it for, and not only a
// name.
func asksServer(rest string) bool {
	place, ok := strings.CutPrefix(rest, "//")
	server, name, _ := strings.Cut(place, "/")
	return ok && server != "" && strings.Trim(name, "/") != ""
}

func parseName(rest string) (string, error) {
	name := strings.TrimSuffix(strings.TrimPrefix(rest, "//"), "/")
	if _, err := netip.ParseAddr(name); err == nil {
		return name, nil
	}
	if name == "" || strings.ContainsAny(name, "/?#@:") {
		hint := `try "dns:db.example.org"`
		if host, record, typed := strings.Cut(name, "?"); typed && host != "" && checkHost(host) == nil {
			hint = `a record is asked for at a server: try "dns://SERVER/` + host + `?` + record + `"`
		}
		host, _, err := net.SplitHostPort(name)
		if err == nil && host != "" && checkHost(host) == nil {
			hint = `try "dns:` + host + `"`
		}
		return "", predicate("is not a host name", hint)
	}
	return name, checkHost(name)
}

func parsePath(scheme, rest string) (string, error) {
	path, slashes := strings.CutPrefix(rest, "//")
	switch {
	case path == "" && scheme == "file":
		return "", predicate("has no path", `try "file:/run/app.ready"`)
	case path == "" || strings.HasSuffix(path, "/") && scheme == "unix":
		return "", predicate("has no path", `try "unix:///run/app.sock"`)
	case path == "~" || strings.HasPrefix(path, "~/"):
		return "", clause("the shell does not expand ~ there", fmt.Sprintf(`try "%s:$HOME%s"`, scheme, path[1:]))
	case slashes && !strings.HasPrefix(path, "/") && runtime.GOOS != "windows":
		return "", clause("the path must begin with /", fmt.Sprintf(`try "%s:///%s" or "%s:%s"`, scheme, path, scheme, path))
	}
	return path, nil
}

func parsePID(rest string) (int, error) {
	text := strings.TrimPrefix(rest, "//")
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || text[0] == '+' {
		return 0, clause(fmt.Sprintf("%q is not the number of a process", text), `try "pid:1234"; pgrep NAME prints the numbers`)
	}
	return int(n), nil
}

var taskID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9]+(/[0-9]+)?$`) })

func parseTask(rest string) (string, error) {
	id := strings.TrimPrefix(rest, "//")
	if !taskID().MatchString(id) {
		return "", clause(fmt.Sprintf("%q is not the ID of a task", id), `try "task:k7m2", or "task:k7m2/3" for its third occurrence`)
	}
	return id, nil
}

// checkHost refuses what no resolver accepts, so that a typing error does not look like a host that
// is not there yet.
func checkHost(host string) error {
	for _, r := range host {
		switch {
		case r > unicode.MaxASCII:
			return clause(fmt.Sprintf("the host %q is not ASCII", host), "write an international name in its xn-- form")
		case r == ' ' || strings.ContainsRune(`"'<>\^`+"`{|}*,;", r):
			return clause(fmt.Sprintf("the host %q is not a host name", host), spaceHint)
		}
	}
	return nil
}

func checkPort(port string) error {
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || port[0] == '+' {
		return clause(fmt.Sprintf("the port %q is not a number from 1 to 65535", port), "")
	}
	return nil
}
