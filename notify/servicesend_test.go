package notify

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
)

const slackURL = "slack://hook:T00000000-B00000000-XXXXXXXXXXXXXXXXXXXXXXXX@webhook"

// TestServiceTimeout names the channel that did not answer in its time.
func TestServiceTimeout(t *testing.T) {
	w := newWorld(t)
	w.answers(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err := Send(t.Context(), state.Channel{Name: "mine", URL: slackURL, Timeout: "50ms"}, told, w.env())
	if e, ok := err.(*Error); !ok || e.Permanent || e.Text != "mine did not answer within 50ms" {
		t.Errorf("%v", err)
	}
}

// TestServiceRefuses what no service can be told.
func TestServiceRefuses(t *testing.T) {
	w := newWorld(t)
	w.answers(says(200, "ok"))
	env := w.env()
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
	if n := len(w.requests()); n > 0 {
		t.Errorf("%d requests were made", n)
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

// TestLargestBody comes through whole where the service has no bound, when every byte of it is escaped.
func TestLargestBody(t *testing.T) {
	w := newWorld(t)
	w.answers(says(200, `{"id":1}`))
	body := strings.Repeat("\x01", BodyLimit)
	if _, err := w.send(t, "gotify://push.example.org/AbcDefGhi123456", Message{Body: body}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Message string `json:"message"`
	}
	if list := w.requests(); len(list) != 1 || json.Unmarshal([]byte(list[0].body), &got) != nil || got.Message != body {
		t.Errorf("%d requests, and not the body", len(list))
	}
}

// TestCompose puts the subject where each service has a place for it, and cuts what it does not take.
func TestCompose(t *testing.T) {
	for _, letter := range []string{"ä", "🐢"} {
		long := strings.Repeat(letter, 40000)
		for _, v := range vendors {
			s, l, err := parseService(v.url)
			if err != nil {
				t.Fatal(err)
			}
			got, cut := s.compose(Message{Subject: "Subject", Body: long}, l)
			whole := got.body
			if s.titled {
				whole = got.title + "\n" + got.body
			}
			if !strings.HasPrefix(whole, "Subject\n") {
				t.Errorf("%s: the subject is lost", s.scheme)
			}
			if !utf8.ValidString(whole) {
				t.Errorf("%s: cut in a letter", s.scheme)
			}
			if s.size.bytes > 0 && len(whole)-1 > s.size.bytes || s.size.units > 0 && utf16Length(got.body) > s.size.units {
				t.Errorf("%s: %d bytes, %d letters", s.scheme, len(whole), utf16Length(got.body))
			}
			bounded := s.size.bytes > 0 && s.size.bytes < len(long)+len("Subject") || s.size.units > 0
			if left := strings.Count(whole, letter) * len(letter); bounded != (cut > 0) || left+cut != len(long) || left == 0 {
				t.Errorf("%s: %d left and %d cut of %d", s.scheme, left, cut, len(long))
			}
			if bounded && !strings.Contains(whole, "…\n[cut here: ") {
				t.Errorf("%s: nothing says that it was cut", s.scheme)
			}
			// Without a body the subject is the text: most take no message without one.
			if got, _ = s.compose(Message{Subject: "Subject"}, l); got.body != "Subject" || got.title != "" {
				t.Errorf("%s without a body: %+v", s.scheme, got)
			}
			if got, _ = s.compose(Message{Body: "Body\r\n"}, l); got.body != "Body" || got.title != "" {
				t.Errorf("%s without a subject: %+v", s.scheme, got)
			}
		}
	}
}

// TestServiceOptions asks as the URL says.
func TestServiceOptions(t *testing.T) {
	const hook = "@webhook?"
	token := "hook:T00000000-B00000000-XXXXXXXXXXXXXXXXXXXXXXXX"
	for _, c := range []struct {
		url  string
		want []string // in the request: its address, headers and body
	}{
		{"slack://" + token + hook + "color=red&botname=Ouro&icon=tada", []string{`"attachments":[{"color":"red","fallback":"S\nB \u0026lt;!channel\u0026gt;","text"`, `"username":"Ouro"`, `"icon_emoji":"tada"`}},
		{"slack://" + token + hook + "icon_url=https://x/y.png&title=Mine", []string{`"icon_url":"https://x/y.png"`, `"text":"S\nB`}},
		{"slack://T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", []string{"https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX "}},
		{"slack://xoxb-123456789-123456789-XXXXXXXXXXXXXXXXXXXXXXXX@C1?thread_ts=1.2", []string{"https://slack.com/api/chat.postMessage ", "Bearer xoxb-123456789-123456789-XXXX", `"channel":"C1"`, `"thread_ts":"1.2"`}},
		{"discord://tok@1?color=0xff0000&thread_id=7&username=o&avatar=https://x", []string{"/api/webhooks/1/tok?thread_id=7&wait=true", `"color":16711680`, `"username":"o"`, `"avatar_url":"https://x"`, `"parse":[]`}},
		{"gotify://h:8080/AbcDefGhi123456?disabletls=yes&priority=5&extras=%7B%22a%22:1%7D&date=d", []string{"http://h:8080/message ", `"priority":5`, `"extras":{"a":1}`, `"date":"d"`}},
		{"mattermost://h/t?icon=https://x/y", []string{"https://h/hooks/t ", `"icon_url":"https://x/y"`}},
		{"ntfy://h/t?scheme=http&tags=a,b&delay=5m&title=Mine", []string{"http://h/t ", "tags a,b", "delay 5m", "Title S"}},
		{"ntfy://:tk_1@h/t", []string{"Authorization Basic OnRrXzE="}},
		{"pushover://shoutrrr:T@U?priority=1&devices=a,b", []string{"device=a%2Cb", "priority=1"}},
		{"telegram://1:a@telegram?chats=1&notification=no&preview=no", []string{`"disable_notification":true`, `"link_preview_options":{"is_disabled":true}`}},
		{"telegram://1:a@telegram?channels=@me", []string{`"chat_id":"@me"`}},
		{"teams://11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2x?host=acme.webhook.office.com&color=ff0000",
			[]string{"https://acme.webhook.office.com/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/IncomingWebhook/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2x ", `"themeColor":"ff0000"`}},
		{"pagerduty://events.eu.pagerduty.com/0123456789abcdef0123456789abcdef?action=resolve&dedup_key=k&source=db1", []string{"https://events.eu.pagerduty.com/v2/enqueue ", `"event_action":"resolve"`, `"dedup_key":"k"`, `"source":"db1"`, `"severity":"error"`}},
		{"opsgenie://api.eu.opsgenie.com/key?alias=a&user=u&note=n&entity=e", []string{"https://api.eu.opsgenie.com/v2/alerts ", `"alias":"a"`, `"user":"u"`, `"note":"n"`, `"entity":"e"`}},
	} {
		s, l, err := parseService(c.url)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		m, _ := s.compose(Message{ID: "x/1", Subject: "S", Body: "B <!channel>"}, l)
		q := s.ask(l, m)[0]
		body, err := json.Marshal(q.body)
		if err != nil {
			t.Fatal(err)
		}
		if form, ok := q.body.(url.Values); ok {
			body = []byte(form.Encode())
		}
		got := q.url + " \n" + string(body)
		for i := 0; i < len(q.header); i += 2 {
			got += "\n" + q.header[i] + " " + q.header[i+1]
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s asks\n%s\nwant %s", c.url, got, want)
			}
		}
	}
	// A title of the URL is that of a message without one.
	s, l, _ := parseService("gotify://h/AbcDefGhi123456?title=Mine")
	if m, _ := s.compose(Message{Body: "B"}, l); m.title != "Mine" {
		t.Errorf("%+v", m)
	}
}

// TestMatrixRooms joins the rooms of the URL and tells those that it could, and finds those it is in when the URL names none.
func TestMatrixRooms(t *testing.T) {
	w := newWorld(t)
	event := says(200, `{"event_id":"$e"}`)
	const url = "matrix://:syt_SecretToken@matrix.example.org"
	w.answers(says(403, `{"errcode":"M_FORBIDDEN","error":"you are banned"}`), says(200, `{"room_id":"!b:x"}`), event)
	if _, err := w.send(t, url+"?rooms=a,%23b:x", told); err == nil || !err.Permanent || !strings.Contains(err.Text, "you are banned") {
		t.Errorf("%+v", err)
	}
	if list := w.requests(); len(list) != 3 || list[0].uri != "/_matrix/client/v3/join/%23a" || list[1].uri != "/_matrix/client/v3/join/%23b:x" || !strings.Contains(list[2].uri, "/rooms/%21b:x/send/") {
		t.Errorf("%q", list)
	}
	w.answers(says(403, `{"errcode":"M_FORBIDDEN","error":"Invalid password"}`), event)
	if _, err := w.send(t, "matrix://bot:wrong@matrix.example.org?rooms=a", told); err == nil || !err.Permanent || !strings.Contains(err.Text, "Invalid password") || len(w.requests()) != 1 {
		t.Errorf("%+v, %q", err, w.requests())
	}
	w.answers(says(503, ""), event)
	if _, err := w.send(t, url, told); err == nil || err.Permanent || len(w.requests()) != 1 {
		t.Errorf("%+v, %q", err, w.requests())
	}
	w.answers(says(200, `{"joined_rooms":[]}`))
	if _, err := w.send(t, url, told); err == nil || !err.Permanent || !strings.Contains(err.Text, "in no room") {
		t.Errorf("%+v", err)
	}
	w.answers(says(429, `{"errcode":"M_LIMIT_EXCEEDED","error":"Too many requests","retry_after_ms":2500}`))
	if _, err := w.send(t, url, told); err == nil || err.Permanent || err.RetryAfter != 2500*time.Millisecond {
		t.Errorf("%+v", err)
	}
}

// TestServiceRetryAfter heeds what the header and the body ask for, a day at most.
func TestServiceRetryAfter(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		header, body string
		want         time.Duration
	}{
		{"", "", 0},
		{"5", "", 5 * time.Second},
		{"Wed, 21 Oct 2015 07:28:00 GMT", "", 0},
		{"soon", `{"message":"You are being rate limited.","retry_after":0.25,"global":false}`, 250 * time.Millisecond},
		{"1", `{"retry_after":7}`, 7 * time.Second},
		{"", `{"retry_after":-7}`, 0},
		{"", `{"retry_after":"x"}`, 0},
		{"9999999", "", 24 * time.Hour},
		{"", `{"retry_after":1e300}`, 24 * time.Hour},
	} {
		w.answers(says(429, c.body, "Retry-After", c.header))
		if _, err := w.send(t, "discord://tok@123456", told); err == nil || err.Permanent || err.RetryAfter != c.want {
			t.Errorf("%q %s: %+v, want %v", c.header, c.body, err, c.want)
		}
	}
}

// TestInsecure looks at a certificate unless the URL of a service that can be asked not to says so.
func TestInsecure(t *testing.T) {
	w := newWorld(t)
	for raw, want := range map[string]bool{
		"ntfy://ntfy.example.org/t": false, "ntfy://ntfy.example.org/t?disabletlsverification=yes": true,
		"ntfy://ntfy.example.org/t?DisableTLSVerification=no": false, "gotify://g.example.org/AbcDefGhi123456?insecureskipverify=1": true,
	} {
		w.answers(says(200, `{"id":"x","event":"message"}`))
		if strings.HasPrefix(raw, "gotify") {
			w.answers(says(200, `{"id":1}`))
		}
		if _, err := w.send(t, raw, told, "ROOTS", "none"); (err == nil) != want || err != nil && !err.Permanent {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
