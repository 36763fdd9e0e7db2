package notify

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/notify/notifytest"
	"github.com/ouro-timer/ouro-timer/state"
)

// listen is a listener on this machine that is closed at the end of the test.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// web serves answers, and returns the server and its address.
func web(t *testing.T, answers ...string) (*notifytest.Web, string) {
	t.Helper()
	l := listen(t)
	w := &notifytest.Web{Answers: answers}
	go w.Serve(l, nil)
	return w, l.Addr().String()
}

var present = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// outside is an Env with such variables.
func outside(vars map[string]string) Env {
	return Env{Getenv: func(name string) string { return vars[name] }, Now: func() time.Time { return present }}
}

// fault is the error a call ends with, which must be an *Error.
func fault(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v (%T) is no *Error", err, err)
	}
	return e
}

func TestWebhookRequest(t *testing.T) {
	w, address := web(t, notifytest.Answer(204, ""))
	c := state.Channel{Name: "ops", Type: Webhook, URL: "http://me:pw@" + address + "/hook?a=b", Secret: "s3cret"}
	m := Message{ID: "k7m2/3", Subject: "S", Body: "żółw <b>", Event: json.RawMessage(`{"x":"żółw <b>"}`)}
	detail, err := Send(t.Context(), c, m, outside(nil))
	if err != nil || detail != "Told by http://"+address+"/…." {
		t.Fatal(detail, err)
	}
	want := "POST /hook?a=b HTTP/1.1\r\nHost: " + address + "\r\nUser-Agent: ouro-timer\r\nContent-Length: 19\r\nAuthorization: Basic bWU6cHc=\r\n" +
		"Content-Type: application/json\r\nX-Ouro-Id: k7m2/3\r\n" +
		// printf %s '{"x":"żółw <b>"}' | openssl dgst -sha256 -hmac s3cret
		"X-Ouro-Signature: sha256=26c3834b4d06477b9cba5f81e301cc7d163c7e692bfa8b5feb9d62f697d7a4a7\r\n" +
		"Accept-Encoding: gzip\r\nConnection: close\r\n\r\n" + `{"x":"żółw <b>"}`
	if got := w.Asked(); len(got) != 1 || got[0] != want {
		t.Errorf("%q\nwant %q", got, want)
	}
}

func TestWebhookEvent(t *testing.T) {
	w, address := web(t, notifytest.Answer(200, "fine"))
	c := state.Channel{Name: "ops", Type: Webhook, URL: "http://" + address, To: "bob"}
	if _, err := Send(t.Context(), c, Message{Body: "two\nlines", HTML: true}, outside(nil)); err != nil {
		t.Fatal(err)
	}
	want := `{"id":null,"subject":null,"body":"two\nlines","to":"bob","html":true,"now":"2026-11-21T09:00:00Z"}`
	if got := w.Asked()[0]; !strings.HasSuffix(got, "\r\n\r\n"+want) || strings.Contains(got, "X-Ouro") {
		t.Errorf("%q, want the body %s", got, want)
	}
}

