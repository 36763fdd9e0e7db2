package health

import (
	"errors"
	"strings"
	"testing"
)

func TestParseAccepts(t *testing.T) {
	for _, text := range []string{
		"http://localhost", "HTTP://localhost:8080/health?deep=1", "https://[::1]:8443/", "http://user@host/",
		"tcp://localhost:5432", "tcp://[fe80::1%25eth0]:22", "tcp://127.0.0.1:1/", "tls://mail.example.org:993",
		"unix:///run/app.sock", "unix:/run/app.sock", "unix:app.sock", "unix:///with space/100%.sock",
		"dns:db.example.org", "dns://db.example.org", "file:/run/ready", "file:///run/ready", "file:ready@1",
		"pid:1", "PID:2147483647", "pid://42", "task:k7m2", "task:k7m2/3", "task://k7m2",
		"exec:pg_isready -h localhost -U me@there:5", "dns:::1", "dns:127.0.0.1",
		"postgres://db", "postgres://db:5432/app?sslmode=disable", "POSTGRESQL://me@[::1]/app", "redis://cache/0", "rediss://cache", "mysql://db", "amqps://mq/vhost",
		"nats://mq/", "kafka://broker:9092", "grpc://app:50051/app.v1.Users", "grpcs://app:443", "dns://9.9.9.9/example.org?type=mx", "dns://[::1]:5353/a.b.",
		"docker:web_1", "docker://0123abc", "file:./~/ready", "exec:ls ~/",
	} {
		target, err := Parse(text)
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		} else if target.String() != text {
			t.Errorf("Parse(%q) is shown as %q", text, target)
		}
	}
}

