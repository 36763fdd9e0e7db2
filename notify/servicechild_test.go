package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
)

const slackURL = "slack://hook:T00000000-B00000000-XXXXXXXXXXXXXXXXXXXXXXXX@webhook"

// stub is a program in the place of our own: a script of a shell.
func stub(t *testing.T, script string) Env {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	// A file that was just written cannot always be executed while other tests fork, but a shell can read it.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, TellCommand), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	values := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": dir, "TZ": "UTC", "HTTP_PROXY": "p1", "HTTPS_PROXY": "p2", "NO_PROXY": "p3", "http_proxy": "p4",
		"https_proxy": "p5", "no_proxy": "p6", "SSL_CERT_FILE": "c1", "SSL_CERT_DIR": "c2",
		"OURO_HOME": "x", "RESEND_API_KEY": "x", "LD_PRELOAD": "x", "GODEBUG": "x", "SSH_AUTH_SOCK": "x",
	}
	return Env{Getenv: func(name string) string { return values[name] }, Self: sh, Now: time.Now}
}

// TestServiceChild turns every end of a child that is no answer into an error of the service.
func TestServiceChild(t *testing.T) {
	yes := `echo '{"ok":true,"cut":0,"error":"","permanent":false,"retry_after":0}'`
	for _, c := range []struct{ name, script, want string }{
		{"nothing", "exit 0", "without an answer"},
		{"an exit code", "exit 7", "(exit status 7)"},
		{"a signal", "kill -SEGV $$", "(signal: segmentation fault"},
		{"a panic", `echo "panic: cannot post to https://hooks.slack.com/services/T00000000/XXXXXXXXXXXXXXXXXXXXXXXX" >&2; exit 2`, "(exit status 2): panic: cannot post to …"},
		{"a panic that names the token", `echo "panic: XXXXXXXXXXXXXXXXXXXXXXXX" >&2; exit 2`, "(exit status 2): panic: …"},
		{"words", "echo hello", "without an answer"},
		{"no object", "echo 7", "without an answer"},
		{"an object without an answer", "echo '{}'", "without an answer"},
		{"a failure without a reason", `echo '{"ok":false,"error":""}'`, "without an answer"},
		{"another object", `echo '{"ok":true,"sent":1}'`, "without an answer"},
		{"two answers", yes + "; " + yes, "without an answer"},
		{"words behind the answer", yes + "; echo done", "without an answer"},
		{"words before the answer", "echo sending; " + yes, "without an answer"},
		{"half an answer", `printf '{"ok":true'`, "without an answer"},
		{"too much", "head -c 1000000 /dev/zero | tr '\\0' ' '; " + yes, "more than 16384 bytes"},
		{"much on the other stream", "head -c 1000000 /dev/zero >&2; exit 1", "(exit status 1)"},
	} {
		env := stub(t, c.script)
		_, err := sendService(t.Context(), state.Channel{Name: "mine", URL: slackURL}, told, env)
		e, ok := err.(*Error)
		if !ok || e.Permanent || !strings.HasPrefix(e.Text, "Slack: ") || !strings.Contains(e.Text, c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		} else if strings.Contains(e.Text, "XXXXXXXX") || strings.Contains(e.Text, "hooks.slack.com") {
			t.Errorf("%s: too much is shown: %s", c.name, e.Text)
		}
	}
	env := stub(t, yes)
	if detail, err := sendService(t.Context(), state.Channel{URL: slackURL}, told, env); err != nil || detail != "Sent to Slack." {
		t.Errorf("%q, %v", detail, err)
	}
	env = stub(t, `echo '{"ok":true,"cut":12}'`)
	if detail, err := sendService(t.Context(), state.Channel{URL: slackURL}, told, env); err != nil || !strings.Contains(detail, "without the last 12 bytes") {
		t.Errorf("%q, %v", detail, err)
	}
	env = stub(t, `echo '{"ok":false,"error":"it answered 429","permanent":false,"retry_after":1.5}'`)
	if _, err := sendService(t.Context(), state.Channel{URL: slackURL}, told, env); err.(*Error).RetryAfter != 1500*time.Millisecond {
		t.Errorf("%+v", err)
	}
	env.Self = filepath.Join(t.TempDir(), "gone")
	if _, err := sendService(t.Context(), state.Channel{URL: slackURL}, told, env); err == nil || !strings.Contains(err.Error(), "could not be started") {
		t.Error(err)
	}
}

