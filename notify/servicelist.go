package notify

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// service is one that the library speaks to: what its URL looks like, what it takes, and how its answers are read.
type service struct {
	scheme string
	name   string // as its makers write it
	form   string // of its URL, for hints
	keys   string // what may stand behind the "?", separated by spaces; "" for whatever the library takes
	hosted bool   // the host of the URL is a server; else it is part of the secret
	// check looks at what the library finds out too late, or not at all. It answers with what is wrong, free of secrets.
	check func(u *url.URL, query map[string]string) string
	size  size
	style style
	judge judge
	// rewrite mends what the library asks; nil: nothing.
	rewrite func(w *watcher, r *request)
}

// size is the most that a service takes of subject and body together, 0 for no bound that matters. What is longer is cut.
type size struct{ runes, bytes, subject int }

// style says where the subject goes.
type style int

const (
	titled style = iota // it is the title of its own that the service has
	above               // it is the first line of the text
	alone               // text and subject are one text, see compose
	topic               // it is the topic, unless the URL names one
)

// services are those whose every answer is known and tested; see judge. Schemes lists them.
var services = []service{
	{
		scheme: "bark", name: "Bark", form: "bark://:DEVICEKEY@HOST", hosted: true,
		keys:  "badge category copy group icon scheme sound title url",
		check: func(u *url.URL, _ map[string]string) string { return lacking(u, "host", "password") },
		// A push of Apple has at most 4 KiB, what the server puts round the text included.
		size: size{bytes: 3000, subject: 250}, style: titled, judge: barkJudge,
	},
	{
		scheme: "discord", name: "Discord", form: "discord://TOKEN@WEBHOOKID",
		keys: "avatar avatarurl color colordebug colorerror colorinfo colorwarn splitlines thread_id title username",
		check: func(u *url.URL, _ map[string]string) string {
			switch {
			case !digits().MatchString(u.Host):
				return "the id of the webhook, behind the @, is no number"
			case u.User.Username() == "":
				return "there is no token in front of the @"
			case u.Path != "":
				return "there is a path behind the id of the webhook"
			}
			return ""
		},
		size: size{runes: 2000, subject: 256}, style: titled, judge: discordJudge, rewrite: discordRewrite,
	},
	{
		scheme: "generic", name: "the webhook", form: "generic://HOST/PATH", hosted: true,
		check: func(u *url.URL, _ map[string]string) string { return lacking(u, "host") },
		style: above, judge: statusJudge,
	},
	{
		scheme: "googlechat", name: "Google Chat", form: "googlechat://chat.googleapis.com/v1/spaces/SPACE/messages?key=KEY&token=TOKEN", hosted: true,
		keys: "key token",
		check: func(u *url.URL, q map[string]string) string {
			switch {
			case u.Host == "":
				return "there is no host"
			case !spacePath().MatchString(u.Path):
				return "the path is not /v1/spaces/SPACE/messages"
			case q["key"] == "" || q["token"] == "":
				return "key or token is missing"
			}
			return ""
		},
		size: size{runes: 4096}, style: above, judge: googleJudge,
	},
	{
		scheme: "gotify", name: "Gotify", form: "gotify://HOST/TOKEN", hosted: true,
		keys: "date disabletls extras insecureskipverify priority title useheader",
		check: func(u *url.URL, _ map[string]string) string {
			path := strings.TrimSuffix(u.Path, "/")
			switch {
			case u.Host == "":
				return "there is no host"
			case !gotifyToken().MatchString(path[strings.LastIndex(path, "/")+1:]):
				return "the last part of the path is no token of an application, which has 15 characters and begins with A"
			}
			return ""
		},
		style: titled, judge: gotifyJudge, rewrite: gotifyRewrite,
	},
	{
		scheme: "matrix", name: "Matrix", form: "matrix://:ACCESSTOKEN@HOST/?rooms=!ROOM:HOST", hosted: true,
		keys: "disabletls room rooms title",
		check: func(u *url.URL, q map[string]string) string {
			rooms, given := q["rooms"]
			if !given {
				rooms, given = q["room"]
			}
			if given && slices.Contains(strings.Split(rooms, ","), "") {
				return "one of the rooms has no name"
			}
			return lacking(u, "host", "password")
		},
		// An event has at most 65,536 bytes, and characters that JSON escapes take six.
		size: size{bytes: 30000}, style: above, judge: matrixJudge, rewrite: matrixRewrite,
	},
	{
		scheme: "mattermost", name: "Mattermost", form: "mattermost://HOST/TOKEN", hosted: true,
		keys: "disabletls icon icon_emoji icon_url title",
		check: func(u *url.URL, _ map[string]string) string {
			if strings.Trim(u.Path, "/") == "" {
				return "there is no token behind the host"
			}
			return lacking(u, "host")
		},
		size: size{runes: 16000}, style: above, judge: mattermostJudge,
	},
	{
		scheme: "ntfy", name: "ntfy", form: "ntfy://HOST/TOPIC", hosted: true,
		keys: "actions at attach cache click delay disabletls disabletlsverification email filename firebase icon in priority scheme tags title",
		check: func(u *url.URL, _ map[string]string) string {
			switch path := strings.TrimPrefix(u.Path, "/"); {
			case u.Host == "":
				return "there is no host"
			case path == "":
				return "there is no topic behind the host"
			case !ntfyTopic().MatchString(path):
				return "the topic is not one of letters, digits, - and _, at most 64"
			}
			return ""
		},
		size: size{bytes: 4096, subject: 250}, style: titled, judge: ntfyJudge,
	},
	{
		scheme: "pushover", name: "Pushover", form: "pushover://shoutrrr:APPTOKEN@USERKEY/",
		keys: "devices priority title",
		check: func(u *url.URL, q map[string]string) string {
			switch {
			case u.Host == "":
				return "there is no key of a user behind the @"
			case q["priority"] == "2":
				return "priority 2 cannot be asked for; 1 is the highest"
			}
			return lacking(u, "password")
		},
		size: size{runes: 1024, subject: 250}, style: titled, judge: pushoverJudge,
	},
	{
		scheme: "rocketchat", name: "Rocket.Chat", form: "rocketchat://HOST/TOKENA/TOKENB", hosted: true,
		keys: "none",
		check: func(u *url.URL, _ map[string]string) string {
			if path := strings.Split(u.Path, "/"); len(path) < 3 || path[1] == "" || path[2] == "" {
				return "there are not two tokens behind the host"
			}
			return lacking(u, "host")
		},
		size: size{runes: 5000}, style: above, judge: rocketJudge,
	},
	{
		scheme: "slack", name: "Slack", form: "slack://hook:T…-B…-…@webhook, or slack://xoxb:…-…-…@CHANNEL",
		keys: "botname color icon icon_emoji icon_url thread_ts title username",
		check: func(u *url.URL, _ map[string]string) string {
			token := u.User.String()
			if len(u.Path) > 1 {
				token = u.Hostname() + u.Path
			}
			switch m := slackToken().FindStringSubmatch(token); {
			case m == nil:
				return "the token is not of three parts, or its parts are not those of Slack"
			case m[1] != m[2]:
				return "the parts of the token are not separated alike"
			case u.Hostname() == "":
				return "there is no channel behind the @"
			}
			return ""
		},
		// Slack cuts at 40,000 characters, and a character it wants escaped takes five.
		size: size{runes: 8000}, style: alone, judge: slackJudge,
	},
	{
		scheme: "teams", name: "Teams", form: "teams+https://ORG.webhook.office.com/webhookb2/…@…/IncomingWebhook/…/…/…",
		keys: "color host title",
		check: func(u *url.URL, q map[string]string) string {
			if u.Scheme != "teams" {
				if !teamsHook().MatchString(strings.TrimPrefix(u.Scheme, "teams+") + "://" + u.Host + u.Path) {
					return "it is not the URL of an incoming webhook"
				}
				return ""
			}
			parts := strings.Split(strings.TrimPrefix(u.Path, "/"), "/")
			if len(parts) != 3 || !teamsHook().MatchString("https://"+q["host"]+"/webhookb2/"+u.User.Username()+"@"+u.Hostname()+
				"/IncomingWebhook/"+strings.Join(parts, "/")) {
				return "it lacks the parts of the URL of an incoming webhook"
			}
			return ""
		},
		size: size{bytes: 20000, subject: 250}, style: titled, judge: teamsJudge,
	},
	{
		scheme: "telegram", name: "Telegram", form: "telegram://BOTTOKEN@telegram?chats=CHAT",
		keys: "channels chats notification preview title", // parsemode has messages refused for a < in them, and loses the title
		check: func(u *url.URL, q map[string]string) string {
			password, _ := u.User.Password()
			chats, given := q["chats"]
			if !given {
				chats = q["channels"]
			}
			switch {
			case !telegramToken().MatchString(u.User.Username() + ":" + password):
				return "the token in front of the @ is not that of a bot, such as 123456:ABC…"
			case slices.Contains(strings.Split(chats, ","), ""):
				return "there is no chat in chats="
			case u.Host == "":
				return "behind the @ there is no telegram"
			}
			return ""
		},
		size: size{bytes: 4096, subject: 250}, style: titled, judge: telegramJudge,
	},
	{
		scheme: "zulip", name: "Zulip", form: "zulip://BOT%40HOST:KEY@HOST?stream=STREAM", hosted: true,
		keys: "stream topic",
		check: func(u *url.URL, q map[string]string) string {
			switch {
			case u.Port() != "" || !zulipHost().MatchString(u.Hostname()):
				return "the host is not a name such as chat.example.org, without a port"
			case q["stream"] == "":
				return "there is no stream="
			}
			return lacking(u, "user", "password")
		},
		size: size{bytes: 10000}, style: topic, judge: zulipJudge,
	},
}

