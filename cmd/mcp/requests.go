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

// editActions are what edit_task can do.
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
	return refusal(fmt.Sprintf("%s needs %q", t.name, key), "send "+t.example)
}

// exclude refuses more than one of some options.
func (t *tool) exclude(v option.Values, names ...string) error {
	var there []string
	for _, name := range names {
		if v.Has(name) {
			there = append(there, option.JSON(t.rows.Named(name).FieldKey()))
		}
	}
	if len(there) < 2 {
		return nil
	}
	return refusal(strings.Join(there, " and ")+" exclude each other", "send one of them")
}

// allowOnly refuses all options but some.
func (t *tool) allowOnly(v option.Values, refused func(key string) error, names ...string) error {
	for _, name := range v.Names() {
		if !slices.Contains(names, name) {
			return refused(t.rows.Named(name).FieldKey())
		}
	}
	return nil
}

// callOf makes the request of a command with options and arguments.
func callOf(command string, v option.Values, args ...string) request {
	return request{Request: Request{Command: command, Line: option.Line{Values: v.With("json", true), Args: args}}}
}

// withCommand adds a command to run after the arguments of a request.
func (r request) withCommand(words []string) request {
	if len(words) > 0 {
		r.Line.Tail, r.Line.Dash = words, true
	}
	return r
}

// blocking makes the request block for at most as long as the arguments say.
func (o *Options) blocking(r request, v option.Values) (request, error) {
	most, err := o.bound(v)
	r.longest, r.boundGiven = most, v.Has("max")
	r.Line.Values = r.Line.Values.With("max", strconv.FormatFloat(most.Seconds(), 'f', -1, 64)+"s")
	return r, err
}

// mayBlock is blocking for a call that waits only with an option, and refuses a bound without it.
func (o *Options) mayBlock(t *tool, r request, v option.Values, name string) (request, error) {
	switch {
	case v.Bool(name):
		return o.blocking(r, v)
	case v.Has("max"):
		return r, refusal(fmt.Sprintf("%q goes with %q", maxSeconds, t.rows.Named(name).FieldKey()),
			fmt.Sprintf("add %q: true, or leave %q out", t.rows.Named(name).FieldKey(), maxSeconds))
	}
	return r, nil
}

// inner returns the call alone.
func (r request) inner() *Request { return &r.Request }

func waitRequest(o *Options, t *tool, v option.Values) (request, error) {
	form, err := olderForm(v)
	if err == nil {
		err = t.exclude(v, "when", "resume", "any")
	}
	if err == nil && v.Has("when") {
		err = t.exclude(v, append([]string{"when"}, option.Forms...)...)
	}
	if err != nil {
		return request{}, err
	}
	time := strings.TrimSpace(v.Text("when"))
	r, err := o.blocking(callOf("wait", t.options(v)), v)
	if err != nil {
		return r, err
	}
	switch {
	case v.Has("any"):
		r.Line.Values, r.Line.Args = r.Line.Values.With("any", true), v.List("any")
		if v.Has("task") {
			return r, refusal(`"any" and "task" exclude each other`, `leave "task" out: the answer names which came`)
		}
		return r, nil
	case v.Has("resume"):
	case form != "":
		r.Line.Args = []string{strings.ToLower(strings.TrimSpace(v.Text("mode"))), v.Text("value")}
		v = v.With(form, v.Text("value"))
	case time != "":
		r.Line.Args = []string{time}
	case !timed(v.Has):
		return r, t.missing("when")
	}
	if v.Has("task") && !v.Has("resume") {
		r.Line.Args, r.Line.Dash, r.Line.After = append(r.Line.Args, v.Text("task")), true, 1
	}
	r.remaining, r.dueRequest = o.remaining(t, v)
	return r, nil
}

// olderModes are the modes of the older form of a wait, in which the first word says what the value
// is, with the options that stand for them now.
var olderModes = map[string]string{"delay": "delay", "interval": "every", "cron": "cron"}

