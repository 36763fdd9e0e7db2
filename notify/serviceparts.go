package notify

import (
	"cmp"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// pattern returns a regular expression that is compiled at its first use, so that other starts of
// the program do not pay for it.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// isTaken returns taken or doubtful.
func isTaken(ok bool) verdict {
	if ok {
		return taken
	}
	return doubtful
}

// textIf returns the text if the condition holds, and otherwise "".
func textIf(bad bool, text string) string {
	if bad {
		return text
	}
	return ""
}

// filled adds to an object those of the pairs of keys and values whose value is not empty.
func filled(o object, pairs ...string) object {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			o[pairs[i]] = pairs[i+1]
		}
	}
	return o
}

// base returns the server of the URL.
func (l serviceURL) base() string {
	if on(l.opt["disabletls"]) || l.opt["scheme"] == "http" {
		return "http://" + l.Host
	}
	return "https://" + l.Host
}

// userOf returns the part before the @.
func userOf(l serviceURL) string {
	password, given := l.User.Password()
	if !given {
		return l.User.Username()
	}
	return l.User.Username() + ":" + password
}

// basic returns the header for the user of the URL, if it has one.
func basic(l serviceURL) []string {
	if l.User == nil {
		return nil
	}
	password, _ := l.User.Password()
	return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(l.User.Username()+":"+password))}
}

// withIcon adds the icon of the URL to the object: the address of a picture, or the name of an
// emoji.
func withIcon(l serviceURL, o object) object {
	icon := cmp.Or(l.opt["icon"], l.opt["icon_emoji"], l.opt["icon_url"])
	if strings.HasPrefix(icon, "http://") || strings.HasPrefix(icon, "https://") {
		return filled(o, "icon_url", icon)
	}
	return filled(o, "icon_emoji", icon)
}

// lastPart splits the path before its last part.
func lastPart(l serviceURL) (path, last string) {
	path = strings.TrimSuffix(l.Path, "/")
	i := strings.LastIndex(path, "/")
	return path[:max(i, 0)], path[i+1:]
}

// matrixRooms finds the token, with a password if there is a user, and the rooms. It joins the
// rooms of the URL. Without any, it takes all rooms of the user.
func matrixRooms(l serviceURL, do requester) (serviceURL, *Error) {
	nowhere := serviceURL{URL: l.URL} // has no room, so nothing is sent
	token, _ := l.User.Password()
	v3 := l.base() + "/_matrix/client/v3/"
	if user := l.User.Username(); user != "" {
		a, err := do(request{url: v3 + "login", body: object{"type": "m.login.password", "identifier": object{"type": "m.id.user", "user": user},
			"password": token, "initial_device_display_name": userAgent}}, func(_ serviceURL, a answer) verdict { return isTaken(a.str("access_token") != "") })
		if err != nil {
			return nowhere, err
		}
		token = a.str("access_token")
	}
	bearer := []string{"Authorization", "Bearer " + token}
	var list []string
	var failed *Error
	for _, room := range rooms(l) {
		if room == "" {
			a, err := do(request{method: "GET", url: v3 + "joined_rooms", header: bearer}, func(_ serviceURL, a answer) verdict {
				_, ok := a.fields["joined_rooms"].([]any)
				return isTaken(ok)
			})
			if err != nil {
				return nowhere, err
			}
			for _, one := range a.fields["joined_rooms"].([]any) {
				name, _ := one.(string)
				list = append(list, name)
			}
			if len(list) == 0 {
				return nowhere, permanent("Matrix: the user is in no room, and the url names none")
			}
			break
		}
		if !strings.HasPrefix(room, "!") && !strings.HasPrefix(room, "#") {
			room = "#" + room
		}
		a, err := do(request{url: v3 + "join/" + url.PathEscape(room), header: bearer, body: object{}},
			func(_ serviceURL, a answer) verdict { return isTaken(a.str("room_id") != "") })
		if err != nil {
			failed = worse(failed, err)
			continue
		}
		list = append(list, a.str("room_id"))
	}
	l.opt = map[string]string{"token": token, "rooms": strings.Join(list, ","), "disabletls": l.opt["disabletls"]}
	return l, failed
}

// responders reads those of an alert, each as type:name. bad reports one of another form.
func responders(l serviceURL) (list []object, bad bool) {
	if l.opt["responders"] == "" {
		return nil, false
	}
	for _, word := range strings.Split(l.opt["responders"], ",") {
		kind, name, _ := strings.Cut(word, ":")
		key := "name"
		if kind == "user" {
			key = "username"
		}
		list = append(list, object{"type": kind, key: name})
		bad = bad || name == "" || !slices.Contains([]string{"team", "user", "schedule", "escalation"}, kind)
	}
	return list, bad
}

// slackWord returns the token, wherever the URL has it.
func slackWord(l serviceURL) string {
	if len(l.Path) > 1 {
		return l.Hostname() + l.Path
	}
	return userOf(l)
}

// slackHook reports whether the URL is a webhook, and not a channel that a bot writes to.
func slackHook(l serviceURL) bool {
	m := slackToken().FindStringSubmatch(slackWord(l))
	return m[1] == "" || m[1] == "hook"
}

// teamsURL returns the URL of an incoming webhook: as it was given, or put together from its parts.
func teamsURL(l serviceURL) string {
	if l.Scheme != "teams" {
		return "https://" + l.Host + l.Path
	}
	parts := strings.Split(strings.TrimPrefix(l.Path, "/"), "/")
	if len(parts) != 3 {
		return ""
	}
	return "https://" + l.opt["host"] + "/webhookb2/" + l.User.Username() + "@" + l.Hostname() + "/IncomingWebhook/" + strings.Join(parts, "/")
}
