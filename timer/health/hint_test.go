package health

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

// TestHints holds what is typed by mistake against what is to be typed instead. What a hint tells to try can be read.
func TestHints(t *testing.T) {
	tried := regexp.MustCompile(`"([^"]*)"`)
	for text, want := range map[string]string{
		"./ready":                  `try "file:./ready" for a file or "unix:./ready" for a socket`,
		"../run/ready":             `try "file:../run/ready" for a file or "unix:../run/ready" for a socket`,
		"socket:/run/app.sock":     `try "unix:///run/app.sock"`,
		"socket:///run/app.sock":   `try "unix:///run/app.sock"`,
		"socket:app.sock":          `try "unix:app.sock"`,
		"socket:80":                `try "tcp://socket:80" or "http://socket:80"`,
		"cmd:pg_isready -q":        `try "exec:pg_isready -q"`,
		"command:true":             `try "exec:true"`,
		"process:4711":             `try "pid:4711"`,
		"process:nginx":            `try "pid:1234"; pgrep NAME prints the numbers`,
		"tcp//db:5432":             `try "tcp://db:5432"`,
		"http;//app/health":        `try "http://app/health"`,
		"HTTP//app:8080/":          `try "http://app:8080/"`,
		"http:;//app":              "",
		"tcp:80":                   `try "tcp://localhost:80"`,
		"tcp:db:5432":              `try "tcp://db:5432"`,
		"tcp:/db:5432":             `try "tcp://db:5432"`,
		"tcp://5432":               "",
		"tcp://:5432":              `try "tcp://localhost:5432"`,
		"tcp://db":                 `try "tcp://db:5432"`,
		"tcp://::1:19140":          `try "tcp://[::1]:19140"`,
		"tls://fe80::1":            "",
		"tcp://db:5432/app":        `try "tcp://db:5432", or "http://db:5432/app" for a web server`,
		"tcp://db:5432:5433":       `try "tcp://db:5432"`,
		"http://app:80:81/":        `try "http://app:80"`,
		"http://::1:80/":           `try "http://[::1]:80"`,
		"https:app":                `try "https://app"`,
		"https:/app/health":        `try "https://app/health"`,
		"http:8080":                `try "http://localhost:8080"`,
		"http://:8080/health":      `try "http://localhost:8080/health"`,
		"http://[::1":              `try "http://[::1]"`,
		"http://[::1/health":       `try "http://[::1]/health"`,
		"http://app/%zz":           "write a % that stands for itself as %25",
		"http://app:web/":          `try "http://app:80"`,
		"http://app:80 ":           `try "http://app:80"`,
		"http://app:99999/":        `give the port as a number, as in "http://app:8080"`,
		"tcp://db:0":               `give the port as a number, as in "tcp://db:8080"`,
		"tcp://db:postgres":        `try "tcp://db:5432"`,
		"tcp://db:http":            `try "tcp://db:80"`,
		"tcp://db:5432 ":           `try "tcp://db:5432"`,
		"tcp://[::1]:http":         `try "tcp://[::1]:80"`,
		"tcp://a b:1":              spaceHint,
		"http://a b/":              spaceHint,
		"dns:localhost:53":         `try "dns:localhost"`,
		"dns://db:53/":             `try "dns:db"`,
		"dns:[::1]":                `try "dns:db.example.org"`,
		"file:":                    `try "file:/run/app.ready"`,
		"unix:":                    `try "unix:///run/app.sock"`,
		"file:~/ready":             `try "file:$HOME/ready"`,
		"unix:~/app.sock":          `try "unix:$HOME/app.sock"`,
		"~/ready":                  `try "file:$HOME/ready" for a file or "unix:$HOME/ready" for a socket`,
		"tcp://db:5432\n":          strangeHint,
		"file:a\tb":                strangeHint,
		"exec:a\x00b":              strangeHint,
		"rabbitmq://mq/vhost":      `try "amqp://mq/vhost"`,
		"mongodb://db/app":         `try "tcp://db:27017", or "exec:mongosh --quiet --host db --port 27017 --eval 1"`,
		"ldap://dir:389":           `try "tcp://dir:389", or "exec:" with the service's own client`,
		"ldap://dir":               `try "tcp://host:port", or "exec:" with the service's own client`,
		"mongodb://[::1]:6380":     `try "tcp://[::1]:6380", or "exec:mongosh --quiet --host ::1 --port 6380 --eval 1"`,
		"postgre://db/app":         `try "postgres://db/app"`,
		"dns://127.0.0.1":          `try "dns://127.0.0.1/example.org", which asks that server`,
		"pg://db/app?password=pw":  `try "postgres://db/app?password=xxxxx"`,
		"pg://me:pw@db/app":        `try "postgres://me:xxxxx@db/app"`,
		"mariadb://db":             `try "mysql://db"`,
		"tpc://db:5432":            `try "tcp://db:5432"`,
		"htpp://app/health":        `try "http://app/health"`,
		"postgres:5432":            `try "postgres://localhost:5432", or "postgres://postgres:5432" where postgres is the host`,
		"redis:cache:6379":         `try "redis://cache:6379"`,
		"redis:":                   `try "redis://localhost:6379"`,
		"postgres:///app":          "",
		"mysql://":                 `try "mysql://localhost:3306"`,
		"grpc://app":               `try "grpc://app:50051"`,
		"grpcs://app/app.v1.Users": `try "grpcs://app:50051/app.v1.Users"`,
		"grpc://:50051":            `try "grpc://localhost:50051"`,
		"nats://mq/x":              `try "nats://mq"`,
		"kafka://a:1,b:2":          "",
		"redis://cache:0":          `give the port as a number, as in "redis://cache:6379"`,
		"amqp://::1":               `try "amqp://[::1]:5672"`,
		"docker:":                  `try "docker:web"; docker ps --format '{{.Names}}' lists the names`,
		"docker:a/b":               "",
		"dns://127.0.0.1/a?type=X": `try "dns://127.0.0.1/a?type=AAAA"; the types are A, AAAA, CNAME, MX, NS, PTR, SOA, SRV or TXT`,
		"dns://ns1/a..b":           "",
		"dns://ns1/a?class=CH":     "",
	} {
		_, err := Parse(text)
		var refusal *ParseError
		if !errors.As(err, &refusal) {
			t.Errorf("Parse(%q): %v, want a *ParseError", text, err)
			continue
		}
		if refusal.Hint == "" || want != "" && refusal.Hint != want {
			t.Errorf("Parse(%q): %v, hints %q, want %q", text, err, refusal.Hint, want)
		}
		for _, m := range tried.FindAllStringSubmatch(refusal.Hint, -1) {
			if m[1] == "exec:" || len(m[1]) < 4 || strings.Contains(m[1], "host:port") {
				continue
			}
			if _, err := Parse(m[1]); err != nil {
				t.Errorf("Parse(%q) hints %q: %v", text, refusal.Hint, err)
			}
		}
	}
}