// olderForm returns the option that the mode of a wait stands for; empty when it has none.
func olderForm(v option.Values) (string, error) {
	if !v.Has("mode") && !v.Has("value") {
		return "", nil
	}
	for _, other := range []string{"when", "resume", "any"} {
		if v.Has(other) {
			return "", refusal(fmt.Sprintf(`%q excludes "mode" and "value"`, other), `send "when" alone`)
		}
	}
	form := olderModes[strings.ToLower(strings.TrimSpace(v.Text("mode")))]
	switch {
	case !v.Has("mode") || !v.Has("value"):
		return "", refusal(`"mode" and "value" belong together`, `send "when" in their place, such as "30s"`)
	case form == "":
		return "", refusal(fmt.Sprintf("%q is %q, which is not a mode", "mode", v.Text("mode")),
			`send "delay", "interval" or "cron", or "when" in place of mode and value`)
	case v.Has(form):
		return "", refusal(fmt.Sprintf(`"mode" and %q exclude each other`, form), "send one of them")
	}
	return form, nil
}

// remaining returns how long a wait has left, or the call that says so.
func (o *Options) remaining(t *tool, v option.Values) (left time.Duration, dueRequest *Request) {
	if v.Has("resume") {
		return 0, callOf("show", option.Values{}, v.Text("resume")).inner()
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
	r := callOf("when", t.options(v).Without("count", "expect", "resume").With("number", 1))
	if text != "" {
		r.Line.Args = []string{text}
	}
	return 0, r.inner()
}

// shellLine turns a command that is one text with spaces into a line for the shell.
func shellLine(v option.Values) option.Values {
	if list := v.List("command"); len(list) == 1 && strings.ContainsAny(strings.TrimSpace(list[0]),
		" \t\n") && !v.Has("c") {
		return v.Without("command").With("c", list[0])
	}
	return v
}

func scheduleRequest(o *Options, t *tool, v option.Values) (request, error) {
	if !v.Has("when") && !timed(v.Has) {
		return request{}, t.missing("when")
	}
	v = shellLine(v)
	r := callOf("at", t.options(v)).withCommand(v.List("command"))
	if v.Has("when") {
		r.Line.Args = []string{v.Text("when")}
	}
	r.acts = true
	return o.mayBlock(t, r, v, "wait")
}

func listRequest(_ *Options, t *tool, v option.Values) (request, error) {
	if v.Has("id") {
		err := t.allowOnly(v, func(key string) error {
			return refusal(fmt.Sprintf(`"id" and %q exclude each other`, key), "send one of them")
		}, "id", "tz")
		return callOf("show", t.options(v), v.Text("id")), err
	}
	if !v.Has("limit") {
		v = v.With("limit", listLimit)
	}
	return callOf("ls", t.options(v)), nil
}

func cancelRequest(o *Options, t *tool, v option.Values) (request, error) {
	ids := v.List("ids")
	if len(ids) == 0 && !v.Has("match") && !v.Has("origin") && !v.Has("tag") {
		return request{}, t.missing("ids")
	}
	r := callOf("rm", t.options(v), ids...)
	r.acts = true
	return o.mayBlock(t, r, v, "kill")
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
		return request{}, refusal(fmt.Sprintf("%q is %q, which is not an action", "action", v.Text("action")),
			"send one of "+strings.Join(editActions, ", "))
	case action != "change":
		may := []string{"id", "action", "dry-run"}
		if action == "pause" {
			may = append(may, "resume-at")
		}
		err := t.allowOnly(v, func(key string) error {
			return refusal(fmt.Sprintf("%q has no meaning when the action is %s", key, action),
				"leave it out, or call edit_task once more to change it")
		}, may...)
		return callOf(action, v.Without("id", "action"), id), err
	case v.Has("resume-at"):
		return request{}, refusal(`"resume_at" is for a pause`, `send "action": "pause" with it`)
	}
	if err := t.refuseEmpty(v); err != nil {
		return request{}, err
	}
	v = shellLine(v)
	given := t.options(v)
	for _, key := range v.List("clear") {
		o := t.reader().Named(key)
		switch {
		case o == nil:
			return request{}, t.reader().Unknown(key)
		case v.Has(o.Name), runs(o) && slices.ContainsFunc(runNames, v.Has):
			return request{}, refusal(fmt.Sprintf(`"clear" takes %q back, and the call gives another`, o.FieldKey()),
				`leave it out of "clear" to set it`)
		case runs(o):
			given = given.With("c", "") // what it runs, in whatever form
		case !t.clears(o):
			return request{}, refusal(fmt.Sprintf("%q cannot be taken back", o.FieldKey()),
				fmt.Sprintf("leave it out of \"clear\", or send another value for it, %q: ...", o.FieldKey()))
		case o.Kind == option.Whole:
			given = given.With(o.Name, 0)
		case o.Kind == option.Flag:
			given = given.With(o.Name, false)
		case o.Many:
			given = given.With(o.Name, []string{""})
		default:
			given = given.With(o.Name, "")
		}
	}
	r := callOf("edit", given, id).withCommand(v.List("command"))
	if text := strings.TrimSpace(v.Text("when")); text != "" {
		r.Line.Args = append(r.Line.Args, text)
	}
	return r, nil
}

