package health

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"
)

// script is a connection to a server that says what it has to say, whatever it is told, and hangs up.
type script struct {
	net.Conn
	io.Reader
	told bytes.Buffer
}

func (s *script) Read(b []byte) (int, error)       { return s.Reader.Read(b) }
func (s *script) Write(b []byte) (int, error)      { return s.told.Write(b) }
func (s *script) Close() error                     { return nil }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }
func (s *script) LocalAddr() net.Addr              { return nil }
func (s *script) RemoteAddr() net.Addr             { return nil }

// asked asks a server that says that, and returns what came of it in words, "" for ready, and what it was told.
func asked(t testing.TB, target, says string) (words, told string) {
	parsed, err := Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	s := &script{Reader: strings.NewReader(says)}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := serverOf(parsed.scheme).ask(ctx, s, parsed); err != nil {
		words = explain(err, answering).String()
	}
	return words, s.told.String()
}

// pg is a message of PostgreSQL, my a packet of MySQL, kf an answer of Kafka.
func pg(kind byte, body string) string {
	return string(binary.BigEndian.AppendUint32([]byte{kind}, uint32(4+len(body)))) + body
}

func pgError(code, words string) string { return pg('E', "SFATAL\x00C"+code+"\x00M"+words+"\x00\x00") }

func my(number byte, body string) string {
	return string([]byte{byte(len(body)), byte(len(body) >> 8), 0, number}) + body
}

func kf(number byte, body string) string {
	return string(binary.BigEndian.AppendUint32(nil, uint32(4+len(body)))) + string([]byte{0, 0, 0, number}) + body
}

const (
	closed   = "connection closed without a whole answer"
	greeting = "\x0a8.0.36\x00\x01\x00\x00\x00abcdefgh\x00\xff\xf7\x2d\x02\x00\xff\xc1\x15\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00ijklmnopqrst\x00caching_sha2_password\x00"
	httpSays = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n400 Bad Request"
	// versions says that Kafka takes Metadata 0 to 12, and ApiVersions.
	versions = "\x00\x00\x00\x00\x00\x02\x00\x03\x00\x00\x00\x0c\x00\x12\x00\x00\x00\x03"
	brokers  = "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x01h\x00\x00\x23\x84\xff\xff\x00\x01c"
	start    = "\x01\x00\x00\x00\x00\x00\x04\x00\x0a\x00\x0a\xce"
)