// others are services that the library speaks to and that no test of ours stands in for. They are taken at the word of their
// status and of the library.
var others = map[string]string{
	"ifttt": "IFTTT", "join": "Join", "lark": "Lark", "notifiarr": "Notifiarr", "opsgenie": "Opsgenie",
	"pagerduty": "PagerDuty", "pushbullet": "Pushbullet", "signal": "Signal", "wecom": "WeCom",
}

var (
	digits        = pattern(`^[0-9]+$`)
	spacePath     = pattern(`^/v1/spaces/[^/]+/messages$`)
	gotifyToken   = pattern(`^A[a-zA-Z0-9._-]{14}$`)
	ntfyTopic     = pattern(`^[-_A-Za-z0-9]{1,64}$`)
	slackToken    = pattern(`^(?:(?:xox.|hook)[-:]|:?)[A-Z0-9]{9,}([-/,])[A-Z0-9]{9,}([-/,])[A-Za-z0-9]{24,}$`)
	teamsHook     = pattern(`^https://[a-zA-Z0-9-]+\.webhook\.office\.com/webhookb2/[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}/[^/]+$`)
	telegramToken = pattern(`^[0-9]+:[a-zA-Z0-9_-]+$`)
	zulipHost     = pattern(`^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z]{2,}$`)
)

