package notify

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/health/nettest"
)

// vendor is a service as its makers document it.
type vendor struct {
	name    string
	url     string
	secrets []string // of the URL, none of which an error may show
	asked   []asked  // what the message makes us ask, byte by byte
	ok      []string // what is answered to each when the message was taken, with 200
	not     []denial // what else is answered with 200, when it was not
	status  int      // of each of them, 200 if it is not given
}

// denial is an answer with 200 that is not a success.
type denial struct {
	body      string
	want      string // in the error
	permanent bool
}

// told is the message of the table: with what JSON, HTML and forms escape, and a repetition to be known by.
var told = Message{ID: "k7m2/3", Subject: "Backup of <b> & co failed", Body: "disk \"sdb1\" is full; ü=ü\nsee <log>\n"}

const (
	jsonType = "application/json"
	formType = "application/x-www-form-urlencoded"
)

var vendors = []vendor{
	{
		name: "Discord", url: "discord://WebhookTok_en-123@123456789012", secrets: []string{"WebhookTok_en-123", "123456789012"},
		asked: []asked{{"POST", "discord.com", "/api/webhooks/123456789012/WebhookTok_en-123?wait=true", head("Content-Type", jsonType),
			`{"embeds":[{"title":"Backup of \u003cb\u003e \u0026 co failed","description":"disk \"sdb1\" is full; ü=ü\nsee \u003clog\u003e",` +
				`"color":5298687}],"allowed_mentions":{"parse":[]}}`}},
		ok: []string{`{"id":"1100000000000000001","type":0,"content":"","channel_id":"1"}`},
	},
	{
		name: "Google Chat", url: "googlechat://chat.googleapis.com/v1/spaces/AAAAspace1/messages?key=SecretKey12&token=SecretToken12%3D",
		secrets: []string{"SecretKey12", "SecretToken12", "AAAAspace1"},
		asked: []asked{{"POST", "chat.googleapis.com", "/v1/spaces/AAAAspace1/messages?key=SecretKey12&token=SecretToken12%3D",
			head("Content-Type", jsonType), `{"text":"Backup of \u003cb\u003e \u0026 co failed\ndisk \"sdb1\" is full; ü=ü\nsee \u003clog\u003e"}`}},
		ok: []string{`{"name":"spaces/AAAAspace1/messages/abc.def","text":"x"}`},
	},
	{
		name: "Gotify", url: "gotify://push.example.org/sub/AbcDefGhi123456", secrets: []string{"AbcDefGhi123456"},
		asked: []asked{{"POST", "push.example.org", "/sub/message", head("Content-Type", jsonType, "X-Gotify-Key", "AbcDefGhi123456"),
			`{"message":"disk \"sdb1\" is full; ü=ü\nsee \u003clog\u003e","title":"Backup of \u003cb\u003e \u0026 co failed","priority":0}`}},
		ok: []string{`{"id":25,"appid":5,"message":"x","title":"y","priority":0,"date":"2026-03-04T09:00:00Z"}`},
	},
	{
		name: "Matrix", url: "matrix://:syt_SecretToken@matrix.example.org/?rooms=!room1:example.org", secrets: []string{"syt_SecretToken"},
		asked: []asked{
			{"POST", "matrix.example.org", "/_matrix/client/v3/join/%21room1:example.org", head("Content-Type", jsonType, "Authorization", "Bearer syt_SecretToken"), `{}`},
			{"PUT", "matrix.example.org", "/_matrix/client/v3/rooms/%21room1:example.org/send/m.room.message/58df5aba551054cce31202cb3a7d60d8",
				head("Content-Type", jsonType, "Authorization", "Bearer syt_SecretToken"),
				`{"msgtype":"m.text","body":"Backup of \u003cb\u003e \u0026 co failed\ndisk \"sdb1\" is full; ü=ü\nsee \u003clog\u003e"}`},
		},
		ok: []string{`{"room_id":"!room1:example.org"}`, `{"event_id":"$abc"}`},
	},
	{
		name: "Matrix", url: "matrix://bot:passSecret@matrix.example.org", secrets: []string{"passSecret", "syt_Gotten"},
		asked: []asked{
			{"POST", "matrix.example.org", "/_matrix/client/v3/login", head("Content-Type", jsonType),
				`{"type":"m.login.password","identifier":{"type":"m.id.user","user":"bot"},"password":"passSecret","initial_device_display_name":"ouro-timer"}`},
			{"GET", "matrix.example.org", "/_matrix/client/v3/joined_rooms", head("Authorization", "Bearer syt_Gotten"), ``},
			{"PUT", "matrix.example.org", "/_matrix/client/v3/rooms/%21r2:example.org/send/m.room.message/f4126e124f6ae8d8a2449d19ccefe4f0",
				head("Content-Type", jsonType, "Authorization", "Bearer syt_Gotten"),
				`{"msgtype":"m.text","body":"Backup of \u003cb\u003e \u0026 co failed\ndisk \"sdb1\" is full; ü=ü\nsee \u003clog\u003e"}`},
		},
		ok: []string{`{"access_token":"syt_Gotten","user_id":"@bot:x","device_id":"D"}`,
			`{"joined_rooms":["!r2:example.org"]}`, `{"event_id":"$abc"}`},
	},
	{
		name: "Mattermost", url: "mattermost://bot@mm.example.org/hookTokenSecret/town", secrets: []string{"hookTokenSecret"},
		asked: []asked{{"POST", "mm.example.org", "/hooks/hookTokenSecret", head("Content-Type", jsonType),
			`{"text":"Backup of \u003cb\u003e \u0026 co failed\ndisk \"sdb1\" is full; ü=ü\nsee \u003clog\u003e","username":"bot","channel":"town"}`}},
		ok: []string{"ok"},
	},
	{
		name: "ntfy", url: "ntfy://user1:passw0rd@ntfy.example.org/topic_secret?priority=high", secrets: []string{"topic_secret", "passw0rd", "dXNlcjE6cGFzc3cwcmQ="},
		asked: []asked{{"POST", "ntfy.example.org", "/topic_secret",
			head("Title", "Backup of <b> & co failed", "Priority", "high", "Authorization", "Basic dXNlcjE6cGFzc3cwcmQ="),
			"disk \"sdb1\" is full; ü=ü\nsee <log>"}},
		ok: []string{`{"id":"sPs71M8A2T","time":1792000000,"expires":1792043200,"event":"message","topic":"topic_secret","message":"x"}`},
	},
	{
		name: "Opsgenie", url: "opsgenie://api.opsgenie.com/eb243592-faa2-4ba2-a551q-1afdf565c889?tags=a,b&responders=team:ops,user:bob@example.org&priority=P2",
		secrets: []string{"eb243592-faa2-4ba2-a551q-1afdf565c889"},
		asked: []asked{{"POST", "api.opsgenie.com", "/v2/alerts", head("Content-Type", jsonType, "Authorization", "GenieKey eb243592-faa2-4ba2-a551q-1afdf565c889"),
			`{"message":"Backup of <b> & co failed","description":"disk \"sdb1\" is full; ü=ü\nsee <log>","alias":"380b2c64daf16dd2c393bdca3c08a802","source":"ouro-timer",
"tags":["a","b"],"responders":[{"type":"team","name":"ops"},{"type":"user","username":"bob@example.org"}],"priority":"P2"}`}},
		ok: []string{`{"result":"Request will be processed","took":0.302,"requestId":"43a29c5c-3dbf-4fa4-9c26-f4f71023e120"}`}, status: 202,
	},
	{
		name: "PagerDuty", url: "pagerduty:///0123456789abcdef0123456789abcdef?severity=critical", secrets: []string{"0123456789abcdef0123456789abcdef"},
		asked: []asked{{"POST", "events.pagerduty.com", "/v2/enqueue", head("Content-Type", jsonType),
			`{"routing_key":"0123456789abcdef0123456789abcdef","event_action":"trigger","dedup_key":"e63702631a28e82afe37ffb6b4f23e44","payload":{"summary":"Backup of <b> & co failed",
"severity":"critical","source":"ouro-timer","custom_details":{"body":"disk \"sdb1\" is full; ü=ü\nsee <log>"}}}`}},
		ok: []string{`{"status":"success","message":"Event processed","dedup_key":"samplekeyhere"}`}, status: 202,
		not: []denial{{`{"status":"invalid event","message":"Event object is invalid","errors":["Length of 'routing_key' is incorrect (should be 32 characters)"]}`,
			"Event object is invalid: Length of 'routing_key'", true}},
	},
	{
		name: "Pushover", url: "pushover://shoutrrr:AppTokenSecret@UserKeySecret/?devices=phone", secrets: []string{"AppTokenSecret", "UserKeySecret"},
		asked: []asked{{"POST", "api.pushover.net", "/1/messages.json", head("Content-Type", formType),
			"device=phone&message=disk+%22sdb1%22+is+full%3B+%C3%BC%3D%C3%BC%0Asee+%3Clog%3E&title=Backup+of+%3Cb%3E+%26+co+failed&token=AppTokenSecret&user=UserKeySecret"}},
		ok:  []string{`{"status":1,"request":"647d2300-702c-4b38-8b2f-d56326ae460b"}`},
		not: []denial{{`{"user":"invalid","errors":["user identifier is invalid"],"status":0,"request":"5042853c"}`, "user identifier is invalid", true}},
	},
	{
		name: "Slack", url: "slack://hook:T00000000-B00000000-XXXXXXXXXXXXXXXXXXXXXXXX@webhook",
		secrets: []string{"T00000000", "B00000000", "XXXXXXXXXXXXXXXXXXXXXXXX"},
		asked: []asked{{"POST", "hooks.slack.com", "/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", head("Content-Type", jsonType),
			`{"text":"Backup of \u0026lt;b\u0026gt; \u0026amp; co failed\ndisk \"sdb1\" is full; ü=ü\nsee \u0026lt;log\u0026gt;"}`}},
		ok:  []string{"ok"},
		not: []denial{{"no_text", "no_text", false}},
	},
	{
		name: "Slack", url: "slack://xoxb:123456789012-1234567890123-4mt0t4l1YL3g1T5L4cK70k3N@C0123456789", secrets: []string{"4mt0t4l1YL3g1T5L4cK70k3N"},
		asked: []asked{{"POST", "slack.com", "/api/chat.postMessage",
			head("Content-Type", jsonType, "Authorization", "Bearer xoxb-123456789012-1234567890123-4mt0t4l1YL3g1T5L4cK70k3N"), `{
"text": "Backup of \u0026lt;b\u0026gt; \u0026amp; co failed\ndisk \"sdb1\" is full; ü=ü\nsee \u0026lt;log\u0026gt;",
"channel": "C0123456789"
}`}},
		ok: []string{`{"ok":true,"channel":"C0123456789","ts":"1792000000.000100"}`},
		not: []denial{
			{`{"ok":false,"error":"channel_not_found"}`, "channel_not_found", true},
			{`{"ok":false,"error":"ratelimited"}`, "ratelimited", false},
		},
	},
	{
		name: "Teams", url: "teams+https://acme.webhook.office.com/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/" +
			"IncomingWebhook/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_long",
		secrets: []string{"33333333012222222222333333333344", "V2ESyij_long"},
		asked: []asked{{"POST", "acme.webhook.office.com", "/webhookb2/11111111-4444-4444-8444-cccccccccccc@22222222-4444-4444-8444-cccccccccccc/" +
			"IncomingWebhook/33333333012222222222333333333344/44444444-4444-4444-8444-cccccccccccc/V2ESyij_long", head("Content-Type", jsonType),
			`{"@type":"MessageCard","@context":"http://schema.org/extensions","summary":"Backup of \u003cb\u003e \u0026 co failed",` +
				`"title":"Backup of \u003cb\u003e \u0026 co failed","markdown":true,"text":"disk \"sdb1\" is full; ü=ü\n\nsee \u003clog\u003e"}`}},
		ok: []string{"1"},
		not: []denial{{"Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId tcid=0",
			"HTTP error 429", false}},
	},
	{
		name: "Teams", url: "teams+https://prod-12.westus.logic.azure.com:443/workflows/0123456789abcdef/triggers/manual/paths/invoke" +
			"?api-version=2016-06-01&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=SigSecret-123",
		secrets: []string{"SigSecret-123", "0123456789abcdef"},
		asked: []asked{{"POST", "prod-12.westus.logic.azure.com:443", "/workflows/0123456789abcdef/triggers/manual/paths/invoke" +
			"?api-version=2016-06-01&sig=SigSecret-123&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0", head("Content-Type", jsonType),
			`{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":{
"$schema":"http://adaptivecards.io/schemas/adaptive-card.json","type":"AdaptiveCard","version":"1.4","body":[
{"type":"TextBlock","text":"Backup of <b> & co failed","wrap":true,"weight":"bolder","size":"medium"},
{"type":"TextBlock","text":"disk \"sdb1\" is full; ü=ü\n\nsee <log>","wrap":true}]}}]}`}},
		ok: []string{""}, status: 202,
	},
	{
		name: "Telegram", url: "telegram://123456789:AAbbCC-secret_9@telegram?chats=@mychannel,-100200300:7", secrets: []string{"AAbbCC-secret_9", "123456789"},
		asked: []asked{
			{"POST", "api.telegram.org", "/bot123456789:AAbbCC-secret_9/sendMessage", head("Content-Type", jsonType), `{
"text": "Backup of <b> & co failed\ndisk \"sdb1\" is full; ü=ü\nsee <log>",
"chat_id": "@mychannel",
"entities": [{"type": "bold", "offset": 0, "length": 25}],
"link_preview_options": {"is_disabled": false},
"disable_notification": false
}`},
			{"POST", "api.telegram.org", "/bot123456789:AAbbCC-secret_9/sendMessage", head("Content-Type", jsonType), `{
"text": "Backup of <b> & co failed\ndisk \"sdb1\" is full; ü=ü\nsee <log>",
"chat_id": "-100200300",
"message_thread_id": 7,
"entities": [{"type": "bold", "offset": 0, "length": 25}],
"link_preview_options": {"is_disabled": false},
"disable_notification": false
}`},
		},
		ok: []string{`{"ok":true,"result":{"message_id":1}}`, `{"ok":true,"result":{"message_id":2}}`},
		not: []denial{
			{`{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`, "chat not found", true},
			{`{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":9}}`, "Too Many Requests", false},
		},
	},
}

