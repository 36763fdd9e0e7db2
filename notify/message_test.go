package notify

import (
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

func TestFind(t *testing.T) {
	configured := map[string]state.Channel{
		"ops":   {Type: Webhook, URL: "https://example.org/hook"},
		"email": {Type: Email, Host: "smtp.example.org", To: "me@example.org"},
		"box":   {URL: "mailto:box@example.org"},
		"chat":  {Type: "ntfy", URL: "ntfy://ntfy.sh/topic"},
	}
	for _, row := range []struct {
		word, name, kind, to, say string
	}{
		{"desktop", "desktop", Desktop, "", ""},
		{"terminal:/dev/pts/3", "terminal", TTY, "/dev/pts/3", ""},
		{"email", "email", Email, "me@example.org", ""},
		{"email:bob@example.org", "email", Email, "bob@example.org", ""},
		{"ops:bob", "ops", Webhook, "bob", ""},
		{"box", "box", Email, "box@example.org", ""},
		{"mailto:bob%2Bx@example.org", "email", Email, "bob+x@example.org", ""},
		{"MAILTO:bob@example.org", "email", Email, "bob@example.org", ""},
		{"https://u:pw@example.org:8080/a/b?c=d#e", "https://example.org:8080/…", Webhook, "", ""},
		{"HTTPS://example.org", "https://example.org", Webhook, "", ""},
		{"ntfy://ntfy.sh/topic", "ntfy://…", "ntfy", "", ""},
		{"slack+https://a/b/c", "slack+https://…", "slack", "", ""},
		{"pager", "", "", "", `there is no channel "pager"; there are box, chat, desktop, email, ops, terminal`},
		{"desktop:bob", "", "", "", "channel desktop takes no recipient"},
		{"chat:bob", "", "", "", "channel chat takes no recipient"},
		{"email:", "", "", "", "no recipient after the colon"},
		{"mailto:a@b?subject=x", "", "", "", "takes one address and nothing else"},
		{"https://", "", "", "", "cannot be understood"},
		{"://token", "", "", "", "no scheme"},
		{"a b://token", "", "", "", "no scheme"},
		{"https://[::1/token", "", "", "", "cannot be understood"},
	} {
		c, err := Find(row.word, configured)
		if row.say != "" {
			if err == nil || !strings.Contains(err.Error(), row.say) || strings.Contains(err.Error(), "token") {
				t.Errorf("%s: %+v %v, want %q", row.word, c, err, row.say)
			}
			continue
		}
		if err != nil || c.Name != row.name || c.Type != row.kind || c.To != row.to {
			t.Errorf("%s: %+v %v", row.word, c, err)
		}
	}
}

func TestRedact(t *testing.T) {
	for url, want := range map[string]string{
		"https://user:pw@example.org/a/token?key=x#frag": "https://example.org/…",
		"https://example.org":                            "https://example.org",
		"https://example.org/":                           "https://example.org",
		"https://example.org?token":                      "https://example.org/…",
		"slack://xoxb:token@channel":                     "slack://…",
		"telegram://token@telegram?chats=1":              "telegram://…",
		"mailto:bob@example.org?subject=x":               "mailto:bob@example.org",
		"https://exa mple/token":                         "https://…",
		"token":                                          "…",
		"https://a\x1b.example/token":                    "https://…",
	} {
		if got := Redact(url); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for _, good := range []string{"bob@example.org", "Bob <bob@example.org>", `"Smith, Bob" <bob@example.org>`, "zażółć@example.org"} {
		if _, err := Address(good); err != nil {
			t.Errorf("%s: %v", good, err)
		}
	}
	for bad, say := range map[string]string{
		"bob": "not an address", "": "not an address", "a@b, c@d": "2 addresses", "a@b\r\nBcc: c@d": "control", "a@b\x00": "control",
		"=?utf-8?q?a=0d=0aBcc:_x?= <a@b>": "not an address", "bob@": "not an address", "<a@b": "not an address",
	} {
		if _, err := Address(bad); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v, want %q", bad, err, say)
		}
	}
}

func TestTextOfHTML(t *testing.T) {
	for _, row := range []struct{ name, html, text string }{
		{"paragraphs", "<p>one</p>\n<p>two\n  words</p>", "one\n\ntwo words"},
		{"entities", "a &lt;b&gt; &amp;&nbsp;c &#380;", "a <b> &\u00a0c ż"},
		{"links", `<a class=x href="https://example.org/?a=b">here</a>, <a href='https://x.org'>https://x.org</a>, <a href="#top">up</a>`, "here (https://example.org/?a=b), https://x.org, up"},
		{"a list", "<ul><li>one<li>two</ul>", "- one\n- two"},
		{"a table", "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a  b\n\nc"},
		{"not shown", "<style>p{}</style><script>alert('<p>')</script><!-- <p>no</p> -->yes<title>t</title>", "yes"},
		{"no tags", "2 < 3 and 4 > 1", "2 < 3 and 4 > 1"},
		{"never closed", "a <b>b <script>x", "a b"},
	} {
		if got := plainText(row.html); got != row.text {
			t.Errorf("%s: %q, want %q", row.name, got, row.text)
		}
	}
	// Whatever is fed to it, it ends soon, and control characters are no news.
	plainText(strings.Repeat("<a href=", 20_000) + strings.Repeat("<!--", 20_000))
}

func TestTitle(t *testing.T) {
	for _, row := range []struct {
		m    Message
		want string
	}{
		{Message{Subject: "S", Body: "b"}, "S"},
		{Message{Body: "\n  first\tline \nsecond"}, "first line"},
		{Message{Body: strings.Repeat("ż", 100)}, strings.Repeat("ż", 77) + "…"},
		{Message{Body: "<p></p><p>Hello</p>", HTML: true}, "Hello"},
		{Message{Body: "\x1b[31m"}, "[31m"},
		{Message{}, "ouro-timer"},
	} {
		if got := row.m.Title(); got != row.want {
			t.Errorf("%+v: %q, want %q", row.m, got, row.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\nBcc: x": "a Bcc: x", " a\t\tb ": "a b", "a\x00\x1b[0m": "a[0m", "a\u2028b": "ab", "\xff": "\uFFFD", "żółw": "żółw", "\u202e": "",
	} {
		if got := OneLine(text); got != want || HasControl(got) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestSubjectTooLong(t *testing.T) {
	m, err := checked(Message{Subject: strings.Repeat("x", SubjectLimit)})
	if err != nil || len(m.Subject) != SubjectLimit {
		t.Error(len(m.Subject), err)
	}
	if m, err = checked(Message{Subject: strings.Repeat("x", SubjectLimit+1)}); err != nil || m.Subject != strings.Repeat("x", 199)+"…" {
		t.Error(m.Subject, err)
	}
}

func TestRefusedForAll(t *testing.T) {
	c := state.Channel{Name: "ops", Type: Exec, Command: []string{"false"}}
	for say, m := range map[string]Message{
		"more than the 1048576": {Body: strings.Repeat("x", BodyLimit+1)},
		"not valid UTF-8":       {Body: "\xff"},
		"the subject has":       {Subject: "a\nb"},
		"the recipient has":     {To: "a\nb"},
	} {
		_, err := Send(t.Context(), c, m, outside(nil))
		if e := fault(t, err); !e.Permanent || !strings.Contains(e.Text, say) {
			t.Errorf("%s: %+v", say, e)
		}
	}
	c.Exposed = "/home/me/.ouro/config.toml"
	_, err := Send(t.Context(), c, Message{Body: "x"}, outside(nil))
	if e := fault(t, err); !e.Permanent || !e.Here || !strings.Contains(e.Text, "chmod 600") {
		t.Errorf("%+v", e)
	}
}

func TestBell(t *testing.T) {
	m := Message{Subject: "S;1", Body: "9;4;1\n\x1b]0;x\a"}
	const device = "/dev/pts/3"
	for _, row := range []struct {
		name, device string
		vars         map[string]string
		want         string
	}{
		{"nothing is known", device, nil, "\a"},
		{"another terminal", "/dev/pts/4", map[string]string{"TERM": "xterm-kitty"}, "\a"},
		{"kitty", device, map[string]string{"TERM": "xterm-kitty"}, "\x1b]99;i=ouro:d=0:p=title;S;1\x1b\\\x1b]99;i=ouro:d=1:p=body;9;4;1 ]0;x\x1b\\"},
		{"foot", device, map[string]string{"TERM": "foot"}, "\x1b]777;notify;S,1;9;4;1 ]0;x\x1b\\"},
		{"WezTerm", device, map[string]string{"TERM_PROGRAM": "WezTerm", "TERM": "xterm-256color"}, "\x1b]777;notify;S,1;9;4;1 ]0;x\x1b\\"},
		{"iTerm2", device, map[string]string{"TERM_PROGRAM": "iTerm.app"}, "\x1b]9;S;1: 9;4;1 ]0;x\x1b\\"},
		{"tmux in kitty", device, map[string]string{"KITTY_WINDOW_ID": "1", "TMUX": "/tmp/x,1,0", "TERM_PROGRAM": "tmux"}, "\a"},
		{"xterm", device, map[string]string{"TERM": "xterm-256color"}, "\a"},
	} {
		env := outside(row.vars)
		env.Terminal = device
		if got := bellFor(row.device, m, env); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	env := outside(map[string]string{"TERM_PROGRAM": "iTerm.app"})
	env.Terminal = device
	if got := bellFor(device, Message{Body: "4;1;50"}, env); got != "\x1b]9; 4;1;50\x1b\\" {
		t.Errorf("%q is a progress bar", got)
	}
	if got := bellFor(device, Message{Body: strings.Repeat("ż", 5000)}, env); len(got) > 1100 || strings.Contains(got, "\uFFFD") {
		t.Errorf("%d bytes", len(got))
	}
}