// TestServiceChildGets shows what the child is given, on standard input and in its environment.
func TestServiceChildGets(t *testing.T) {
	env := stub(t, `cat >in; env >env; echo '{"ok":true}'`)
	m := Message{ID: "k7m2/3", Subject: "s", Body: "<p>a &amp; b</p>", HTML: true}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if _, err := sendService(ctx, state.Channel{URL: slackURL}, m, env); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile("in")
	if err != nil {
		t.Fatal(err)
	}
	var got tellRequest
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if got.Seconds < 3000 || got.Seconds > 3600 {
		t.Errorf("it has %v seconds", got.Seconds)
	}
	got.Seconds = 0
	if want := (tellRequest{URL: slackURL, Subject: "s", Body: "a & b", ID: "k7m2/3"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	raw, err = os.ReadFile("env")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		name, _, _ := strings.Cut(line, "=")
		if !slices.Contains([]string{"PWD", "OLDPWD", "SHLVL", "_"}, name) { // of the shell
			names = append(names, name)
		}
	}
	slices.Sort(names)
	want := "HOME HTTPS_PROXY HTTP_PROXY NO_PROXY PATH SSL_CERT_DIR SSL_CERT_FILE TZ http_proxy https_proxy no_proxy"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("it gets %s\nwant    %s", got, want)
	}
}