// head is a header of pairs.
func head(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

// TestVendorsTested holds the list of services to this table: a scheme that is offered is tested here.
func TestVendorsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, v := range vendors {
		s, _, err := parseService(v.url)
		if err != nil {
			t.Fatal(err)
		}
		tested[s.scheme] = true
	}
	for _, scheme := range Schemes() {
		if !tested[scheme] {
			t.Errorf("%s is offered, and nothing stands in for it", scheme)
		}
	}
}

// TestVendors lets each service take the message, and fail to in every way it can.
func TestVendors(t *testing.T) {
	for _, v := range vendors {
		scheme, _, _ := strings.Cut(v.url, ":")
		t.Run(fmt.Sprintf("%s of %d", scheme, len(v.url)), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			t.Run("takes it", func(t *testing.T) { v.takes(t, w) })
			t.Run("fails", func(t *testing.T) { v.fails(t, w) })
			t.Run("cannot be reached", func(t *testing.T) { v.unreached(t, w) })
			t.Run("hangs", func(t *testing.T) { v.hangs(t, w) })
		})
	}
}

// whole are the answers that make the message delivered, but for the last, which is the given one.
func (v vendor) whole(last http.HandlerFunc) []http.HandlerFunc {
	list := make([]http.HandlerFunc, 0, len(v.ok))
	for _, body := range v.ok {
		list = append(list, says(cmp.Or(v.status, 200), body))
	}
	if last != nil {
		list[len(list)-1] = last
	}
	return list
}