func TestParseTakesPathsAsTheyStand(t *testing.T) {
	target, err := Parse("unix:///run/a%20b c.sock")
	if err != nil || target.arg != "/run/a%20b c.sock" {
		t.Errorf("path %q, %v", target.arg, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, test := range []struct{ name, text, problem, hint string }{
		{"nothing", "", "is empty", "tcp://localhost:5432"},
		{"spaces", "  ", "is empty", "tcp://localhost:5432"},
		{"scheme alone", "tcp", "has no scheme", `as one word, such as "tcp://localhost:5432"`},
		{"host and port", "localhost:5432", "has no scheme", `"tcp://localhost:5432" or "http://localhost:5432"`},
		{"address and port", "127.0.0.1:80", "has no scheme", `"tcp://127.0.0.1:80"`},
		{"IPv6 and port", "[::1]:80", "has no scheme", `"tcp://[::1]:80"`},
		{"port alone", "5432", "has no scheme", `"tcp://localhost:5432"`},
		{"colon and port", ":5432", "has no scheme", `"tcp://localhost:5432"`},
		{"host alone", "example.org/health", "has no scheme", `"http://example.org/health"`},
		{"host, port and path", "db:80/health", "has no scheme", `"http://db:80/health"`},
		{"path alone", "/run/app.sock", "has no scheme", `"unix:///run/app.sock"`},
		{"another protocol", "mongodb://db:27017/0", `unsupported scheme "mongodb": use http, https, tcp`, `"tcp://db:27017"`},
		{"another protocol, no port", "ftp://example.org", `unsupported scheme "ftp"`, "exec:"},
		{"a scheme of nobody", "gopher:1234", `has no scheme`, ""},
		{"another protocol still", "gopher://x", `use http, https, tcp, tls, unix, dns, file, pid, task, docker, exec, postgres`, ""},
		{"http without slashes", "http:localhost", "has no host", "http://localhost"},
		{"http without host", "http:///x", "has no host", ""},
		{"http with a port but no host", "http://:80/", "has no host", ""},
		{"http with a bad port", "http://localhost:99999/", `port "99999"`, ""},
		{"http with an empty port", "http://localhost:/", `port ""`, ""},
		{"http with a word for a port", "http://localhost:web/", "is not a valid URL", ""},
		{"http with a bad escape", "http://localhost/%zz", "invalid URL escape", ""},
		{"http with a space in the host", "http://local host/", "", ""},
		{"tcp without slashes", "tcp:localhost:1", `lacks "//"`, "tcp://localhost:1"},
		{"tcp without port", "tcp://localhost", "has no port", "tcp://localhost:5432"},
		{"tcp without host", "tcp://:5432", "has no host", "tcp://localhost:5432"},
		{"tcp port zero", "tcp://localhost:0", `port "0"`, ""},
		{"tcp port with a sign", "tcp://localhost:+80", `port "+80"`, ""},
		{"tcp with a path", "tcp://localhost:80/x", "more than a host and a port", ""},
		{"tcp and IPv6 without brackets", "tcp://::1:80", "needs brackets", "[::1]"},
		{"tcp with commas", "tcp://a,b:80", "is not a host name", ""},
		{"an international name", "tcp://bücher.example:80", "is not ASCII", "xn--"},
		{"unix without path", "unix://", "has no path", "unix:///run/app.sock"},
		{"unix, two slashes", "unix://run/app.sock", "must begin with /", `"unix:///run/app.sock"`},
		{"unix folder", "unix:///run/", "has no path", ""},
		{"dns with port", "dns:localhost:80", "is not a host name", "dns:"},
		{"dns of a record", "dns:db.example.org?type=MX", "is not a host name", `"dns://SERVER/db.example.org?type=MX"`},
		{"dns of nothing", "dns:", "is not a host name", ""},
		{"pid of nothing", "pid:", `"" is not the number of a process`, "pgrep"},
		{"pid zero", "pid:0", "not the number of a process", "pid:1234"},
		{"pid with a sign", "pid:+1", "not the number of a process", ""},
		{"a group", "pid:-1", "not the number of a process", ""},
		{"pid that is too large", "pid:2147483648", "not the number of a process", ""},
		{"the name of a process", "pid:nginx", `"nginx" is not the number of a process`, "pgrep"},
		{"task of nothing", "task:", `"" is not the ID of a task`, "task:k7m2"},
		{"a task's folder", "task:../k7m2", "not the ID of a task", ""},
		{"an occurrence without a number", "task:k7m2/", "not the ID of a task", "task:k7m2/3"},
		{"an occurrence with a word", "task:k7m2/last", "not the ID of a task", ""},
		{"exec of nothing", "exec: ", "has no command", "exec:pg_isready"},
		{"control character", "tcp://a\x1b[2J:80", "control character", ""},
		{"invalid UTF-8", "tcp://a\xff:80", "invalid UTF-8", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse(test.text)
			var refusal *ParseError
			if !errors.As(err, &refusal) {
				t.Fatalf("Parse(%q): %v, want a *ParseError", test.text, err)
			}
			if !strings.Contains(err.Error(), test.problem) {
				t.Errorf("Parse(%q): %v, want it to say %q", test.text, err, test.problem)
			}
			if !strings.Contains(refusal.Hint, test.hint) {
				t.Errorf("Parse(%q) hints %q, want it to say %q", test.text, refusal.Hint, test.hint)
			}
			if strings.ContainsAny(err.Error()+refusal.Hint, "\x1b\n") {
				t.Errorf("Parse(%q): raw control character in %q", test.text, err)
			}
		})
	}
}

func TestPasswordsAreNotShown(t *testing.T) {
	for _, text := range []string{
		"http://me:hunter2@localhost/", "http://me:hunter2@local host/", "https://me:hunter2/x@localhost/",
		"postgres://me:hunter2@db:5432/app", "me:hunter2@db:5432", "tcp://me:hunter2@db:5432",
		"http//me:hunter2@db/", "http;//me:hunter2@db", "tcp//me:hunter2@db:1", "http:me:hunter2@db", "http:/me:hunter2@db/",
		"tcp:me:hunter2@db:1", "me:x:hunter2@db:1", "http://me:hunter2@db:99999/", "http://me:hunter2@[::1", "tcp://me:hunter2@db:1/x",
		"cmd://me:hunter2@db", "redis://me:hunter2@db", "http://me:hunter2@db:1:2/", "http://me:hunter2@/x", "http://me:hunter2@db/%zz",
	} {
		target, err := Parse(text)
		shown := target.String()
		if refusal := (*ParseError)(nil); errors.As(err, &refusal) {
			shown += err.Error() + refusal.Hint
		}
		if strings.Contains(shown, "unter") {
			t.Errorf("Parse(%q) shows the password: %s", text, shown)
		}
	}
}

func TestSchemeTellsWhichOptionsApply(t *testing.T) {
	for text, want := range map[string]string{"HTTPS://localhost": "https", "file:x": "file", "pid:1": "pid", "task:a": "task", "exec:true": "exec"} {
		if got := mustParse(t, text)[0].Scheme(); got != want {
			t.Errorf("%s has the scheme %q", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"http://a:b@c/", "tcp://[::1]:80", "unix:///x", "exec:true", "5432", "dns:x", "pid:1", "task:k7m2/3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		target, err := Parse(text)
		switch {
		case err == nil && target.scheme == "":
			t.Errorf("Parse(%q) gives a target without a scheme", text)
		case err != nil && target != Target{}:
			t.Errorf("Parse(%q) gives both a target and %v", text, err)
		case err != nil && strings.ContainsAny(err.Error(), "\x00\n\x1b"):
			t.Errorf("Parse(%q): raw control character in %q", text, err)
		}
	})
}