// TestServiceGroup ends the child and what it started, when the time is up.
func TestServiceGroup(t *testing.T) {
	if _, err := exec.LookPath("mkfifo"); err != nil {
		t.Skip(err)
	}
	// Both hold the pipe open; the test reads its end when both are gone.
	env := stub(t, `mkfifo alive; mkfifo gone
sleep 600 >gone 2>&1 &
exec 3>gone; echo up >alive; sleep 600`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := sendService(ctx, state.Channel{URL: slackURL}, told, env)
		done <- err
	}()
	for { // until the script has made it
		if _, err := os.Stat("gone"); err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	gone, err := os.Open("gone")
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	alive, err := os.ReadFile("alive")
	if err != nil || string(alive) != "up\n" {
		t.Fatal(string(alive), err)
	}
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
	ended := make(chan struct{})
	go func() {
		_, _ = gone.Read(make([]byte, 1))
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("somebody of the group still lives")
	}
}

// TestServiceTimeout names the channel that did not answer in its time.
func TestServiceTimeout(t *testing.T) {
	env := stub(t, "sleep 600")
	_, err := Send(t.Context(), state.Channel{Name: "mine", URL: slackURL, Timeout: "50ms"}, told, env)
	if e, ok := err.(*Error); !ok || e.Permanent || e.Text != "mine did not answer within 50ms" {
		t.Errorf("%v", err)
	}
}

// TestServiceRefuses what no service can be told.
func TestServiceRefuses(t *testing.T) {
	env := stub(t, "echo started >started")
	if _, err := sendService(t.Context(), state.Channel{URL: slackURL, To: "joe"}, told, env); err == nil || !strings.Contains(err.Error(), "takes no recipient") {
		t.Error(err)
	}
	for _, c := range []struct {
		url  string
		m    Message
		want string
	}{
		{slackURL, Message{Subject: "s", To: "joe"}, "takes no recipient"},
		{slackURL, Message{}, "nothing to tell Slack"},
		{slackURL, Message{Body: " \n"}, "nothing to tell Slack"},
		{"slack://nonsense", told, "write it as"},
		{"slakc://nonsense", told, "no service"},
	} {
		_, err := Send(t.Context(), state.Channel{Name: "mine", URL: c.url}, c.m, env)
		if e, ok := err.(*Error); !ok || !e.Permanent || !strings.Contains(e.Text, c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := os.Stat("started"); err == nil {
		t.Error("a child was started")
	}
}

// TestTellEndsItself has a child whose parent is gone: it gives up at the time it was given.
func TestTellEndsItself(t *testing.T) {
	w := newWorld(t)
	w.answers(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	env := w.env()
	said, err := json.Marshal(tellRequest{URL: slackURL, Body: "b", Seconds: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), env.Self, TellCommand)
	for _, name := range passed {
		child.Env = append(child.Env, name+"="+env.Getenv(name))
	}
	child.Stdin = bytes.NewReader(said)
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	if a, err := readAnswer(out); err != nil || *a.OK || a.Error != "no answer came in time" || a.Permanent {
		t.Errorf("%s: %v", out, err)
	}
}

// TestMatrixRepetition gives a message the same name when it is told again, and another one another name.
func TestMatrixRepetition(t *testing.T) {
	w := newWorld(t)
	names := func(m Message) string {
		w.answers(says(200, `{"room_id":"!r:x"}`), says(200, `{"event_id":"$e"}`))
		if _, err := w.send(t, "matrix://:syt_SecretToken@matrix.example.org/?rooms=!r:x", m); err != nil {
			t.Fatal(err)
		}
		list := w.requests()
		return list[len(list)-1].uri
	}
	other := told
	other.Body = "it works again"
	nameless := told
	nameless.ID = ""
	first := names(told)
	if again := names(told); again != first {
		t.Error("a repetition has another name")
	}
	if names(other) == first {
		t.Error("two messages of one occurrence have one name: the server would drop the second")
	}
	first = names(nameless)
	if again := names(nameless); again == first {
		t.Error("messages that are of nothing have one name")
	}
}

// TestPartly tells every chat that can be told, and says that it failed when one could not.
func TestPartly(t *testing.T) {
	w := newWorld(t)
	const url = "telegram://123456789:AAbbCC-secret_9@telegram?chats=1,2,3"
	broken := says(200, `{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`)
	fine := says(200, `{"ok":true,"result":{"message_id":1}}`)
	w.answers(broken, fine, fine)
	_, err := w.send(t, url, told)
	if err == nil || !err.Permanent || !strings.Contains(err.Text, "chat not found (1 of 3 requests failed)") {
		t.Errorf("%+v", err)
	}
	w.answers(broken, fine, says(503, ""))
	if _, err = w.send(t, url, told); err == nil || err.Permanent || !strings.Contains(err.Text, "503 Service Unavailable (2 of 3 requests failed)") {
		t.Errorf("one that may be told later makes it worth another try: %+v", err)
	}
	if got := len(w.requests()); got != 3 {
		t.Errorf("it asked %d times", got)
	}
	w.answers(says(429, `{"ok":false,"error_code":429,"parameters":{"retry_after":11}}`, "Retry-After", "5"))
	if _, err = w.send(t, url, told); err == nil || err.RetryAfter != 11*time.Second {
		t.Errorf("%+v", err)
	}
}

// TestOtherService takes a service that we do not offer at the word of its status.
func TestOtherService(t *testing.T) {
	w := newWorld(t)
	const url = "ifttt://SecretKey99/?events=event1"
	w.answers(says(200, "Congratulations!"))
	if detail, err := w.send(t, url, told); err != nil || detail != "Sent to IFTTT." {
		t.Errorf("%q, %v", detail, err)
	}
	if got := w.requests(); len(got) != 1 || got[0].host != "maker.ifttt.com" || !strings.Contains(got[0].body, "Backup of") {
		t.Errorf("asked %q", got)
	}
	for _, answer := range []http.HandlerFunc{says(500, ""), says(401, `{"errors":[{"message":"bad key SecretKey99"}]}`), says(302, "", "Location", "/")} {
		w.answers(answer, says(200, "Congratulations!"))
		if detail, err := w.send(t, url, told); err == nil || strings.Contains(err.Text, "SecretKey99") {
			t.Errorf("%q, %v", detail, err)
		}
	}
	// What the library does not understand it says before anybody is asked.
	w.answers(says(200, "Congratulations!"))
	if _, err := w.send(t, "ifttt://SecretKey99/", told); err == nil || !err.Permanent || strings.Contains(err.Text, "SecretKey99") || len(w.requests()) > 0 {
		t.Errorf("%+v", err)
	}
}

// TestLargestBody comes through whole, when every byte of it is escaped on the way to the child.
func TestLargestBody(t *testing.T) {
	w := newWorld(t)
	w.answers(says(200, ""))
	body := strings.Repeat("\x01", BodyLimit)
	if _, err := w.send(t, "generic://hooks.example.org/", Message{Body: body}); err != nil {
		t.Fatal(err)
	}
	if got := w.requests(); len(got) != 1 || got[0].body != body {
		t.Errorf("%d requests, and not the body", len(got))
	}
}

// TestTellReads refuses what is no request.
func TestTellReads(t *testing.T) {
	for _, in := range []string{"", "7", `{"url":7}`, strings.Repeat(" ", tellLimit+1)} {
		var out bytes.Buffer
		if err := Tell(t.Context(), strings.NewReader(in), &out, func(string) string { return "" }); err == nil || out.Len() > 0 {
			t.Errorf("%.20q: %v, and it answers %s", in, err, out.String())
		}
	}
}

// TestCompose puts the subject where each service has a place for it, and cuts what it does not take.
func TestCompose(t *testing.T) {
	long := strings.Repeat("ä", 40000)
	for _, v := range vendors {
		s, u, err := parseService(v.url)
		if err != nil {
			t.Fatal(err)
		}
		message, params, cut := s.compose(tellRequest{Subject: "Subject", Body: long}, u)
		whole := message + params["title"] + params["topic"]
		if !strings.Contains(whole, "Subject") {
			t.Errorf("%s: the subject is lost", s.scheme)
		}
		if !utf8.ValidString(whole) {
			t.Errorf("%s: cut in a letter", s.scheme)
		}
		if s.size.bytes > 0 && len(message+params["title"]) > s.size.bytes || s.size.runes > 0 && utf8.RuneCountInString(message) > s.size.runes {
			t.Errorf("%s: %d bytes, %d letters", s.scheme, len(whole), utf8.RuneCountInString(whole))
		}
		bounded := s.size.bytes > 0 || s.size.runes > 0
		if left := strings.Count(whole, "ä") * 2; bounded != (cut > 0) || left+cut != len(long) || left == 0 {
			t.Errorf("%s: %d left and %d cut of %d", s.scheme, left, cut, len(long))
		}
		if bounded && !strings.Contains(whole, "[cut here: ") {
			t.Errorf("%s: nothing says that it was cut", s.scheme)
		}
		// Without a body the subject is the text: most take no message without one.
		message, params, _ = s.compose(tellRequest{Subject: "Subject"}, u)
		want, title := "Subject", ""
		if s.style == alone {
			want, title = title, want
		}
		if message != want || params["title"] != title || params["topic"] != "" {
			t.Errorf("%s without a body: %q %q", s.scheme, message, params)
		}
		if message, params, _ = s.compose(tellRequest{Body: "Body\r\n"}, u); message+params["title"] != "Body" {
			t.Errorf("%s without a subject: %q %q", s.scheme, message, params)
		}
	}
	options := func(raw, subject string) (string, map[string]string) {
		s, u, err := parseService(raw)
		if err != nil {
			t.Fatal(err)
		}
		message, params, _ := s.compose(tellRequest{Subject: subject, Body: "Body <&>"}, u)
		return message, params
	}
	if m, p := options("zulip://b:k@z.example.org?stream=s&topic=t", "Subject"); m != "Subject\nBody <&>" || p["topic"] != "" {
		t.Errorf("zulip with a topic: %q %q", m, p)
	}
	if m, p := options("zulip://b:k@z.example.org?stream=s", strings.Repeat("x", 70)); !strings.HasPrefix(m, strings.Repeat("x", 70)+"\n") || len([]rune(p["topic"])) != 60 {
		t.Errorf("zulip with a long subject: %q %q", m, p)
	}
	if m, p := options(slackURL+"?color=red", "<Subject>"); m != "Body &lt;&amp;&gt;" || p["title"] != "&lt;Subject&gt;" {
		t.Errorf("slack with a colour: %q %q", m, p)
	}
	if _, p := options("gotify://h/AbcDefGhi123456?title=Mine", ""); p["title"] != "" {
		t.Errorf("gotify: %q", p)
	} else if _, given := p["title"]; given {
		t.Error("the title of the URL is lost")
	}
	if _, p := options("gotify://h/AbcDefGhi123456", ""); p["useheader"] != "Yes" {
		t.Errorf("the token is in the URL: %q", p)
	}
}

// TestInsecure looks at a certificate unless the URL of a service that can be asked not to says so.
func TestInsecure(t *testing.T) {
	for raw, want := range map[string]bool{
		"ntfy://h/t": false, "ntfy://h/t?disabletlsverification=yes": true, "ntfy://h/t?DisableTLSVerification=no": false,
		"gotify://h/AbcDefGhi123456?insecureskipverify=1": true, "generic://h?insecureskipverify=yes": false,
	} {
		s, u, err := parseService(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := insecure(s, u); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
	w := newWorld(t)
	w.answers(says(200, `{"id":"x","event":"message"}`))
	nobody := []string{"SSL_CERT_FILE", "/dev/null"}
	if _, err := w.send(t, "ntfy://ntfy.example.org/t?disabletlsverification=yes", told, nobody...); err != nil {
		t.Error(err)
	}
	if _, err := w.send(t, "ntfy://ntfy.example.org/t", told, nobody...); err == nil || !err.Permanent {
		t.Errorf("a certificate of nobody was taken: %v", err)
	}
}

// TestProxyOf reads the addresses that Go reads.
func TestProxyOf(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "http://u:p@proxy.example.org:3128": true, "proxy.example.org:3128": true, "socks5://proxy.example.org": true,
		"proxy": true, "http://%zz": false, ":": false,
	} {
		if _, ok := proxyOf(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
	if p, _ := proxyOf("u:p@proxy:1"); p.User == nil || p.User.String() != (url.UserPassword("u", "p")).String() {
		t.Errorf("%v", p)
	}
}
