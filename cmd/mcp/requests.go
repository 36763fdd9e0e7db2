package mcp

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// These are the effects of an edit.
var editActions = []string{"change", "pause", "resume", "restore"}

// These are the most rows that a tool answers with by default.
const (
	listLimit   = 50
	inboxLimit  = 20
	outputLimit = 8192
)

// healthLimit is the timeout of health-wait unless the call gives another.
const healthLimit = 120 * time.Second

// missing is the problem of a call without a required argument.
func (t *tool) missing(key string) error {
	return refuse(fmt.Sprintf("%s needs %q", t.name, key), "send "+t.example)
}

// both is the problem of two options that exclude each other.
func (t *tool) both(v option.Values, names ...string) error {
	var there []string
	for _, name := range names {
		if v.Has(name) {
			there = append(there, option.JSON(t.rows.Named(name).FieldKey()))
		}
	}
	if len(there) < 2 {
		return nil
	}
	return refuse(strings.Join(there, " and ")+" exclude each other", "send one of them")
}

// alone refuses options beside some that exclude them.
func (t *tool) alone(v option.Values, refused func(key string) error, names ...string) error {
	for _, name := range v.Names() {
		if !slices.Contains(names, name) {
			return refused(t.rows.Named(name).FieldKey())
		}
	}
	return nil
}

// calls makes the request of a command with options and arguments.
func calls(command string, v option.Values, args ...string) request {
	return request{Request: Request{Command: command, Line: option.Line{Values: v.With("json", true), Args: args}}}
}

// running adds a command after the arguments of a request.
func (r request) running(words []string) request {
	if len(words) > 0 {
		r.Line.Tail, r.Line.Dash = words, true
	}
	return r
}

// blocking makes the request of a call that blocks for at most so long. The caller may have said
// how long.
func (r request) blocking(most time.Duration, said bool) request {
	r.most, r.bounded = most, said
	r.Line.Values = r.Line.Values.With("max", strconv.FormatFloat(most.Seconds(), 'f', -1, 64)+"s")
	return r
}

// asked returns the request with another one that is made beside it.
func (r request) asked() *Request { return &r.Request }

func waitRequest(o *Options, t *tool, v option.Values) (request, error) {
	v, err := moded(t, v)
	if err == nil {
		err = t.both(v, "when", "resume", "any")
	}
	if err != nil {
		return request{}, err
	}
	most, err := o.bound(v)
	if err != nil {
		return request{}, err
	}
	time := strings.TrimSpace(v.Text("when"))
	r := calls("wait", t.options(v)).blocking(most, v.Has("max"))
	switch {
	case v.Has("any"):
		r.Line.Values, r.Line.Args = r.Line.Values.With("any", true), v.List("any")
		if v.Has("task") {
			return r, refuse(`"any" and "task" exclude each other`, `leave "task" out: the answer names which came`)
		}
		return r, nil
	case v.Has("resume"):
	case time != "":
		r.Line.Args = []string{time}
	case !timed(v.Has):
		return r, t.missing("when")
	}
	if v.Has("task") && !v.Has("resume") {
		r.Line.Args, r.Line.Dash, r.Line.After = append(r.Line.Args, v.Text("task")), true, 1
	}
	r.left, r.asks = o.ends(t, v)
	return r, nil
}

// moded returns a wait in its older form, in which a mode says what the value is, as other calls
// are.
func moded(t *tool, v option.Values) (option.Values, error) {
	if !v.Has("mode") && !v.Has("value") {
		return v, nil
	}
	for _, other := range []string{"when", "resume"} {
		if v.Has(other) {
			return v, refuse(fmt.Sprintf(`%q excludes "mode" and "value"`, other), `send "when" alone`)
		}
	}
	form := map[string]string{"delay": "delay", "interval": "every",
		"cron": "cron"}[strings.ToLower(strings.TrimSpace(v.Text("mode")))]
	switch {
	case !v.Has("mode") || !v.Has("value"):
		return v, refuse(`"mode" and "value" belong together`, `send "when" in their place, such as "30s"`)
	case form == "":
		return v, refuse(fmt.Sprintf("%q is %q", "mode", v.Text("mode")),
			`send "delay", "interval" or "cron", or "when" in place of mode and value`)
	case v.Has(form):
		return v, refuse(fmt.Sprintf(`"mode" and %q exclude each other`, form), "send one of them")
	}
	x, err := t.rows.Named(form).Coerce("value", v.Text("value"))
	return v.Without("mode", "value").With(form, x), err
}

// ends returns how long a wait has left, or the call that says so.
func (o *Options) ends(t *tool, v option.Values) (left time.Duration, asks *Request) {
	if v.Has("resume") {
		return 0, calls("show", option.Values{}, v.Text("resume")).asked()
	}
	text := strings.TrimSpace(v.Text("when"))
	length := cmp.Or(text, v.Text("delay"))
	if !v.Has("start") {
		length = cmp.Or(length, v.Text("every"))
	}
	if strings.Trim(length, "0123456789.") == "" {
		length += "s"
	}
	if d, err := when.Duration(length); err == nil {
		return d, nil
	}
	r := calls("when", t.options(v).Without("count", "expect", "resume").With("number", 1))
	if text != "" {
		r.Line.Args = []string{text}
	}
	return 0, r.asked()
}

// asLine is a command in one text, as a line for the shell.
func asLine(v option.Values) option.Values {
	if list := v.List("command"); len(list) == 1 && strings.ContainsAny(strings.TrimSpace(list[0]),
		" \t\n") && !v.Has("c") {
		return v.Without("command").With("c", list[0])
	}
	return v
}