// runNames are the options that say what a task runs, each in another form.
var runNames = []string{"command", "c", "file", "agent"}

// runs reports whether an argument says what a task runs, which is cleared in whatever form it has.
func runs(o *option.Option) bool { return slices.Contains(runNames, o.Name) }

// clears reports whether an argument of edit_task can be taken back.
func (t *tool) clears(o *option.Option) bool {
	return runs(o) || !o.OfCall && !o.OrEmpty && t.ownOptions.Named(o.Name) == nil &&
		!timed(func(name string) bool { return name == o.Name }) && o.Name != "tz" && o.Name != "expect"
}

// refuseEmpty refuses empty values of arguments that can be taken back: they may stand for what is
// to be taken back, and for what is to stay. It names all of them.
func (t *tool) refuseEmpty(v option.Values) error {
	var keys, quoted []string
	for _, name := range v.Empty() {
		if o := t.rows.Named(name); t.clears(o) {
			keys, quoted = append(keys, o.FieldKey()), append(quoted, option.JSON(o.FieldKey()))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	verb, them := "is", "it"
	if len(keys) > 1 {
		verb, them = "are", "them"
	}
	return refusal(fmt.Sprintf("%s %s empty", strings.Join(quoted, " and "), verb),
		fmt.Sprintf(`leave %[1]s out to keep what the task has, or send "clear": %[2]s to take %[1]s back`, them, option.JSON(keys)))
}

func explainRequest(_ *Options, t *tool, v option.Values) (request, error) {
	r := callOf("when", t.options(v))
	switch {
	case v.Has("when"):
		r.Line.Args = []string{v.Text("when")}
	case !timed(v.Has):
		return r, t.missing("when")
	}
	return r, nil
}

func logRequest(o *Options, t *tool, v option.Values) (request, error) {
	if v.Has("after") && !v.Bool("wait") {
		return request{}, refusal(`"after" goes with "wait"`, `add "wait": true`)
	}
	r := callOf("log", t.options(v))
	if v.Has("id") {
		if r.Line.Args = []string{v.Text("id")}; !v.Has("output-limit") {
			r.Line.Values = r.Line.Values.With("output-limit", outputLimit)
		}
	}
	return o.mayBlock(t, r, v, "wait")
}

func inboxRequest(o *Options, t *tool, v option.Values) (request, error) {
	if ack := v.List("ack"); len(ack) > 0 || v.Has("task") {
		err := t.allowOnly(v, func(key string) error {
			return refusal(fmt.Sprintf(`"ack" and %q exclude each other`, key),
				"acknowledge in one call, and look in the next")
		}, "ack", "task", "dry-run")
		return callOf("ack", v.Without("ack"), ack...), err
	}
	if slices.Contains(v.Empty(), "ack") && len(v.Names()) == 0 {
		return request{}, refusal(`"ack" has no item`, "leave it out to list what waits, or send such as "+
			`"ack": ["k7m2/3"]`)
	}
	given := t.options(v)
	if !v.Has("limit") && !v.Bool("count") {
		given = given.With("limit", inboxLimit)
	}
	return o.mayBlock(t, callOf("inbox", given, v.List("ids")...), v, "wait")
}

func healthRequest(o *Options, t *tool, v option.Values) (request, error) {
	targets := v.List("targets")
	if len(targets) == 0 {
		return request{}, t.missing("targets")
	}
	r, err := o.blocking(callOf("health-wait", t.options(v), targets...), v)
	switch {
	case err != nil:
		return r, err
	case v.Has("until"):
		r.dueRequest = callOf("when", option.Values{}.With("number", 1).With("until", v.Text("until"))).inner()
	case !v.Has("timeout"):
		r.remaining = healthLimit
	default:
		r.remaining, _ = when.Duration(v.Text("timeout"))
	}
	return r, nil
}

func notifyRequest(_ *Options, t *tool, v option.Values) (request, error) {
	r := callOf("notify", t.options(v))
	if v.Has("body") {
		r.Line.Args = []string{v.Text("body")}
	}
	return r, nil
}
