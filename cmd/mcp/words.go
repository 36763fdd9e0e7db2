package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// What an edit does.
var editActions = []string{"change", "pause", "resume", "restore"}

// The most that a tool answers with when the call does not say.
const (
	listLimit   = "50"
	inboxLimit  = "20"
	outputLimit = "8192"
)

// healthLimit is when health-wait gives up unless the call says otherwise.
const healthLimit = 120 * time.Second

func sorted(v values) []string { return slices.Sorted(maps.Keys(v)) }

// plain is a value as JSON that a person can read, too.
func plain(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return "null"
	}
	return strings.TrimSpace(b.String())
}

// missing refuses a call without an argument that has to be there.
func (t *tool) missing(name string) error {
	return refuse(fmt.Sprintf("%s needs %q", t.name, name), "send "+t.example)
}

// both refuses a call with two arguments that exclude each other.
func (v values) both(names ...string) error {
	var there []string
	for _, name := range names {
		if v.has(name) {
			there = append(there, fmt.Sprintf("%q", name))
		}
	}
	if len(there) < 2 {
		return nil
	}
	return refuse(strings.Join(there, " and ")+" exclude each other", "send one of them")
}

// notWords reports whether the command line would take a text for an option, or for the end of them.
func notWords(text string) bool {
	return strings.HasPrefix(text, "-") && (len(text) < 2 || text[1] < '0' || text[1] > '9')
}

// seconds is a length of time as an option.
func (c call) seconds() string { return strconv.FormatFloat(c.most.Seconds(), 'f', -1, 64) + "s" }

// bounded is a call that goes on with another one, which blocks for as long if that one said so.
func (v values) bounded(was values, c call) map[string]any {
	if was.has(maxSeconds) {
		v[maxSeconds] = c.most.Seconds()
	}
	return v
}

func waitWords(o *Options, t *tool, v values) (c call, err error) {
	if v, err = v.moded(); err != nil {
		return c, err
	}
	if err := v.both("when", "resume"); err != nil {
		return c, err
	}
	if c.most, err = o.bound(v); err != nil {
		return c, err
	}
	c.words = append([]string{"wait", "--json", "--max=" + c.seconds()}, t.options(v)...)
	when := strings.TrimSpace(v.text("when"))
	c.left, c.asks = o.ends(t, v)
	switch {
	case v.has("resume"):
	case v.has("when") && notWords(when):
		return c, refuse(fmt.Sprintf("%q is %q, which is no time", "when", when), "send "+t.example)
	case v.has("when"):
		c.words = append(c.words, when)
	case !v.timed():
		return c, t.missing("when")
	}
	if v.has("task") && !v.has("resume") {
		c.words = append(c.words, "--", v.text("task"))
	}
	c.again = func(answer map[string]any) map[string]any {
		next := values{"resume": answer["id"]}
		return next.bounded(v, c)
	}
	c.next = func(answer map[string]any) map[string]any {
		next := t.after(answer)
		if next == nil {
			return nil
		}
		return next.bounded(v, c)
	}
	return c, nil
}

// timed reports whether a form of time is given beside when.
func (v values) timed() bool {
	return slices.ContainsFunc([]string{"delay", "until", "every", "cron", "rrule"}, v.has)
}

// moded is a wait in its older form, in which a mode says what the value is, as other calls have it.
func (v values) moded() (values, error) {
	if !v.has("mode") && !v.has("value") {
		return v, nil
	}
	for _, other := range []string{"when", "resume"} {
		if v.has(other) {
			return nil, refuse(fmt.Sprintf(`%q excludes "mode" and "value"`, other), `send "when" alone`)
		}
	}
	form := map[string]string{"delay": "delay", "interval": "every", "cron": "cron"}[strings.ToLower(strings.TrimSpace(v.text("mode")))]
	switch {
	case !v.has("mode") || !v.has("value"):
		return nil, refuse(`"mode" and "value" belong together`, `send "when" in their place, such as "30s"`)
	case form == "":
		return nil, refuse(fmt.Sprintf("%q is %q", "mode", v.text("mode")), `send "delay", "interval" or "cron", or "when" in place of mode and value`)
	case v.has(form):
		return nil, refuse(fmt.Sprintf(`"mode" and %q exclude each other`, form), "send one of them")
	}
	kind := Span
	if form == "cron" {
		kind = Text
	}
	x, err := coerce("value", v["value"], kind)
	if err != nil {
		return nil, err
	}
	v = maps.Clone(v)
	delete(v, "mode")
	delete(v, "value")
	v[form] = x
	return v, nil
}

