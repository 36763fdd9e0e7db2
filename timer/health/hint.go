package health

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	guesses "github.com/ouro-timer/ouro-timer/timer/problem"
)

// The functions of this file return what to type instead of a target that cannot be read. All hints
// are made of the masked text, so none shows a password.

var (
	portOnly    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^:?([0-9]+)$`) })
	hostAndPort = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):[0-9]+$`) })
	slipped     = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^(https?|tcp|tls|unix|dns|file|pid|task|exec)(?:;|:;|;:|)(//.+)$`)
	})
	openBracket = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z]+://\[[0-9A-Fa-f:.]+)([/?#].*)?$`) })
)

// aliases are the names that other tools have for our schemes.
func aliases() map[string]string {
	return map[string]string{
		"socket": "unix", "sock": "unix", "cmd": "exec", "command": "exec", "sh": "exec", "shell": "exec",
		"process": "pid", "proc": "pid", "path": "file",
		"pg": "postgres", "pgsql": "postgres", "psql": "postgres", "mariadb": "mysql", "valkey": "redis", "valkeys": "rediss",
		"rabbitmq": "amqp", "rabbit": "amqp",
	}
}

// client is the usual port of a service, and a command of its own client that checks it.
type client struct{ port, ask string }

func clients() map[string]client {
	return map[string]client{
		"mongodb":   {"27017", "mongosh --quiet --host HOST --port PORT --eval 1"},
		"memcached": {"11211", "memcping --servers=HOST:PORT"},
	}
}

// schemelessHint returns what a target without a scheme may have meant.
func schemelessHint(text string) string {
	scheme, rest, _ := strings.Cut(text, ":")
	known, alias := aliases()[strings.ToLower(scheme)]
	switch m, s := portOnly().FindStringSubmatch(text), slipped().FindStringSubmatch(text); {
	case rest == "" && (alias || slices.Contains(Schemes(), strings.ToLower(scheme))):
		return `write the scheme and what follows it as one word, such as "tcp://localhost:5432"`
	case m != nil:
		return fmt.Sprintf(`try "tcp://localhost:%s" or "http://localhost:%s"`, m[1], m[1])
	case s != nil:
		return fmt.Sprintf(`try "%s:%s"`, strings.ToLower(s[1]), s[2])
	case alias && rest != "" && (known == "pid" || !hostAndPort().MatchString(text)):
		return renamed(known, rest)
	case hostAndPort().MatchString(text):
		return fmt.Sprintf(`try "tcp://%s" or "http://%s"`, text, text)
	case strings.HasPrefix(text, "/"):
		return fmt.Sprintf(`try "unix://%s" for a socket or "file:%s" for a file`, text, text)
	case strings.HasPrefix(text, "./"), strings.HasPrefix(text, "../"):
		return fmt.Sprintf(`try "file:%s" for a file or "unix:%s" for a socket`, text, text)
	case strings.HasPrefix(text, "~/"):
		return fmt.Sprintf(`try "file:$HOME%s" for a file or "unix:$HOME%s" for a socket`, text[1:], text[1:])
	}
	return fmt.Sprintf(`try "http://%s"`, strings.TrimLeft(text, ":/"))
}

// renamed returns the hint for a target whose scheme has another name here.
func renamed(scheme, rest string) string {
	if path, ok := strings.CutPrefix(rest, "//"); ok && slices.Contains([]string{"exec", "file", "pid", "unix"}, scheme) && (scheme != "unix" || !strings.HasPrefix(path, "/")) {
		rest = path
	}
	if scheme == "unix" && strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "//") {
		rest = "//" + rest
	}
	hint := fmt.Sprintf(`try "%s:%s"`, scheme, rest)
	if _, err := parsePID(rest); scheme == "pid" && err != nil {
		hint = err.(problem).hint
	}
	return hint
}

// schemeHint returns how to wait for a server behind a URL whose scheme is not supported.
func schemeHint(scheme, rest string) string {
	if known, ok := aliases()[scheme]; ok {
		return renamed(known, rest)
	}
	if near := guesses.Nearest(scheme, Schemes()); near != "" {
		return renamed(near, rest)
	}
	c := clients()[scheme]
	host, port := "host", "port"
	if c.port != "" {
		port = c.port
	}
	if u, err := url.Parse(rest); err == nil && u.Hostname() != "" && (u.Port() != "" || c.port != "") {
		host = u.Hostname()
		if u.Port() != "" {
			port = u.Port()
		}
	}
	hint := fmt.Sprintf(`try "tcp://%s"`, net.JoinHostPort(host, port))
	if c.ask == "" {
		return hint + `, or "exec:" with the service's own client`
	}
	return hint + `, or "exec:` + strings.NewReplacer("HOST", host, "PORT", port).Replace(c.ask) + `"`
}

