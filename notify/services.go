package notify

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// service describes a service: its URL, the request that it takes, and its answer when it took the
// message.
type service struct {
	scheme string
	name   string // as its makers write it
	form   string // the form of its URL, for hints
	keys   string // the names allowed after the "?", separated by spaces
	hosted bool   // the host of the URL is a server; otherwise it is part of the secret
	check  func(l serviceURL) string
	size   size
	titled bool // the subject has a field of its own; otherwise it is the first line of the text
	// before, if set, requests what ask needs and returns a URL with it. It returns a URL and an
	// error when it got only a part.
	before func(l serviceURL, do requester) (serviceURL, *Error)
	ask    func(l serviceURL, t text) []request
	took   func(l serviceURL, a answer) verdict
}

// serviceURL is the URL of a service, with the parameters after its "?" by their names in lower
// case.
type serviceURL struct {
	*url.URL
	opt map[string]string
}

// text is the message in the form of the service.
type text struct {
	title, body string
	key         string // identifies the message: a repetition has the same key
}

// head returns a title line for services that require one.
func (t text) head(most int) string {
	first, _, _ := strings.Cut(strings.TrimSpace(t.body), "\n")
	return plain.Cut(cmp.Or(t.title, OneLine(first)), most)
}

// verdict is what an answer with a status of 200 to 299 means for the message. The login page of a
// network has such a status too, and so do the errors of some services.
type verdict int

const (
	doubtful verdict = iota // not the answer that the service gives when it took the message
	taken
	refused // the service did not take it, and will not
	busy    // the service did not take it, but may later
)

// object is a JSON object.
type object = map[string]any