// takes checks what is asked against what is documented.
func (v vendor) takes(t *testing.T, w *world) {
	w.answers(v.whole(nil)...)
	detail, err := w.send(t, v.url, told)
	if err != nil || detail != "Sent to "+v.name+"." {
		t.Errorf("said %q, %v", detail, err)
	}
	got := w.requests()
	if len(got) != len(v.asked) {
		t.Fatalf("asked %d times, want %d: %q", len(got), len(v.asked), got)
	}
	for i, want := range v.asked {
		r := got[i]
		if r.method != want.method || r.host != want.host || r.uri != want.uri {
			t.Errorf("asked %s %s%s\nwant  %s %s%s", r.method, r.host, r.uri, want.method, want.host, want.uri)
		}
		for name := range want.header {
			if r.header.Get(name) != want.header.Get(name) {
				t.Errorf("header %s: %q, want %q", name, r.header.Get(name), want.header.Get(name))
			}
		}
		if agentIs := r.header.Get("User-Agent"); agentIs != userAgent {
			t.Errorf("it calls itself %q", agentIs)
		}
		if !same(t, r.body, want.body) {
			t.Errorf("body\n%s\nwant\n%s", r.body, want.body)
		}
	}
}

// same compares bodies: those of JSON by what they say.
func same(t *testing.T, got, want string) bool {
	t.Helper()
	if !strings.HasPrefix(want, "{") {
		return got == want
	}
	var a, b any
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	return json.Unmarshal([]byte(got), &a) == nil && reflect.DeepEqual(a, b)
}