// answers are what servers say, and what is made of that.
var answers = []struct{ name, target, says, want string }{
	{"asks for a password", "postgres://h", pg('R', "\x00\x00\x00\x0aSCRAM-SHA-256\x00\x00"), ""},
	{"lets everybody in", "postgres://h/app", pg('R', "\x00\x00\x00\x00") + pg('S', "a\x00b\x00") + pg('K', "12345678") + pg('Z', "I"), ""},
	{"knows another minor version", "postgresql://h", pg('v', "\x00\x00\x00\x00\x00\x00\x00\x00") + pg('R', "\x00\x00\x00\x03"), ""},
	{"is starting", "postgres://h", pgError("57P03", "the database system is starting up"), "not ready: the database system is starting up"},
	{"is stopping", "postgres://h", pgError("57P03", "the database system is shutting down"), "not ready: the database system is shutting down"},
	{"is full", "postgres://h", pgError("53300", "sorry, too many clients already"), "not ready: sorry, too many clients already"},
	{"does not let us in", "postgres://h", pgError("28000", "no pg_hba.conf entry"), ""},
	{"has no such database", "postgres://h/app", pg('R', "\x00\x00\x00\x00") + pgError("3D000", `database "app" does not exist`), `not ready: database "app" does not exist`},
	{"has no database postgres", "postgres://h", pgError("3D000", `database "postgres" does not exist`), ""},
	{"cannot start a process", "postgres://h", "Ecould not fork new process for connection: Out of memory\n\x00", "not ready: could not fork new process for connection: Out of memory"},
	{"writes to the terminal", "postgres://h", pgError("57P03", "\x1b[2J\x07wait\nwell"), "not ready: [2J wait well"},
	{"an error without a code", "postgres://h", pg('E', "SFATAL\x00\x00"), `the answer is not PostgreSQL, it begins "ESFATAL"`},
	{"huge", "postgres://h", "R\x7f\xff\xff\xff", `the answer is not PostgreSQL, it begins "R ?"`},
	{"less than nothing", "postgres://h", "R\x80\x00\x00\x00", `the answer is not PostgreSQL, it begins "R?"`},
	{"short", "postgres://h", pg('R', "\x00"), `the answer is not PostgreSQL, it begins "R"`},
	{"half", "postgres://h", pg('R', "\x00\x00\x00\x00")[:6], closed},
	{"goes on for ever", "postgres://h", pg('R', "\x00\x00\x00\x00") + strings.Repeat(pg('S', "a\x00b\x00"), 10000), closed},

	{"a pong", "redis://h", "+PONG\r\n", ""},
	{"asks for a password", "redis://h/0", "-NOAUTH Authentication required.\r\n", ""},
	{"takes the password", "redis://:pw@h", "+OK\r\n+PONG\r\n", ""},
	{"does not take the password", "redis://me:pw@h", "-WRONGPASS invalid username-password pair\r\n-NOAUTH\r\n", "denied: WRONGPASS invalid username-password pair"},
	{"an old one does not", "redis://:pw@h", "-ERR invalid password\r\n", "denied: ERR invalid password"},
	{"has no password", "redis://:pw@h", "-ERR Client sent AUTH, but no password is set\r\n+PONG\r\n", ""},
	{"is loading", "redis://h", "-LOADING Redis is loading the dataset in memory\r\n", "not ready: LOADING Redis is loading the dataset in memory"},
	{"is loading, and knows us", "redis://:pw@h", "+OK\r\n-LOADING Redis is loading\r\n", "not ready: LOADING Redis is loading"},
	{"is full", "redis://h", "-ERR max number of clients reached\r\n", "not ready: ERR max number of clients reached"},
	{"has lost its master", "redis://h", "-MASTERDOWN Link with MASTER is down\r\n", "not ready: MASTERDOWN Link with MASTER is down"},
	{"a line without an end", "redis://h", strings.Repeat("+", 100000), `the answer is not Redis, it begins "` + strings.Repeat("+", 59) + `…"`},
	{"another word", "redis://h", "+PONGO\r\n", `the answer is not Redis, it begins "+PONGO"`},
	{"half", "redis://h", "+PO", closed},

	{"lets nobody in", "mysql://h", my(0, greeting) + my(2, "\xff\x15\x04#28000Access denied for user"), ""},
	{"lets everybody in", "mysql://me:pw@h/app", my(0, greeting) + my(2, "\x00\x00\x00\x02\x00\x00\x00"), ""},
	{"demands another proof", "mysql://h", my(0, greeting) + my(2, "\xfecaching_sha2_password\x00abc") + my(4, "\xff\x15\x04#28000Access denied"), ""},
	{"demands proofs for ever", "mysql://h", my(0, greeting) + strings.Repeat(my(2, "\xfex\x00"), 9), ""},
	{"is full", "mysql://h", my(0, "\xff\x10\x04Too many connections"), "not ready: Too many connections"},
	{"is full, and says the state", "mysql://h", my(0, "\xff\x10\x04#08004Too many connections"), "not ready: Too many connections"},
	{"has blocked us", "mysql://h", my(0, "\xff\x69\x04Host 'x' is blocked because of many connection errors"), "not ready: Host 'x' is blocked because of many connection errors"},
	{"stops meanwhile", "mysql://h", my(0, greeting) + my(2, "\xff\x1d\x04#08S01Server shutdown in progress"), "not ready: Server shutdown in progress"},
	{"an error without words", "mysql://h", my(0, "\xff\x10"), `the answer is not MySQL, it begins "?"`},
	{"huge", "mysql://h", "\xff\xff\xff\x00\x0a", `the answer is not MySQL, it begins "?"`},
	{"empty", "mysql://h", "\x00\x00\x00\x00\x00", "the answer is not MySQL"},
	{"another version", "mysql://h", my(0, strings.Replace(greeting, "\x0a", "\x09", 1)), `the answer is not MySQL, it begins "8.0.36 abcdefgh`},
	{"half", "mysql://h", my(0, greeting)[:20], closed},
	{"nothing after the greeting", "mysql://h", my(0, greeting), closed},

	{"starts", "amqp://h/vhost", start, ""},
	{"starts another AMQP", "amqp://h", "AMQP\x00\x01\x00\x00", "the server speaks AMQP 1-0-0"},
	{"closes", "amqp://h", "\x01\x00\x00\x00\x00\x00\x12\x00\x0a\x00\x32\x01\x40\x07not yet\x00\x00\x00\x00\xce", "not ready: not yet"},
	{"another class", "amqp://h", strings.Replace(start, "\x00\x0a\x00\x0a", "\x00\x14\x00\x0a", 1), "the answer is not AMQP 0-9-1"},
	{"no end of the frame", "amqp://h", strings.Replace(start, "\xce", "\x00", 1), "the answer is not AMQP 0-9-1"},
	{"huge", "amqp://h", "\x01\x00\x00\xff\xff\xff\xff\x00", "the answer is not AMQP 0-9-1"},
	{"half", "amqp://h", start[:9], closed},
	{"hangs up", "amqp://h", "", closed},

	{"greets and pongs", "nats://h", "INFO {\"server_id\":\"x\"}\r\nPING\r\nPONG\r\n", ""},
	{"asks who we are", "nats://h", "INFO {\"auth_required\":true}\r\n", ""},
	{"asks for TLS", "nats://h", "INFO {\"tls_required\":true}\r\n", ""},
	{"does not let us in", "nats://h", "INFO {}\r\n-ERR 'Authorization Violation'\r\n", ""},
	{"is about to stop", "nats://h", "INFO {\"ldm\":true}\r\n", "not ready: lame duck mode"},
	{"is full", "nats://h", "INFO {}\r\n-ERR 'maximum connections exceeded'\r\n", "not ready: maximum connections exceeded"},
	{"is full at once", "nats://h", "-ERR 'maximum connections exceeded'\r\n", "not ready: maximum connections exceeded"},
	{"an error without words", "nats://h", "-ERR\r\n", "not ready: -ERR"},
	{"no object", "nats://h", "INFO [\r\n", `the answer is not NATS, it begins "INFO ["`},
	{"never pongs", "nats://h", "INFO {}\r\n" + strings.Repeat("PING\r\n", 99), `the answer is not NATS, it begins "INFO {}"`},
	{"says only hello", "nats://h", "INFO {}\r\n", closed},

	{"knows brokers and who leads", "kafka://h", kf(1, versions) + kf(2, brokers+"\x00\x00\x00\x01\x00\x00\x00\x00"), ""},
	{"knows nobody who leads", "kafka://h", kf(1, versions) + kf(2, brokers+"\xff\xff\xff\xff\x00\x00\x00\x00"), "not ready: no controller is known"},
	{"knows no broker", "kafka://h", kf(1, versions) + kf(2, "\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00"), "not ready: no broker is known"},
	{"hangs up on who it does not know", "kafka://h", kf(1, versions), ""},
	{"takes no question about brokers", "kafka://h", kf(1, "\x00\x00\x00\x00\x00\x01\x00\x12\x00\x00\x00\x03"), ""},
	{"an error", "kafka://h", kf(1, "\x00\x23\x00\x00\x00\x00"), "not ready: UNSUPPORTED_VERSION"},
	{"an error of another number", "kafka://h", kf(1, "\x00\x63\x00\x00\x00\x00"), "not ready: error 99"},
	{"another number of the answer", "kafka://h", kf(7, versions), "the answer is not Kafka"},
	{"more versions than there are", "kafka://h", kf(1, "\x00\x00\x7f\xff\xff\xff"), "the answer is not Kafka"},
	{"more brokers than there are", "kafka://h", kf(1, versions) + kf(2, "\x00\x00\x00\x00\x7f\xff\xff\xff"), "the answer is not Kafka"},
	{"huge", "kafka://h", "\x7f\xff\xff\xff\x00\x00\x00\x01", "the answer is not Kafka"},
	{"half", "kafka://h", kf(1, versions)[:10], closed},
	{"half of the second", "kafka://h", kf(1, versions) + kf(2, brokers)[:10], closed},
}