// ends tells how long a wait has left, or how to ask when it ends.
func (o *Options) ends(t *tool, v values) (left time.Duration, asks []string) {
	if v.has("resume") {
		return 0, []string{"show", "--json", "--", v.text("resume")}
	}
	when := strings.TrimSpace(v.text("when"))
	length := cmp.Or(when, v.text("delay"))
	if !v.has("start") {
		length = cmp.Or(length, v.text("every"))
	}
	if span, err := coerce("when", length, Span); err == nil && length != "" {
		if d, err := o.Duration(span.(string)); err == nil {
			return d, nil
		}
	}
	asks = append([]string{"when", "--json", "--number=1"}, t.options(v, "count", "expect", "resume")...)
	if when != "" {
		asks = append(asks, "--", when)
	}
	return 0, asks
}

// after are the arguments of the call that waits for the next time of a recurrence, from the words that the answer has for it; nil for none.
func (t *tool) after(answer map[string]any) values {
	words, _ := answer["continue"].([]any)
	next := values{}
	for i := 2; i < len(words); i++ { // behind the program and the command
		word, _ := words[i].(string)
		name := ""
		if strings.HasPrefix(word, "--") {
			name = t.argument(word)
		}
		switch {
		case word == "--" && i+1 < len(words):
			next["task"] = words[i+1]
			return next
		case name != "" && name != maxSeconds && t.kinds[name] != Truth && i+1 < len(words):
			next[name] = words[i+1]
			i++
		case strings.HasPrefix(word, "--max") && i+1 < len(words):
			i++
		case strings.HasPrefix(word, "--"):
		case !next.timed() && !next.has("when"):
			next["when"] = word
		default:
			next["task"] = word
		}
	}
	if len(next) == 0 {
		return nil
	}
	return next
}

// scheduleWords hands the arguments on as the object that at --stdin json reads.
func scheduleWords(_ *Options, t *tool, v values) (c call, err error) {
	if !v.has("when") && !v.timed() {
		return c, t.missing("when")
	}
	v = maps.Clone(v)
	// A command in one text is a line for the shell.
	if list := v.texts("command"); len(list) == 1 && strings.ContainsAny(strings.TrimSpace(list[0]), " \t\n") && !v.has("shell") {
		delete(v, "command")
		v["shell"] = list[0]
	}
	c.words = []string{"at", "--json", "--stdin=json"}
	if v.truth("dry_run") { // of the call, not of the task
		c.words = append(c.words, "--dry-run")
	}
	delete(v, "dry_run")
	c.in = plain(v)
	return c, nil
}

func listWords(_ *Options, t *tool, v values) (c call, err error) {
	if v.has("id") {
		for _, name := range sorted(v) {
			if name != "id" && name != "tz" && name != "limit" {
				return c, v.both("id", name)
			}
		}
		c.words = append([]string{"show", "--json"}, t.options(v, "limit")...)
		c.words = append(c.words, "--", v.text("id"))
		return c, nil
	}
	c.words = append([]string{"ls", "--json"}, t.options(v)...)
	if !v.has("limit") {
		c.words = append(c.words, "--limit="+listLimit)
	}
	return c, nil
}

func cancelWords(_ *Options, t *tool, v values) (c call, err error) {
	c.words = append([]string{"rm", "--json"}, t.options(v)...)
	named := slices.ContainsFunc([]string{"match", "origin"}, v.has)
	switch ids := v.texts("ids"); {
	case len(ids) > 0:
		c.words = append(append(c.words, "--"), ids...)
	case !named:
		return c, t.missing("ids")
	}
	return c, nil
}

func editWords(_ *Options, t *tool, v values) (c call, err error) {
	action := strings.ToLower(strings.TrimSpace(v.text("action")))
	if action == "" || action == "edit" {
		action = "change"
	}
	switch {
	case !v.has("id"):
		return c, t.missing("id")
	case !slices.Contains(editActions, action):
		return c, refuse(fmt.Sprintf("%q is %q", "action", v.text("action")), "send one of "+strings.Join(editActions, ", "))
	}
	id := strings.TrimSpace(v.text("id"))
	if action != "change" {
		for _, name := range sorted(v) {
			if name != "id" && name != "action" && name != "dry_run" && (name != "resume_at" || action != "pause") {
				return c, refuse(fmt.Sprintf("%q has no meaning when the action is %s", name, action), "leave it out, or call edit_task once more to change it")
			}
		}
		c.words = []string{action, "--json"}
		if v.has("resume_at") {
			c.words = append(c.words, "--resume-at="+v.text("resume_at"))
		}
		if v.truth("dry_run") {
			c.words = append(c.words, "--dry-run")
		}
		c.words = append(c.words, "--", id)
		return c, nil
	}
	when := strings.TrimSpace(v.text("when"))
	switch {
	case v.has("resume_at"):
		return c, refuse(`"resume_at" is for a pause`, `send "action": "pause" with it`)
	case strings.HasPrefix(id, "-"):
		return c, refuse(fmt.Sprintf("%q is no ID", id), "list_tasks has them")
	case notWords(when):
		return c, refuse(fmt.Sprintf("%q is %q, which is no time", "when", when), `send a time such as "15:00", or "-10m" to count from due`)
	}
	command := v.texts("command")
	if len(command) == 1 && strings.ContainsAny(strings.TrimSpace(command[0]), " \t\n") && !v.has("shell") {
		v = maps.Clone(v)
		v["shell"], command = command[0], nil
	}
	c.words = append([]string{"edit", "--json"}, t.options(v)...)
	for _, name := range v.texts("clear") {
		key, known := t.named(name)
		flag := t.flags[key]
		switch kind := t.kinds[key]; {
		case !known || flag == "":
			return c, t.unknown(name)
		case kind == Whole:
			c.words = append(c.words, "--"+flag+"=0")
		case kind == Truth:
			c.words = append(c.words, "--"+flag+"=false")
		default:
			c.words = append(c.words, "--"+flag+"=")
		}
	}
	c.words = append(c.words, id)
	if when != "" {
		c.words = append(c.words, when)
	}
	if len(command) > 0 {
		c.words = append(append(c.words, "--"), command...)
	}
	return c, nil
}