// pattern is compiled when it is first used: every start of the program would pay for it.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Schemes are the services that can be told, sorted, each tested to say honestly whether it took the message.
func Schemes() []string {
	list := make([]string, 0, len(services))
	for _, s := range services {
		list = append(list, s.scheme)
	}
	return list
}

// CheckService says what is wrong with the URL of a service, as far as can be told without asking the service. The error is
// an *Error, permanent, and holds nothing of the URL but its scheme, of which a long one is cut.
func CheckService(raw string) error {
	_, _, err := parseService(raw)
	return err
}

// schemeMost is longer than any scheme there is, in bytes.
const schemeMost = 20

// named is a scheme as errors show it: only the beginning of one that is longer than any there is, as it may be a secret in the wrong place.
func named(scheme string) string {
	scheme = Line(scheme)
	if len(scheme) <= schemeMost {
		return scheme
	}
	return strings.ToValidUTF8(scheme[:schemeMost], "") + "…"
}

// parseService finds the service of a URL that is well formed.
func parseService(raw string) (service, *url.URL, error) {
	given, rest, _ := strings.Cut(raw, ":")
	scheme := strings.ToLower(given)
	base, _, custom := strings.Cut(scheme, "+")
	i := slices.IndexFunc(services, func(s service) bool { return s.scheme == base })
	var s service
	switch name, known := others[base]; {
	case i >= 0:
		s = services[i]
	case known:
		s = service{scheme: base, name: name, style: above, judge: statusJudge}
	case base == "smtp":
		return s, nil, mendable("email is no service; make a channel of type email, with its host")
	default:
		return s, nil, mendable("there is no service %q; there are %s", named(base), strings.Join(Schemes(), ", "))
	}
	malformed := func(what string) (service, *url.URL, error) {
		if s.form == "" {
			return s, nil, mendable("the url of %s: %s", s.name, what)
		}
		return s, nil, mendable("the url of %s: %s; write it as %s", s.name, what, s.form)
	}
	if strings.ContainsFunc(raw, unicode.IsControl) || strings.Contains(raw, " ") {
		return malformed("there is a space or a control character in it, which are written as %20 and the like")
	}
	u, err := url.Parse(raw) // its error has the URL in it
	if err != nil {
		return malformed("it cannot be read; in its parts @ is written as %40, / as %2F, : as %3A and % as %25")
	}
	if u.Opaque != "" || !strings.HasPrefix(rest, "//") {
		return malformed("there is no :// behind " + named(scheme))
	}
	if custom && base != "teams" && base != "generic" || scheme != base && scheme != base+"+https" && scheme != "generic+http" {
		return malformed(named(scheme) + ":// is nothing it knows")
	}
	if u.Fragment != "" && base != "rocketchat" { // where it is the channel
		return malformed("a # in it is written as %23")
	}
	values, err := url.ParseQuery(strings.ReplaceAll(u.RawQuery, ";", "%3b"))
	if err != nil {
		return malformed("what stands behind the ? cannot be read; there % is written as %25")
	}
	query := make(map[string]string, len(values))
	for key, list := range values {
		low := strings.ToLower(key)
		if s.keys != "" && !slices.Contains(strings.Fields(s.keys), low) {
			if s.keys == "none" {
				return malformed("nothing may stand behind a ?")
			}
			return malformed("it knows " + strings.Join(strings.Fields(s.keys), ", ") + " behind the ?, and something else stands there")
		}
		if _, twice := query[low]; s.keys != "" && (twice || len(list) > 1) {
			return malformed("an option behind the ? is given twice")
		}
		query[low] = list[0]
	}
	if s.check != nil {
		if what := s.check(u, query); what != "" {
			return malformed(what)
		}
	}
	return s, u, nil
}

// lacking names the first of the parts that the URL does not have.
func lacking(u *url.URL, parts ...string) string {
	password, _ := u.User.Password()
	for _, part := range parts {
		switch {
		case part == "host" && u.Hostname() == "":
			return "there is no host"
		case part == "user" && u.User.Username() == "":
			return "there is no user in front of the @"
		case part == "password" && password == "":
			return "there is no token between the : and the @"
		}
	}
	return ""
}