func TestWebhookAnswers(t *testing.T) {
	for _, row := range []struct {
		name, answer string
		permanent    bool
		again        time.Duration
		say          string
	}{
		{"a server error passes", notifytest.Answer(503, "busy"), false, 0, "answers 503 Service Unavailable: busy"},
		{"too many", notifytest.Answer(429, "", "Retry-After: 7"), false, 7 * time.Second, "answers 429 Too Many Requests"},
		{"until a date", notifytest.Answer(503, "", "Retry-After: Sat, 21 Nov 2026 09:01:00 GMT"), false, time.Minute, "503"},
		{"a date that has passed", notifytest.Answer(503, "", "Retry-After: Sat, 21 Nov 2026 08:01:00 GMT"), false, 0, "503"},
		{"nonsense", notifytest.Answer(503, "", "Retry-After: soon"), false, 0, "503"},
		{"for a year", notifytest.Answer(503, "", "Retry-After: 99999999999"), false, 24 * time.Hour, "503"},
		{"not found", notifytest.Answer(404, ""), true, 0, "answers 404 Not Found"},
		{"forbidden", notifytest.Answer(403, "no \x1b[31mway\nsecond line"), true, 0, `no \x1b[31mway`},
		{"moved", notifytest.Answer(307, "", "Location: http://127.0.0.1:1/elsewhere"), true, 0, "redirects are not followed"},
		{"the answer quotes our secrets", notifytest.Answer(400, "bad: token-in-path key=token-in-query s3cret hunter2"), true, 0, "bad: … … … …"},
		{"no HTTP", "220 mail.test ESMTP\r\n", false, 0, "malformed HTTP"},
		{"cut short", "HTTP/1.1 200 OK\r\nContent-Le", false, 0, "malformed"},
		{"a header without end", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20), false, 0, "header"},
	} {
		w, address := web(t, row.answer)
		c := state.Channel{Name: "ops", Type: Webhook, URL: "http://user:hunter2@" + address + "/token-in-path?key=token-in-query", Secret: "s3cret"}
		_, err := Send(t.Context(), c, Message{Body: "x"}, outside(nil))
		e := fault(t, err)
		if e.Permanent != row.permanent || e.Here || e.RetryAfter != row.again || !strings.Contains(e.Text, row.say) {
			t.Errorf("%s: %+v, want %v %v %q", row.name, e, row.permanent, row.again, row.say)
		}
		for _, secret := range []string{"token-in", "hunter2", "s3cret", "\x1b"} {
			if strings.Contains(e.Text, secret) {
				t.Errorf("%s: %q shows %q", row.name, e.Text, secret)
			}
		}
		if n := len(w.Asked()); n != 1 {
			t.Errorf("%s: asked %d times", row.name, n)
		}
	}
}

// TestWebhookEndlessAnswer: an answer that never ends is not read to its end.
func TestWebhookEndlessAnswer(t *testing.T) {
	l := listen(t)
	wrote := make(chan int, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		conn.Read(make([]byte, 64<<10))
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
		total := 0
		for {
			n, err := conn.Write(make([]byte, 64<<10))
			if total += n; err != nil {
				wrote <- total
				return
			}
		}
	}()
	if _, err := Send(t.Context(), state.Channel{Name: "ops", Type: Webhook, URL: "http://" + l.Addr().String()}, Message{Body: "x"}, outside(nil)); err != nil {
		t.Fatal(err)
	}
	if n := <-wrote; n > 64<<20 {
		t.Errorf("%d bytes were taken", n)
	}
}

func TestWebhookThatHangs(t *testing.T) {
	_, address := web(t, "")
	c := state.Channel{Name: "ops", Type: Webhook, URL: "http://" + address, Timeout: "50ms"}
	_, err := Send(t.Context(), c, Message{Body: "x"}, outside(nil))
	if e := fault(t, err); e.Permanent || e.Text != "ops did not answer within 50ms" {
		t.Errorf("%+v", e)
	}
	// The caller's own end is not fault of the channel.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Send(ctx, c, Message{Body: "x"}, outside(nil)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestWebhookTLS(t *testing.T) {
	for _, row := range []struct {
		name, host string
		end        time.Time
		permanent  bool
		say        string
	}{
		{"nobody known signed it", "", time.Now().Add(time.Hour), true, "certificate"},
		{"for another name", "elsewhere.test", time.Now().Add(time.Hour), true, "certificate"},
		{"out of date", "", time.Now().Add(-time.Hour), false, "expired"},
	} {
		config, _, err := notifytest.Certificate(row.host, row.end)
		if err != nil {
			t.Fatal(err)
		}
		l := listen(t)
		go (&notifytest.Web{Answers: []string{notifytest.Answer(200, "")}}).Serve(tls.NewListener(l, config), nil)
		_, err = Send(t.Context(), state.Channel{Name: "ops", URL: "https://" + l.Addr().String() + "/token"}, Message{Body: "x"}, outside(nil))
		if e := fault(t, err); e.Permanent != row.permanent || e.Here != row.permanent || !strings.Contains(e.Text, row.say) || strings.Contains(e.Text, "token") {
			t.Errorf("%s: %+v", row.name, e)
		}
	}
	// A server that speaks no TLS.
	_, address := web(t, notifytest.Answer(200, ""))
	_, err := Send(t.Context(), state.Channel{Name: "ops", URL: "https://" + address + "/token"}, Message{Body: "x"}, outside(nil))
	if e := fault(t, err); e.Permanent || strings.Contains(e.Text, "token") {
		t.Errorf("no TLS: %+v", e)
	}
}