func explainWords(_ *Options, t *tool, v values) (c call, err error) {
	c.words = append([]string{"when", "--json"}, t.options(v)...)
	switch {
	case v.has("when"):
		c.words = append(c.words, "--", v.text("when"))
	case !v.timed():
		return c, t.missing("when")
	}
	return c, nil
}

func logWords(_ *Options, t *tool, v values) (c call, err error) {
	c.words = append([]string{"log", "--json"}, t.options(v)...)
	if v.has("id") {
		if !v.has("output_limit") {
			c.words = append(c.words, "--output-limit="+outputLimit)
		}
		c.words = append(c.words, "--", v.text("id"))
	}
	return c, nil
}

func inboxWords(o *Options, t *tool, v values) (c call, err error) {
	if ack := v.texts("ack"); len(ack) > 0 {
		for _, name := range sorted(v) {
			if name != "ack" && name != "dry_run" && name != maxSeconds && name != "limit" {
				return c, refuse(fmt.Sprintf(`"ack" and %q exclude each other`, name), "acknowledge in one call, and look in the next")
			}
		}
		c.words = []string{"ack", "--json"}
		if v.truth("dry_run") {
			c.words = append(c.words, "--dry-run")
		}
		c.words = append(append(c.words, "--"), ack...)
		return c, nil
	}
	c.words = append([]string{"inbox", "--json"}, t.options(v, "take")...)
	if v.has("take") {
		if yes, err := coerce("take", v["take"], Truth); err == nil {
			if yes == true {
				c.words = append(c.words, "--take=")
			}
		} else if span, err := coerce("take", v["take"], Span); err == nil {
			c.words = append(c.words, "--take="+span.(string))
		} else {
			return c, refuse(fmt.Sprintf("%q is %s, and takes true, or how long the lease is", "take", kindOf(v["take"])), `send "take": true`)
		}
	}
	if !v.has("limit") {
		c.words = append(c.words, "--limit="+inboxLimit)
	}
	if v.truth("wait") {
		if c.most, err = o.bound(v); err != nil {
			return c, err
		}
		c.words = append(c.words, "--max="+c.seconds())
		c.again = func(map[string]any) map[string]any { return maps.Clone(v).bounded(v, c) }
	}
	if ids := v.texts("ids"); len(ids) > 0 {
		c.words = append(append(c.words, "--"), ids...)
	}
	return c, nil
}

func healthWords(o *Options, t *tool, v values) (c call, err error) {
	if len(v.texts("targets")) == 0 {
		return c, t.missing("targets")
	}
	if c.most, err = o.bound(v); err != nil {
		return c, err
	}
	for _, target := range v.texts("targets") {
		if strings.HasPrefix(target, "-") { // what follows -- would be a command
			return c, refuse(fmt.Sprintf("%q is no target", target), "send "+t.example)
		}
	}
	switch {
	case v.has("until"):
		c.asks = []string{"when", "--json", "--number=1", "--until=" + v.text("until")}
	case !v.has("timeout"):
		c.left = healthLimit
	default:
		c.left, _ = o.Duration(v.text("timeout"))
	}
	c.words = append([]string{"health-wait", "--json", "--max=" + c.seconds()}, t.options(v)...)
	c.words = append(c.words, v.texts("targets")...)
	c.again = func(answer map[string]any) map[string]any {
		next := maps.Clone(v)
		delete(next, "timeout")
		words, _ := answer["continue"].([]any)
		for i := 0; i+1 < len(words); i++ {
			if name, _ := words[i].(string); name == "--until" || name == "--timeout" {
				next[name[2:]] = words[i+1]
			}
		}
		return next.bounded(v, c)
	}
	return c, nil
}

func notifyWords(_ *Options, t *tool, v values) (c call, err error) {
	c.words = append([]string{"notify", "--json"}, t.options(v)...)
	if v.has("body") {
		c.words = append(c.words, "--", v.text("body"))
	}
	return c, nil
}