// tooManyColons explains why a host and a port have more than one colon, and how to write them.
func tooManyColons(scheme, rest string) problem {
	last := strings.LastIndex(rest, ":")
	if strings.Contains(rest, ",") {
		return predicate("names several hosts", "write each as a target of its own; --any waits for the first of them")
	}
	if addr, err := netip.ParseAddr(rest[:last]); err == nil && addr.Is6() {
		return clause("an IPv6 address needs brackets", fmt.Sprintf(`try "%s://[%s]:%s"`, scheme, addr, rest[last+1:]))
	}
	if addr, err := netip.ParseAddr(rest); err == nil {
		return clause("an IPv6 address needs brackets", fmt.Sprintf(`try "%s://[%s]:%s"`, scheme, addr, usualPort(scheme, "5432")))
	}
	host, port, _ := strings.Cut(rest, ":")
	port, _, _ = strings.Cut(port, ":")
	if host == "" || port == "" || strings.Count(rest, ":") > 2 && strings.Trim(rest, "0123456789abcdefABCDEF:.") == "" {
		return clause("an IPv6 address needs brackets", fmt.Sprintf(`try "%s://[::1]:%s"`, scheme, usualPort(scheme, "5432")))
	}
	return predicate("has two ports", fmt.Sprintf(`try "%s://%s:%s"`, scheme, host, port))
}

// hostHint returns where the host belongs in a target that has none, or whose host does not follow
// two slashes.
func hostHint(scheme, text string) string {
	_, rest, _ := strings.Cut(text, ":")
	slashes := len(rest) - len(strings.TrimLeft(rest, "/"))
	place := rest[slashes:]
	port, path, _ := strings.Cut(strings.TrimPrefix(place, ":"), "/")
	web, s := scheme == "http" || scheme == "https", slipped().FindStringSubmatch(text)
	switch {
	case s != nil:
		return `try "` + scheme + ":" + s[2] + `"`
	case checkPort(port) == nil && web && path != "":
		return `try "` + scheme + "://localhost:" + port + "/" + path + `"`
	case checkPort(port) == nil:
		return `try "` + scheme + "://localhost:" + port + `"`
	case slashes < 2 && place != "" && (web || hostAndPort().MatchString(place)):
		return `try "` + scheme + "://" + place + `"`
	case web:
		return `try "` + scheme + `://localhost:8080/health"`
	}
	return `try "` + scheme + `://localhost:` + usualPort(scheme, "5432") + `"`
}

// usualPort returns the port of a kind of server for an example, or otherwise.
func usualPort(scheme, otherwise string) string {
	switch s := serverOf(scheme); {
	case s != nil:
		return cmp.Or(s.port, s.like)
	case scheme == "http" || scheme == "https":
		return "8080"
	}
	return otherwise
}

// services are ports by the names that people give to them.
func services() map[string]string {
	return map[string]string{
		"http": "80", "https": "443", "web": "80", "ssh": "22", "smtp": "25", "imap": "143", "imaps": "993", "ldap": "389",
		"mysql": "3306", "postgres": "5432", "postgresql": "5432", "redis": "6379", "domain": "53",
	}
}

// portHint returns what to type instead of a bad port.
func portHint(scheme, host, port string) string {
	trimmed := strings.TrimSpace(port)
	if number, ok := services()[strings.ToLower(trimmed)]; ok {
		trimmed = number
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if checkPort(trimmed) != nil {
		return fmt.Sprintf(`give the port as a number, as in "%s://%s:%s"`, scheme, host, usualPort(scheme, "8080"))
	}
	return fmt.Sprintf(`try "%s://%s:%s"`, scheme, host, trimmed)
}

// invalidURL explains what net/url says, and what to type instead. text shows no password.
func invalidURL(text, reason string) problem {
	scheme, rest, _ := strings.Cut(text, "://")
	authority, _, _ := strings.Cut(rest, "/")
	p := predicate("is not a valid URL: "+reason, hostHint(scheme, scheme+"://"))
	switch m := openBracket().FindStringSubmatch(text); {
	case m != nil:
		p.hint = fmt.Sprintf(`try "%s]%s"`, m[1], m[2])
	case strings.Contains(reason, "invalid URL escape"):
		p.hint = "write a % that stands for itself as %25"
	case strings.ContainsAny(authority, " \""):
		p.hint = spaceHint
		if host, port, ok := strings.Cut(authority, ":"); ok && !strings.Contains(host, " ") {
			p.hint = portHint(scheme, host, port)
		}
	case !strings.HasPrefix(authority, "[") && strings.Count(authority, ":") > 1:
		p = tooManyColons(scheme, authority)
	case strings.Contains(reason, "invalid port"):
		host, port, _ := strings.Cut(authority, ":")
		p.hint = portHint(scheme, host, port)
	}
	return p
}

const spaceHint = `a host name has letters, digits, "-" and "."; each target is a word of its own`