func TestResendRequest(t *testing.T) {
	w, address := web(t, notifytest.Answer(200, `{"id":"49a3999c"}`))
	vars := map[string]string{"RESEND_API_KEY": "re_1234", "NOTIFY_EMAIL_FROM": "Ouro <ouro@example.org>", "RESEND_BASE_URL": "http://" + address + "/"}
	c := state.Channel{Name: "email", Type: Email, Key: "not this", From: "not@this"}
	detail, err := Send(t.Context(), c, Message{ID: "k7m2/3", Subject: "Zażółć", Body: "text & <b>", To: "bob@example.org"}, outside(vars))
	if err != nil || detail != "Email sent successfully to bob@example.org." {
		t.Fatal(detail, err)
	}
	body := `{"from":"Ouro <ouro@example.org>","to":["bob@example.org"],"subject":"Zażółć","text":"text & <b>"}`
	want := fmt.Sprintf("POST /emails HTTP/1.1\r\nHost: %s\r\nUser-Agent: ouro-timer\r\nContent-Length: %d\r\nAuthorization: Bearer re_1234\r\n"+
		"Content-Type: application/json\r\nIdempotency-Key: k7m2/3/1107870f117b1ee4\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n%s", address, len(body), body)
	if got := w.Asked(); len(got) != 1 || got[0] != want {
		t.Errorf("%q\nwant %q", got, want)
	}

	if _, err := Send(t.Context(), c, Message{Body: "<p>Hello <i>Bob</i></p>", HTML: true, To: "bob@example.org"}, outside(vars)); err != nil {
		t.Fatal(err)
	}
	want = `{"from":"Ouro <ouro@example.org>","to":["bob@example.org"],"subject":"Hello Bob","text":"Hello Bob","html":"<p>Hello <i>Bob</i></p>"}`
	if got := w.Asked()[1]; !strings.HasSuffix(got, "\r\n\r\n"+want) || strings.Contains(got, "Idempotency") {
		t.Errorf("%q, want the body %s", got, want)
	}
}

func TestResendAnswers(t *testing.T) {
	for _, row := range []struct {
		name, answer string
		permanent    bool
		again        time.Duration
		say          string
	}{
		{"its message", notifytest.Answer(422, `{"statusCode":422,"name":"validation_error","message":"The domain is not verified."}`), true, 0,
			"answers 422 Unprocessable Entity: The domain is not verified."},
		{"a wrong key", notifytest.Answer(401, `{"name":"invalid_api_key","message":"API key re_1234 is invalid"}`), true, 0, "API key … is invalid"},
		{"too fast", notifytest.Answer(429, `{"name":"rate_limit_exceeded","message":"Too many requests"}`, "Retry-After: 1"), false, time.Second, "Too many requests"},
		{"its fault", notifytest.Answer(500, `{"message":"Internal"}`), false, 0, "500 Internal Server Error: Internal"},
		{"a page of a proxy", notifytest.Answer(200, "<html>sign in</html>"), false, 0, " answered 200, but not as Resend does"},
		{"nothing said", notifytest.Answer(200, ""), false, 0, " answered 200, but not as Resend does"},
		{"another's JSON", notifytest.Answer(200, `{"ok":true,"key":"re_1234"}`), false, 0, " answered 200, but not as Resend does"},
		{"an id of nothing", notifytest.Answer(202, `{"id":""}`), false, 0, " answered 202, but not as Resend does"},
		{"not JSON", notifytest.Answer(502, "<html>bad gateway</html>"), false, 0, "502"},
		{"the same is under way", notifytest.Answer(409, `{"name":"concurrent_idempotent_requests","message":"in progress"}`), false, 0, "in progress"},
		{"the same key for another", notifytest.Answer(409, `{"name":"invalid_idempotent_request","message":"different payload"}`), true, 0, "different payload"},
	} {
		_, address := web(t, row.answer)
		vars := map[string]string{"RESEND_API_KEY": "re_1234", "NOTIFY_EMAIL_FROM": "a@example.org", "RESEND_BASE_URL": "http://" + address}
		_, err := Send(t.Context(), state.Channel{Name: "email", Type: Email}, Message{ID: "x/1", Body: "x", To: "b@example.org"}, outside(vars))
		if e := fault(t, err); e.Permanent != row.permanent || e.Here || e.RetryAfter != row.again || !strings.Contains(e.Text, row.say) || strings.Contains(e.Text, "re_1234") {
			t.Errorf("%s: %+v", row.name, e)
		}
	}
}