// echo is an error of a service that quotes all it was sent.
func (v vendor) echo(r *http.Request) string {
	return fmt.Sprintf(`{"error":"%s %s","message":"bad key %s %s"}`, r.URL.Path, r.URL.RawQuery, strings.Join(v.secrets, " or "), r.Header.Get("Authorization"))
}

// fails has the last answer be every kind of failure, one after the other.
func (v vendor) fails(t *testing.T, w *world) {
	type failure struct {
		name      string
		answer    http.HandlerFunc
		want      string
		permanent bool
		after     time.Duration
	}
	echo := func(status int, headers ...string) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) { says(status, v.echo(r), headers...)(rw, r) }
	}
	page := "<html><body>Welcome to our hotel</body></html>"
	list := []failure{
		{"400", echo(400), "400 Bad Request: ", true, 0},
		{"403", says(403, page), "403 Forbidden", true, 0},
		{"429", echo(429, "Retry-After", "7"), "429 Too Many Requests", false, 7 * time.Second},
		{"429 that does not say when", echo(429), "429 Too Many Requests", false, 0},
		{"401", echo(401), "401 Unauthorized", true, 0},
		{"404", echo(404), "404 Not Found", true, 0},
		{"500", says(500, v.ok[len(v.ok)-1]), "500 Internal Server Error", false, 0},
		{"503", says(503, ""), "503 Service Unavailable", false, 0},
		{"a redirect", says(302, "", "Location", "https://elsewhere.example.org/"+v.secrets[0]), "https://elsewhere.example.org", true, 0},
		{"a redirect that keeps the method", says(307, "", "Location", "/"+v.secrets[0]), "307 Temporary Redirect", true, 0},
		{"nothing", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF", false, 0},
		{"half an answer", breaksOff(v.ok[len(v.ok)-1]), "unexpected EOF", false, 0},
		{"an endless answer", says(200, strings.Repeat(" ", maxAnswer+1)), "more than", false, 0},
	}
	{
		for name, body := range map[string]string{
			"no body": "", "a page": page, "an object": "{}", "half an object": `{"ok":true,"id":"1","status":`, "null": "null", "a list": "[]", "a number": "7", "a word": "OK",
			"an echo": "bad key " + strings.Join(v.secrets, " or "),
		} {
			list = append(list, failure{"200 with " + name, says(200, body), "200 OK, but not as", false, 0})
		}
		list = append(list, failure{"204", says(204, ""), "204 No Content, but not as", false, 0})
	}
	for _, d := range v.not {
		after := time.Duration(0)
		if strings.Contains(d.body, `"retry_after":9`) {
			after = 9 * time.Second
		}
		list = append(list, failure{"200 with " + d.want, says(200, d.body), d.want, d.permanent, after})
	}
	for _, f := range list {
		answers := v.whole(f.answer)
		// What would come behind the failure, if it were tried again or followed, is success.
		w.answers(append(answers, says(200, v.ok[len(v.ok)-1]))...)
		detail, err := w.send(t, v.url, told)
		if err == nil {
			t.Errorf("%s: it is taken for delivered: %s", f.name, detail)
			continue
		}
		if !strings.HasPrefix(err.Text, v.name) || !strings.Contains(err.Text, f.want) {
			t.Errorf("%s: the error says %q, want %q in it", f.name, err.Text, f.want)
		}
		if err.Permanent != f.permanent || err.RetryAfter != f.after {
			t.Errorf("%s: permanent %v, after %v; want %v, %v", f.name, err.Permanent, err.RetryAfter, f.permanent, f.after)
		}
		v.secret(t, f.name, err)
		if got := len(w.requests()); got != len(v.ok) {
			t.Errorf("%s: it asked %d times, want %d", f.name, got, len(v.ok))
		}
	}
	if len(v.ok) > 1 {
		// A failure of the first is one of the whole, whatever comes behind it.
		first := v
		first.secrets = v.secrets[:1] // others are only told later
		w.answers(func(rw http.ResponseWriter, r *http.Request) { says(500, first.echo(r))(rw, r) }, says(200, v.ok[len(v.ok)-1]))
		if _, err := w.send(t, v.url, told); err == nil || err.Permanent || !strings.Contains(err.Text, "500 Internal Server Error") {
			t.Errorf("the first request failed, and the error is %v", err)
		} else {
			v.secret(t, "the first request", err)
		}
	}
}