func TestAnswers(t *testing.T) {
	for _, test := range answers {
		t.Run(test.target+" "+test.name, func(t *testing.T) {
			got, _ := asked(t, test.target, test.says)
			if got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestForeignAnswers has each protocol hear what is none of its own.
func TestForeignAnswers(t *testing.T) {
	for _, s := range servers {
		target := s.scheme + "://h:1"
		for _, says := range []string{httpSays, "SSH-2.0-OpenSSH_9.6\r\n", "220 mail.example.org ESMTP\r\n", "\x15\x03\x01\x00\x02\x02\x46", "\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff"} {
			got, _ := asked(t, target, says)
			if !strings.HasPrefix(got, "the answer is not ") && got != closed {
				t.Errorf("%s takes %q for %q", s.scheme, says, got)
			}
		}
		if got, _ := asked(t, target, ""); got != closed {
			t.Errorf("%s that hangs up: %q", s.scheme, got)
		}
	}
}

// TestPasswordsAreSentToRedisAlone: nobody logs in elsewhere.
func TestPasswordsAreSentToRedisAlone(t *testing.T) {
	for _, test := range answers {
		scheme, _, _ := strings.Cut(test.target, "://")
		_, told := asked(t, scheme+"://me:hunter2@h:1", test.says)
		if strings.Contains(told, "hunter2") != (scheme == "redis") {
			t.Errorf("%s is told %q", scheme, told)
		}
	}
}

// FuzzAnswers holds what is made of an answer to be printable and short, and not to take long, whatever was said.
func FuzzAnswers(f *testing.F) {
	index := map[string]int{}
	for i, s := range servers {
		index[s.scheme] = i
	}
	for _, test := range answers {
		scheme, _, _ := strings.Cut(test.target, "://")
		f.Add(index[scheme], []byte(test.says))
	}
	f.Fuzz(func(t *testing.T, i int, says []byte) {
		s := servers[(i%len(servers)+len(servers))%len(servers)]
		words, _ := asked(t, s.scheme+"://me:pw@h:1", string(says))
		if len(words) > 1000 || strings.ContainsFunc(words, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%s: %q", s.scheme, words)
		}
	})
}

func grpcSays(status string) []byte {
	return append([]byte{0, 0, 0, 0, byte(len(status))}, status...)
}

func TestJudgeGRPC(t *testing.T) {
	for _, test := range []struct {
		name, status, message string
		body                  []byte
		want                  string
	}{
		{"serves", "0", "", grpcSays("\x08\x01"), ""},
		{"serves, and says more", "0", "", grpcSays("\x12\x03abc\x08\x01\x1d1234\x21" + "12345678"), ""},
		{"does not serve", "0", "", grpcSays("\x08\x02"), "not ready: NOT_SERVING"},
		{"does not know", "0", "", grpcSays(""), "not ready: UNKNOWN"},
		{"knows no such service", "0", "", grpcSays("\x08\x03"), "not ready: SERVICE_UNKNOWN"},
		{"something new", "0", "", grpcSays("\x08\x09"), "not ready: status 9"},
		{"knows no such service, as a status", "5", "unknown%20service", nil, "not ready: NOT_FOUND: unknown service"},
		{"is overloaded", "14", "", nil, "not ready: UNAVAILABLE"},
		{"has no health service", "12", "unknown service grpc.health.v1.Health", nil, "no health service: UNIMPLEMENTED: unknown service grpc.health.v1.Health"},
		{"does not know us", "16", "no%0Atoken", nil, "denied: UNAUTHENTICATED: no token"},
		{"no status", "", "", grpcSays("\x08\x01"), `the answer is not gRPC, it begins "grpc-status"`},
		{"a strange status", "-1", "", nil, "the answer is not gRPC"},
		{"no frame", "0", "", nil, "the answer is not gRPC"},
		{"compressed", "0", "", []byte{1, 0, 0, 0, 2, 8, 1}, "the answer is not gRPC"},
		{"longer than it is", "0", "", []byte{0, 0xff, 0xff, 0xff, 0xff, 8, 1}, "the answer is not gRPC"},
		{"no end of a number", "0", "", grpcSays("\x08\xff"), "the answer is not gRPC"},
		{"a text longer than it is", "0", "", grpcSays("\x12\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), "the answer is not gRPC"},
	} {
		got := ""
		if err := judgeGRPC(test.status, test.message, test.body); err != nil {
			got = err.Error()
		}
		if got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func FuzzGRPC(f *testing.F) {
	f.Add("0", "a%20b", []byte{0, 0, 0, 0, 2, 8, 1})
	f.Fuzz(func(t *testing.T, status, message string, body []byte) {
		if err := judgeGRPC(status, message, body); err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q", err)
		}
	})
}

// TestGRPC asks a server of HTTP/2 that answers as gRPC does, in the clear and with TLS.
func TestGRPC(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/grpc+proto")
		w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
		status := "\x08\x01"
		switch {
		case r.URL.Path != "/grpc.health.v1.Health/Check" || r.Method != "POST" || r.Header.Get("Te") != "trailers" || r.ProtoMajor != 2:
			w.Header().Set("Grpc-Status", "3")
			return
		case strings.HasSuffix(string(body), "down"):
			status = "\x08\x02"
		case strings.HasSuffix(string(body), "none"):
			w.Header().Set("Grpc-Status", "12")
			return
		}
		w.Write(grpcSays(status))
		w.Header().Set("Grpc-Status", "0")
	}
	clear := &http.Server{Handler: http.HandlerFunc(answer), Protocols: new(http.Protocols)}
	clear.Protocols.SetUnencryptedHTTP2(true)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go clear.Serve(l)
	t.Cleanup(func() { clear.Close() })
	web := oldWeb(t)
	secure := httptest.NewUnstartedServer(http.HandlerFunc(answer))
	secure.EnableHTTP2 = true
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for _, test := range []struct{ target, want string }{
		{"grpc://" + l.Addr().String(), ""},
		{"grpc://" + l.Addr().String() + "/app.Up", ""},
		{"grpc://" + l.Addr().String() + "/app.down", "not ready: NOT_SERVING"},
		{"grpc://" + l.Addr().String() + "/none", "no health service: UNIMPLEMENTED"},
		{strings.Replace(secure.URL, "https", "grpcs", 1), ""},
		{strings.Replace(secure.URL, "https", "grpcs", 1) + "/down", "not ready: NOT_SERVING"},
		{"grpc://" + web, "the answer is not gRPC"},
	} {
		got := once(t, Options{Insecure: true}, test.target).Last.String()
		if got != test.want && (test.want == "" || !strings.HasPrefix(got, test.want)) {
			t.Errorf("%s: %q, want %q", test.target, got, test.want)
		}
	}
}

// oldWeb is a web server that does not know HTTP/2. It answers once the request is there, and leaves it to the client to hang up, so
// that its answer is always read, and as one to the request.
func oldWeb(t *testing.T) (address string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				if err := readRequest(conn); err != nil {
					return
				}
				io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
				io.Copy(io.Discard, conn)
			}()
		}
	}()
	return l.Addr().String()
}

// readRequest reads the preface of HTTP/2 and its frames as far as the headers of a request. RFC 9113, sections 3.4 and 4.1.
func readRequest(conn net.Conn) error {
	const preface, headers = 24, 1
	if _, err := io.CopyN(io.Discard, conn, preface); err != nil {
		return err
	}
	for {
		var head [9]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return err
		}
		length := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, conn, length); err != nil || head[3] == headers {
			return err
		}
	}
}