// services are all of them, sorted. Each row follows the documentation of the service.
var services = []service{
	{
		scheme: "discord", name: "Discord", form: "discord://TOKEN@WEBHOOKID",
		keys: "avatar avatarurl color thread_id title username",
		check: func(l serviceURL) string {
			_, err := strconv.ParseUint(discordColor(l), 16, 24)
			return cmp.Or(
				textIf(!digits().MatchString(l.Host), "the id of the webhook, after the @, is not a number"),
				textIf(l.User.Username() == "", "there is no token before the @"),
				textIf(l.Path != "", "there is a path behind the id of the webhook"),
				textIf(err != nil, "the color is not a number such as 0x50d9ff"),
			)
		},
		size: size{units: 4096, subject: 256}, titled: true,
		ask: func(l serviceURL, t text) []request {
			color, _ := strconv.ParseUint(discordColor(l), 16, 24)
			// Without wait=true it answers before it saves the message, and does not report an
			// error of saving.
			q := url.Values{"wait": {"true"}}
			if thread := l.opt["thread_id"]; thread != "" {
				q.Set("thread_id", thread)
			}
			return []request{{url: "https://discord.com/api/webhooks/" + l.Host + "/" + url.PathEscape(l.User.Username()) + "?" + q.Encode(), body: filled(object{
				"embeds": []object{filled(object{"description": t.body, "color": color}, "title", t.title)},
				// an @everyone in the output of a task must not notify anybody
				"allowed_mentions": object{"parse": []string{}},
			}, "username", l.opt["username"], "avatar_url", cmp.Or(l.opt["avatar"], l.opt["avatarurl"]))}}
		},
		took: func(_ serviceURL, a answer) verdict { return isTaken(a.str("id") != "") },
	},
	{
		scheme: "googlechat", name: "Google Chat", form: "googlechat://chat.googleapis.com/v1/spaces/SPACE/messages?key=KEY&token=TOKEN", hosted: true,
		keys: "key token",
		check: func(l serviceURL) string {
			return cmp.Or(
				missingPart(l, "host"),
				textIf(!spacePath().MatchString(l.Path), "the path is not /v1/spaces/SPACE/messages"),
				textIf(l.opt["key"] == "" || l.opt["token"] == "", "key or token is missing"),
			)
		},
		size: size{units: 4096},
		ask: func(l serviceURL, t text) []request {
			q := url.Values{"key": {l.opt["key"]}, "token": {l.opt["token"]}}
			return []request{{url: "https://" + l.Host + l.EscapedPath() + "?" + q.Encode(), body: object{"text": t.body}}}
		},
		took: func(_ serviceURL, a answer) verdict { return isTaken(strings.HasPrefix(a.str("name"), "spaces/")) },
	},
	{
		scheme: "gotify", name: "Gotify", form: "gotify://HOST/TOKEN", hosted: true,
		keys: "date disabletls extras insecureskipverify priority title",
		check: func(l serviceURL) string {
			_, token := lastPart(l)
			_, err := strconv.Atoi(cmp.Or(l.opt["priority"], "0"))
			return cmp.Or(
				missingPart(l, "host"),
				textIf(!gotifyToken().MatchString(token), "the last part of the path is not the token of an application, which has 15 characters and begins with A"),
				textIf(err != nil, "the priority is not a number"),
				textIf(l.opt["extras"] != "" && !json.Valid([]byte(l.opt["extras"])), "extras are not JSON"),
			)
		},
		titled: true,
		ask: func(l serviceURL, t text) []request {
			path, token := lastPart(l)
			priority, _ := strconv.Atoi(l.opt["priority"])
			body := filled(object{"message": t.body, "priority": priority}, "title", t.title, "date", l.opt["date"])
			if extras := l.opt["extras"]; extras != "" {
				body["extras"] = json.RawMessage(extras)
			}
			// In a header, because servers log URLs.
			return []request{{url: l.base() + path + "/message", header: []string{"X-Gotify-Key", token}, body: body}}
		},
		took: func(_ serviceURL, a answer) verdict { id, _ := a.fields["id"].(float64); return isTaken(id > 0) },
	},
	{
		scheme: "matrix", name: "Matrix", form: "matrix://:ACCESSTOKEN@HOST/?rooms=!ROOM:HOST", hosted: true,
		keys: "disabletls room rooms title",
		check: func(l serviceURL) string {
			_, one := l.opt["room"]
			_, more := l.opt["rooms"]
			return cmp.Or(textIf((one || more) && slices.Contains(rooms(l), ""), "one of the rooms has no name"), missingPart(l, "host", "password"))
		},
		// an event has at most 65,536 bytes, and escaping in JSON takes more
		size:   size{bytes: 30000},
		before: matrixRooms,
		ask: func(l serviceURL, t text) (list []request) {
			for _, room := range rooms(l) {
				if room == "" {
					continue
				}
				list = append(list, request{method: "PUT", url: l.base() + "/_matrix/client/v3/rooms/" + url.PathEscape(room) + "/send/m.room.message/" + t.key,
					header: []string{"Authorization", "Bearer " + l.opt["token"]}, body: object{"msgtype": "m.text", "body": t.body}})
			}
			return list
		},
		took: func(_ serviceURL, a answer) verdict { return isTaken(a.str("event_id") != "") },
	},
	{
		scheme: "mattermost", name: "Mattermost", form: "mattermost://HOST/TOKEN", hosted: true,
		keys: "disabletls icon icon_emoji icon_url title",
		check: func(l serviceURL) string {
			return cmp.Or(textIf(strings.Trim(l.Path, "/") == "", "there is no token after the host"), missingPart(l, "host"))
		},
		size: size{units: 16000},
		ask: func(l serviceURL, t text) []request {
			token, channel, _ := strings.Cut(strings.Trim(l.Path, "/"), "/")
			return []request{{url: l.base() + "/hooks/" + url.PathEscape(token), body: withIcon(l, filled(object{"text": t.body}, "username", l.User.Username(), "channel", channel))}}
		},
		took: func(_ serviceURL, a answer) verdict { return isTaken(a.text == "ok") },
	},
	{
		scheme: "ntfy", name: "ntfy", form: "ntfy://HOST/TOPIC", hosted: true,
		keys: "actions at attach cache click delay disabletls disabletlsverification email filename firebase icon in priority scheme tags title",
		check: func(l serviceURL) string {
			path := strings.TrimPrefix(l.Path, "/")
			return cmp.Or(
				missingPart(l, "host"),
				textIf(path == "", "there is no topic after the host"),
				textIf(!ntfyTopic().MatchString(path), "the topic is not one of letters, digits, - and _, at most 64"),
				textIf(!slices.Contains([]string{"", "http", "https"}, l.opt["scheme"]), "the scheme is not http or https"),
			)
		},
		size: size{bytes: 4096, subject: 250}, titled: true,
		ask: func(l serviceURL, t text) []request {
			header := basic(l)
			for _, key := range strings.Fields("actions at attach cache click delay email filename firebase icon in priority tags") {
				if value := OneLine(l.opt[key]); value != "" {
					header = append(header, key, value)
				}
			}
			if t.title != "" {
				header = append(header, "Title", OneLine(t.title))
			}
			return []request{{url: l.base() + l.EscapedPath(), header: header, body: t.body}}
		},
		took: func(_ serviceURL, a answer) verdict { return isTaken(a.str("id") != "" && a.str("event") == "message") },
	},
	{
		scheme: "opsgenie", name: "Opsgenie", form: "opsgenie://api.opsgenie.com/APIKEY", hosted: true,
		keys: "alias entity note priority responders source tags title user",
		check: func(l serviceURL) string {
			_, bad := responders(l)
			return cmp.Or(
				missingPart(l, "host"),
				textIf(strings.Trim(l.Path, "/") == "", "there is no key after the host"),
				textIf(l.opt["priority"] != "" && !opsPriority().MatchString(l.opt["priority"]), "the priority is not one of P1 to P5"),
				textIf(bad, "responders are written as team:NAME, user:NAME, schedule:NAME or escalation:NAME"),
			)
		},
		size: size{units: 15000, subject: 130}, titled: true,
		ask: func(l serviceURL, t text) []request {
			// A repetition has the same alias, so there is one alert.
			body := filled(object{"message": t.head(130), "description": t.body}, "alias", cmp.Or(l.opt["alias"], t.key), "entity", l.opt["entity"],
				"note", l.opt["note"], "priority", l.opt["priority"], "source", cmp.Or(l.opt["source"], userAgent), "user", l.opt["user"])
			if list, _ := responders(l); list != nil {
				body["responders"] = list
			}
			if l.opt["tags"] != "" {
				body["tags"] = strings.Split(l.opt["tags"], ",")
			}
			return []request{{url: l.base() + "/v2/alerts", header: []string{"Authorization", "GenieKey " + strings.Trim(l.Path, "/")}, body: body}}
		},
		took: func(_ serviceURL, a answer) verdict {
			return isTaken(a.str("requestId") != "" && a.str("result") != "")
		},
	},
	{
		scheme: "pagerduty", name: "PagerDuty", form: "pagerduty://events.pagerduty.com/INTEGRATIONKEY", hosted: true,
		keys: "action client client_url dedup_key severity source title",
		check: func(l serviceURL) string {
			return cmp.Or(
				textIf(!pagerKey().MatchString(strings.Trim(l.Path, "/")), "the key after the host has not 32 characters of 0-9 and a-f"),
				textIf(!slices.Contains([]string{"", "critical", "error", "warning", "info"}, l.opt["severity"]), "the severity is not one of critical, error, warning and info"),
				textIf(!slices.Contains([]string{"", "trigger", "acknowledge", "resolve"}, l.opt["action"]), "the action is not one of trigger, acknowledge and resolve"),
			)
		},
		// an event has at most 512 KB, and escaping in JSON takes up to six times as much
		size: size{bytes: 80000, subject: 1024}, titled: true,
		ask: func(l serviceURL, t text) []request {
			l.Host = cmp.Or(l.Host, "events.pagerduty.com")
			return []request{{url: l.base() + "/v2/enqueue", body: filled(object{
				"routing_key": strings.Trim(l.Path, "/"), "event_action": cmp.Or(l.opt["action"], "trigger"), "dedup_key": cmp.Or(l.opt["dedup_key"], t.key),
				"payload": object{
					"summary": t.head(1024), "severity": cmp.Or(l.opt["severity"], "error"), "source": cmp.Or(l.opt["source"], userAgent),
					"custom_details": object{"body": t.body},
				},
			}, "client", l.opt["client"], "client_url", l.opt["client_url"])}}
		},
		took: func(_ serviceURL, a answer) verdict {
			if a.str("status") == "invalid event" {
				return refused
			}
			return isTaken(a.str("status") == "success")
		},
	},
	{
		scheme: "pushover", name: "Pushover", form: "pushover://shoutrrr:APPTOKEN@USERKEY/",
		keys: "devices priority title",
		check: func(l serviceURL) string {
			return cmp.Or(
				textIf(l.Host == "", "there is no key of a user after the @"),
				textIf(l.opt["priority"] == "2", "priority 2 cannot be asked for; 1 is the highest"),
				textIf(!slices.Contains([]string{"", "-2", "-1", "0", "1"}, l.opt["priority"]), "the priority is not one of -2, -1, 0 and 1"),
				missingPart(l, "password"),
			)
		},
		size: size{units: 1024, subject: 250}, titled: true,
		ask: func(l serviceURL, t text) []request {
			token, _ := l.User.Password()
			form := url.Values{"token": {token}, "user": {l.Host}, "message": {t.body}}
			for key, value := range map[string]string{"title": t.title, "device": l.opt["devices"], "priority": l.opt["priority"]} {
				if value != "" {
					form.Set(key, value)
				}
			}
			return []request{{url: "https://api.pushover.net/1/messages.json", body: form}}
		},
		took: func(_ serviceURL, a answer) verdict {
			if status, ok := a.fields["status"].(float64); ok && status != 1 {
				return refused
			}
			return isTaken(a.fields["status"] == 1.0)
		},
	},
	{
		scheme: "slack", name: "Slack", form: "slack://hook:T…-B…-…@webhook, or slack://xoxb:…-…-…@CHANNEL",
		keys: "botname color icon icon_emoji icon_url thread_ts title username",
		check: func(l serviceURL) string {
			m := slackToken().FindStringSubmatch(slackWord(l))
			return cmp.Or(
				textIf(m == nil, "the token is not of three parts, or its parts are not those of Slack"),
				textIf(m != nil && m[3] != m[5], "the parts of the token are not separated alike"),
				textIf(l.Hostname() == "", "there is no channel after the @"),
			)
		},
		// Slack cuts at 40,000 characters, and an escaped one takes five
		size: size{units: 8000},
		ask: func(l serviceURL, t text) []request {
			m := slackToken().FindStringSubmatch(slackWord(l))
			// Slack reads these three as marks: <!channel> would notify everybody.
			said := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(t.body)
			body := withIcon(l, filled(object{"text": said}, "username", cmp.Or(l.opt["botname"], l.opt["username"]), "thread_ts", l.opt["thread_ts"]))
			if color := l.opt["color"]; color != "" {
				delete(body, "text")
				body["attachments"] = []object{{"color": color, "text": said, "fallback": said}}
			}
			if slackHook(l) {
				return []request{{url: "https://hooks.slack.com/services/" + m[2] + "/" + m[4] + "/" + m[6], body: body}}
			}
			body["channel"] = l.Hostname()
			return []request{{url: "https://slack.com/api/chat.postMessage", header: []string{"Authorization", "Bearer " + m[1] + "-" + m[2] + "-" + m[4] + "-" + m[6]}, body: body}}
		},
		took: func(l serviceURL, a answer) verdict {
			passing := []string{"ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"}
			switch {
			case slackHook(l):
				return isTaken(a.text == "ok")
			case a.fields["ok"] == false && slices.Contains(passing, a.str("error")):
				return busy
			case a.fields["ok"] == false:
				return refused
			}
			return isTaken(a.fields["ok"] == true)
		},
	},
	{
		scheme: "teams", name: "Teams", form: "teams+https://… with the URL of a workflow, or of an incoming webhook (ORG.webhook.office.com)",
		keys: "api-version color host sig sp sv tenantid title",
		check: func(l serviceURL) string {
			if l.Scheme == "teams" {
				return textIf(!teamsHook().MatchString(teamsURL(l)), "it lacks the parts of the URL of an incoming webhook")
			}
			return textIf(!teamsHook().MatchString(teamsURL(l)) && (!teamsFlow().MatchString("https://"+l.Hostname()) || l.opt["sig"] == ""), "it is not the URL of a workflow or of an incoming webhook")
		},
		size: size{bytes: 20000, subject: 250}, titled: true, // a message has about 28 KB
		ask: func(l serviceURL, t text) []request {
			if teamsHook().MatchString(teamsURL(l)) {
				return []request{{url: teamsURL(l), body: filled(object{"@type": "MessageCard", "@context": "http://schema.org/extensions", "summary": t.head(250),
					"markdown": true, "text": strings.ReplaceAll(t.body, "\n", "\n\n")}, "title", t.title, "themeColor", l.opt["color"])}}
			}
			blocks := []object{{"type": "TextBlock", "text": strings.ReplaceAll(t.body, "\n", "\n\n"), "wrap": true}}
			if t.title != "" {
				blocks = append([]object{{"type": "TextBlock", "text": t.title, "wrap": true, "weight": "bolder", "size": "medium"}}, blocks...)
			}
			q := l.Query()
			q.Del("title")
			q.Del("color")
			return []request{{url: "https://" + l.Host + l.EscapedPath() + "?" + q.Encode(), body: object{"type": "message", "attachments": []object{{
				"contentType": "application/vnd.microsoft.card.adaptive",
				"content":     object{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": blocks},
			}}}}}
		},
		// When Teams itself refuses the message of a webhook, the status is 200 as well, and only
		// the words say so.
		took: func(l serviceURL, a answer) verdict {
			return isTaken(a.text == "1" && a.status == 200 || a.status == 202 && !teamsHook().MatchString(teamsURL(l)))
		},
	},
	{
		scheme: "telegram", name: "Telegram", form: "telegram://BOTTOKEN@telegram?chats=CHAT",
		keys: "channels chats notification preview title",
		check: func(l serviceURL) string {
			return cmp.Or(
				textIf(!telegramToken().MatchString(userOf(l)), "the token before the @ is not that of a bot, such as 123456:ABC…"),
				textIf(slices.Contains(chats(l), ""), "there is no chat in chats="),
				textIf(l.Host == "", "there is no \"telegram\" after the @"),
			)
		},
		size: size{units: 4096},
		ask: func(l serviceURL, t text) (list []request) {
			for _, chat := range chats(l) {
				id, thread, _ := strings.Cut(chat, ":")
				body := object{"chat_id": id, "text": t.body, "disable_notification": off(l.opt["notification"]), "link_preview_options": object{"is_disabled": off(l.opt["preview"])}}
				if n, err := strconv.Atoi(thread); err == nil {
					body["message_thread_id"] = n
				}
				if t.title != "" {
					body["entities"] = []object{{"type": "bold", "offset": 0, "length": utf16Length(t.title)}}
				}
				list = append(list, request{url: "https://api.telegram.org/bot" + userOf(l) + "/sendMessage", body: body})
			}
			return list
		},
		took: func(_ serviceURL, a answer) verdict {
			if code, _ := a.fields["error_code"].(float64); a.fields["ok"] == false && permanentStatus(int(code)) {
				return refused
			} else if a.fields["ok"] == false {
				return busy
			}
			return isTaken(a.fields["ok"] == true)
		},
	},
}

var (
	digits        = pattern(`^[0-9]+$`)
	spacePath     = pattern(`^/v1/spaces/[^/]+/messages$`)
	gotifyToken   = pattern(`^A[a-zA-Z0-9._-]{14}$`)
	ntfyTopic     = pattern(`^[-_A-Za-z0-9]{1,64}$`)
	opsPriority   = pattern(`^P[1-5]$`)
	pagerKey      = pattern(`^[a-fA-F0-9]{32}$`)
	slackToken    = pattern(`^(?:(xox.|hook)[-:]|:?)([A-Z0-9]{9,})([-/,])([A-Z0-9]{9,})([-/,])([A-Za-z0-9]{24,})$`)
	teamsHook     = pattern(`^https://[a-zA-Z0-9-]+\.webhook\.office\.com/webhookb2/[0-9a-f-]{36}@[0-9a-f-]{36}/IncomingWebhook/[0-9a-f]{32}/[0-9a-f-]{36}/[^/]+$`)
	teamsFlow     = pattern(`^https://[a-zA-Z0-9.-]+\.(logic\.azure\.com|api\.powerplatform\.com)$`)
	telegramToken = pattern(`^[0-9]+:[a-zA-Z0-9_-]+$`)
)

// flags are the options that are on or off.
var flags = []string{"disabletls", "disabletlsverification", "insecureskipverify", "notification", "preview"}

func on(word string) bool {
	return slices.Contains([]string{"yes", "true", "1"}, strings.ToLower(word))
}

func off(word string) bool {
	return slices.Contains([]string{"no", "false", "0"}, strings.ToLower(word))
}

func discordColor(l serviceURL) string {
	return strings.TrimPrefix(strings.TrimLeft(strings.ToLower(cmp.Or(l.opt["color"], "50d9ff")), "#"), "0x")
}

func chats(l serviceURL) []string {
	return strings.Split(cmp.Or(l.opt["chats"], l.opt["channels"]), ",")
}

func rooms(l serviceURL) []string { return strings.Split(cmp.Or(l.opt["rooms"], l.opt["room"]), ",") }