// unreached has nobody be there.
func (v vendor) unreached(t *testing.T, w *world) {
	closed := nettest.Refused(t)
	w.answers(v.whole(nil)...)
	for _, c := range []struct {
		name, want string
		permanent  bool
		env        []string
	}{
		{"refused", "connection refused", false, []string{"HTTPS_PROXY", "http://" + closed}},
		{"no such name", "lookup proxy.invalid", false, []string{"HTTPS_PROXY", "http://proxyuser:proxyS3cret@proxy.invalid:3128"}},
		{"a proxy that cannot be", "the address of a proxy in the environment cannot be read", true, []string{"HTTPS_PROXY", "http://proxyuser:proxyS3cret@%zz"}},
		{"an authority that nobody knows", "certificate", true, []string{"ROOTS", "none"}},
	} {
		_, err := w.send(t, v.url, told, c.env...)
		if err == nil || !strings.HasPrefix(err.Text, v.name+": ") || !strings.Contains(err.Text, c.want) || err.Permanent != c.permanent {
			t.Errorf("%s: %+v", c.name, err)
			continue
		}
		v.secret(t, c.name, err)
		if strings.Contains(err.Text, "proxyS3cret") {
			t.Errorf("%s: the secret of the proxy is in the error: %s", c.name, err.Text)
		}
	}
	w.mu.Lock()
	w.down = true
	w.mu.Unlock()
	if _, err := w.send(t, v.url, told); err == nil || err.Permanent || !strings.Contains(err.Text, "Bad Gateway") {
		t.Errorf("a proxy that reaches nobody: %+v", err)
	}
	w.mu.Lock()
	w.down = false
	w.mu.Unlock()
	if got := w.requests(); len(got) > 0 {
		t.Errorf("somebody was asked: %q", got)
	}
}

// hangs has the last answer never come: at the end of the context nobody waits for it.
func (v vendor) hangs(t *testing.T, w *world) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gone := make(chan struct{})
	w.answers(v.whole(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
		close(gone)
	})...)
	if _, err := Send(ctx, state.Channel{Name: "mine", URL: v.url}, told, w.env()); err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Error("somebody still waits for an answer")
	}
}

// secret looks for the secrets of the URL in an error.
func (v vendor) secret(t *testing.T, name string, err *Error) {
	t.Helper()
	for _, s := range v.secrets {
		if strings.Contains(err.Text, s) {
			t.Errorf("%s: the secret %s is in the error: %s", name, s, err.Text)
		}
	}
}