func scheduleRequest(_ *Options, t *tool, v option.Values) (request, error) {
	if !v.Has("when") && !timed(v.Has) {
		return request{}, t.missing("when")
	}
	v = asLine(v)
	r := calls("at", t.options(v)).running(v.List("command"))
	if v.Has("when") {
		r.Line.Args = []string{v.Text("when")}
	}
	return r, nil
}

func listRequest(_ *Options, t *tool, v option.Values) (request, error) {
	if v.Has("id") {
		err := t.alone(v, func(key string) error {
			return refuse(fmt.Sprintf(`"id" and %q exclude each other`, key), "send one of them")
		}, "id", "tz", "limit")
		return calls("show", t.options(v).Without("limit"), v.Text("id")), err
	}
	if !v.Has("limit") {
		v = v.With("limit", listLimit)
	}
	return calls("ls", t.options(v)), nil
}

func cancelRequest(_ *Options, t *tool, v option.Values) (request, error) {
	ids := v.List("ids")
	if len(ids) == 0 && !v.Has("match") && !v.Has("origin") && !v.Has("tag") {
		return request{}, t.missing("ids")
	}
	return calls("rm", t.options(v), ids...), nil
}

func editRequest(_ *Options, t *tool, v option.Values) (request, error) {
	action := strings.ToLower(strings.TrimSpace(v.Text("action")))
	if action == "" || action == "edit" {
		action = "change"
	}
	id := strings.TrimSpace(v.Text("id"))
	switch {
	case !v.Has("id"):
		return request{}, t.missing("id")
	case !slices.Contains(editActions, action):
		return request{}, refuse(fmt.Sprintf("%q is %q", "action", v.Text("action")),
			"send one of "+strings.Join(editActions, ", "))
	case action != "change":
		may := []string{"id", "action", "dry-run"}
		if action == "pause" {
			may = append(may, "resume-at")
		}
		err := t.alone(v, func(key string) error {
			return refuse(fmt.Sprintf("%q has no meaning when the action is %s", key, action),
				"leave it out, or call edit_task once more to change it")
		}, may...)
		return calls(action, v.Without("id", "action"), id), err
	case v.Has("resume-at"):
		return request{}, refuse(`"resume_at" is for a pause`, `send "action": "pause" with it`)
	}
	v = asLine(v)
	said := t.options(v)
	for _, key := range v.List("clear") {
		o := t.lenient().Named(key)
		switch {
		case o == nil || t.own.Named(o.Name) != nil:
			return request{}, t.lenient().Unknown(key)
		case o.Kind == option.Whole:
			said = said.With(o.Name, 0)
		case o.Kind == option.Flag:
			said = said.With(o.Name, false)
		case o.Many:
			said = said.With(o.Name, []string{""})
		default:
			said = said.With(o.Name, "")
		}
	}
	r := calls("edit", said, id).running(v.List("command"))
	if text := strings.TrimSpace(v.Text("when")); text != "" {
		r.Line.Args = append(r.Line.Args, text)
	}
	return r, nil
}

func explainRequest(_ *Options, t *tool, v option.Values) (request, error) {
	r := calls("when", t.options(v))
	switch {
	case v.Has("when"):
		r.Line.Args = []string{v.Text("when")}
	case !timed(v.Has):
		return r, t.missing("when")
	}
	return r, nil
}

func logRequest(_ *Options, t *tool, v option.Values) (request, error) {
	if !v.Has("id") {
		return calls("log", t.options(v)), nil
	}
	if !v.Has("output-limit") {
		v = v.With("output-limit", outputLimit)
	}
	return calls("log", t.options(v), v.Text("id")), nil
}

func inboxRequest(o *Options, t *tool, v option.Values) (request, error) {
	if ack := v.List("ack"); len(ack) > 0 {
		err := t.alone(v, func(key string) error {
			return refuse(fmt.Sprintf(`"ack" and %q exclude each other`, key),
				"acknowledge in one call, and look in the next")
		}, "ack", "dry-run", "max", "limit")
		return calls("ack", v.Without("ack", "max", "limit"), ack...), err
	}
	said := t.options(v)
	if taken, is := v.Value("take").(bool); is {
		if said = said.Without("take"); taken {
			said = said.With("take", "")
		}
	}
	if !v.Has("limit") {
		said = said.With("limit", inboxLimit)
	}
	r := calls("inbox", said, v.List("ids")...)
	if !v.Bool("wait") {
		return r, nil
	}
	most, err := o.bound(v)
	return r.blocking(most, v.Has("max")), err
}

func healthRequest(o *Options, t *tool, v option.Values) (request, error) {
	targets := v.List("targets")
	if len(targets) == 0 {
		return request{}, t.missing("targets")
	}
	most, err := o.bound(v)
	if err != nil {
		return request{}, err
	}
	r := calls("health-wait", t.options(v), targets...).blocking(most, v.Has("max"))
	switch {
	case v.Has("until"):
		r.asks = calls("when", option.Values{}.With("number", 1).With("until", v.Text("until"))).asked()
	case !v.Has("timeout"):
		r.left = healthLimit
	default:
		r.left, _ = when.Duration(v.Text("timeout"))
	}
	return r, nil
}

func notifyRequest(_ *Options, t *tool, v option.Values) (request, error) {
	r := calls("notify", t.options(v))
	if v.Has("body") {
		r.Line.Args = []string{v.Text("body")}
	}
	return r, nil
}
