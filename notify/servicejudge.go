package notify

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
)

// The judges, one for each service: what it documents as its answer when it took the message. Whatever else has a status of
// 200 (the page of a hotel's network, an empty answer of a proxy, an error in a body) is no delivery.

// statusJudge is for services that document nothing but the status.
func statusJudge(*answer) (verdict, string, bool) { return delivered, "", false }

// taken is delivered or doubtful.
func taken(ok bool) (verdict, string, bool) {
	if ok {
		return delivered, "", false
	}
	return doubtful, "", false
}

// barkJudge: {"code":200,"message":"success","timestamp":…}; the code tells, not the status.
func barkJudge(a *answer) (verdict, string, bool) {
	var said struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if a.decode(&said) && said.Code >= 400 {
		return refused, said.Message, !lasting(said.Code)
	}
	return taken(said.Code == http.StatusOK)
}

// discordRewrite asks Discord to wait until the message is saved. Without wait=true it says 204 before that, and a message that it
// then does not save is no error to it (its own documentation says so). And an @everyone in the output of a task calls nobody.
func discordRewrite(_ *watcher, r *request) {
	q := r.URL.Query()
	q.Set("wait", "true")
	r.URL.RawQuery = q.Encode()
	if rest, ok := bytes.CutSuffix(r.body, []byte("}")); ok && len(rest) > 1 {
		r.body = append(bytes.Clone(rest), `,"allowed_mentions":{"parse":[]}}`...)
	}
}

// discordJudge: the message that was made, with its id.
func discordJudge(a *answer) (verdict, string, bool) {
	var said struct {
		ID string `json:"id"`
	}
	return taken(a.decode(&said) && said.ID != "")
}

// googleJudge: the message that was made, with its name spaces/SPACE/messages/MESSAGE.
func googleJudge(a *answer) (verdict, string, bool) {
	var said struct {
		Name string `json:"name"`
	}
	return taken(a.decode(&said) && strings.HasPrefix(said.Name, "spaces/"))
}

// gotifyRewrite takes out the second slash that the library puts behind the path of a server that is not at the root.
func gotifyRewrite(_ *watcher, r *request) {
	r.URL.Path, r.URL.RawPath = strings.ReplaceAll(r.URL.Path, "//", "/"), ""
}

// gotifyJudge: the message that was made, with its number.
func gotifyJudge(a *answer) (verdict, string, bool) {
	var said struct {
		ID uint64 `json:"id"`
	}
	return taken(a.decode(&said) && said.ID > 0)
}

// matrixRewrite makes of the library's requests those of the specification: version 3, the token in a header instead of the
// URL (which servers log), an object for a join, and the message PUT under a name of its own, by which a repetition is known.
func matrixRewrite(w *watcher, r *request) {
	q := r.URL.Query()
	if token := q.Get("access_token"); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	q.Del("access_token")
	r.URL.RawQuery = q.Encode()
	r.URL.Path, r.URL.RawPath = strings.Replace(r.URL.Path, "/_matrix/client/r0/", "/_matrix/client/v3/", 1), ""
	switch {
	case strings.HasPrefix(r.URL.Path, "/_matrix/client/v3/join/"):
		r.body = []byte("{}")
	case strings.HasSuffix(r.URL.Path, "/send/m.room.message"):
		name := rand.Text()
		if w.told.ID != "" {
			name = w.told.transaction(r.URL.Path)
		}
		r.Method = http.MethodPut
		r.URL.Path += "/" + name
	}
}

// matrixJudge: the event that was made, with its id; and before it a room, a token.
func matrixJudge(a *answer) (verdict, string, bool) {
	var said struct {
		Event string `json:"event_id"`
		Room  string `json:"room_id"`
		Token string `json:"access_token"`
		Flows []any  `json:"flows"`
		Rooms []any  `json:"joined_rooms"`
	}
	if !a.decode(&said) {
		return doubtful, "", false
	}
	switch path := a.url.Path; {
	case a.method == http.MethodPut:
		return taken(said.Event != "")
	case strings.Contains(path, "/join/") && said.Room != "",
		strings.HasSuffix(path, "/login") && (said.Token != "" || a.method == http.MethodGet && said.Flows != nil),
		strings.HasSuffix(path, "/joined_rooms") && len(said.Rooms) > 0:
		a.secret = said.Token
		return onTheWay, "", false
	case strings.HasSuffix(path, "/joined_rooms") && said.Rooms != nil:
		return refused, "the user is in no room, and the url names none", false
	}
	return doubtful, "", false
}

// mattermostJudge: the word ok.
func mattermostJudge(a *answer) (verdict, string, bool) { return taken(a.text() == "ok") }

// ntfyJudge: the message that was made, with its id.
func ntfyJudge(a *answer) (verdict, string, bool) {
	var said struct {
		ID    string `json:"id"`
		Event string `json:"event"`
	}
	return taken(a.decode(&said) && said.ID != "" && said.Event == "message")
}

// pushoverJudge: {"status":1,"request":…}.
func pushoverJudge(a *answer) (verdict, string, bool) {
	var said struct {
		Status *int     `json:"status"`
		Errors []string `json:"errors"`
	}
	if a.decode(&said) && said.Status != nil && *said.Status != 1 {
		return refused, strings.Join(said.Errors, ", "), false
	}
	return taken(said.Status != nil)
}

// rocketJudge: {"success":true}.
func rocketJudge(a *answer) (verdict, string, bool) {
	var said struct {
		Success *bool  `json:"success"`
		Error   string `json:"error"`
	}
	if a.decode(&said) && said.Success != nil && !*said.Success {
		return refused, said.Error, false
	}
	return taken(said.Success != nil)
}

// slackJudge: the word ok of a webhook, {"ok":true} of the API.
func slackJudge(a *answer) (verdict, string, bool) {
	if !strings.HasPrefix(a.url.Path, "/api/") {
		return taken(a.text() == "ok")
	}
	var said struct {
		OK    *bool  `json:"ok"`
		Error string `json:"error"`
	}
	if a.decode(&said) && said.OK != nil && !*said.OK {
		passing := []string{"ratelimited", "rate_limited", "internal_error", "fatal_error", "service_unavailable", "request_timeout"}
		return refused, said.Error, slices.Contains(passing, said.Error)
	}
	return taken(said.OK != nil)
}

// teamsJudge: the digit 1. When Teams itself does not take the message the status is 200 as well, and words say so.
func teamsJudge(a *answer) (verdict, string, bool) { return taken(a.text() == "1") }

// telegramJudge: {"ok":true,…}.
func telegramJudge(a *answer) (verdict, string, bool) {
	var said struct {
		OK          *bool  `json:"ok"`
		Code        int    `json:"error_code"`
		Description string `json:"description"`
	}
	if a.decode(&said) && said.OK != nil && !*said.OK {
		return refused, said.Description, !lasting(said.Code)
	}
	return taken(said.OK != nil)
}

// zulipJudge: {"result":"success",…}.
func zulipJudge(a *answer) (verdict, string, bool) {
	var said struct {
		Result string `json:"result"`
		Words  string `json:"msg"`
		Code   string `json:"code"`
	}
	if a.decode(&said) && said.Result == "error" {
		return refused, said.Words, said.Code == "RATE_LIMIT_HIT"
	}
	return taken(said.Result == "success")
}