// TestEmailSettings: the environment, then the channel, then the family's file.
func TestEmailSettings(t *testing.T) {
	w, address := web(t, notifytest.Answer(200, `{"id":"49a3999c"}`))
	home, shared := t.TempDir(), t.TempDir()
	file := filepath.Join(home, "config")
	send := func(c state.Channel, vars map[string]string) (string, error) {
		c.Name, c.Type = "email", Email
		env := outside(vars)
		vars["RESEND_BASE_URL"], env.Homes = "http://"+address, []string{home, shared}
		_, err := Send(t.Context(), c, Message{Body: "x", To: "b@example.org"}, env)
		if err != nil {
			return "", err
		}
		asked := w.Asked()
		_, key, _ := strings.Cut(asked[len(asked)-1], "Bearer ")
		key, _, _ = strings.Cut(key, "\r\n")
		_, from, _ := strings.Cut(asked[len(asked)-1], `"from":"`)
		from, _, _ = strings.Cut(from, `"`)
		return key + " " + from, nil
	}
	text := "# ours\nMODEL=x\nexport RESEND_API_KEY=\"re_file\" # the key\nNOTIFY_EMAIL_FROM='File # <file@example.org>'\n RESEND_API_KEY = re_last # not this\nbroken\n=x\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		c    state.Channel
		vars map[string]string
		want string
	}{
		{state.Channel{}, map[string]string{}, "re_last File # <file@example.org>"},
		{state.Channel{Key: "re_chan", From: "chan@example.org"}, map[string]string{}, "re_chan chan@example.org"},
		{state.Channel{Key: "re_chan", From: "chan@example.org"}, map[string]string{"RESEND_API_KEY": "re_env"}, "re_env chan@example.org"},
		{state.Channel{Key: "re_chan"}, map[string]string{"NOTIFY_EMAIL_FROM": "env@example.org"}, "re_chan env@example.org"},
	} {
		if got, err := send(row.c, row.vars); err != nil || got != row.want {
			t.Errorf("%+v %v: %q %v, want %q", row.c, row.vars, got, err, row.want)
		}
	}
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604} {
		os.Chmod(file, mode)
		_, err := send(state.Channel{From: "a@example.org"}, map[string]string{})
		if e := fault(t, err); !e.Permanent || !e.Here || !strings.Contains(e.Text, file) || !strings.Contains(e.Text, "chmod 600") || strings.Contains(e.Text, "re_") {
			t.Errorf("mode %o: %+v", mode, e)
		}
		// It is not read when nothing of it is needed.
		if _, err := send(state.Channel{Key: "k", From: "a@example.org"}, map[string]string{}); err != nil {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	// What one's own folder does not say, the folder of the family says.
	if err := os.WriteFile(filepath.Join(shared, "config"), []byte("RESEND_API_KEY=re_shared\nNOTIFY_EMAIL_FROM=shared@example.org\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Remove(file)
	if got, err := send(state.Channel{}, map[string]string{}); err != nil || got != "re_shared shared@example.org" {
		t.Errorf("%q %v", got, err)
	}
	if err := os.WriteFile(file, []byte("RESEND_API_KEY=re_own\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := send(state.Channel{}, map[string]string{}); err != nil || got != "re_own shared@example.org" {
		t.Errorf("%q %v", got, err)
	}
	os.Remove(file)
	os.Remove(filepath.Join(shared, "config"))
	_, err := send(state.Channel{From: "a@example.org"}, map[string]string{})
	if e := fault(t, err); !e.Here || !strings.Contains(e.Text, "set RESEND_API_KEY") {
		t.Errorf("%+v", e)
	}
	_, err = send(state.Channel{Key: "re_1"}, map[string]string{})
	if e := fault(t, err); !strings.Contains(e.Text, "set NOTIFY_EMAIL_FROM") {
		t.Errorf("%+v", e)
	}
	_, err = send(state.Channel{}, map[string]string{})
	want := "email has no sender and no key of Resend: set NOTIFY_EMAIL_FROM and RESEND_API_KEY in the environment or in " + filepath.Join(shared, "config") +
		", or from = \"…\" and key = \"…\" under [channels.email] in config.toml; or give it a host there to send by SMTP"
	if e := fault(t, err); e.Text != want {
		t.Errorf("%s", e.Text)
	}
	if n := len(w.Asked()); n != 9 {
		t.Errorf("%d requests were made", n)
	}
}
