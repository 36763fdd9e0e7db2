package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Kind is what an argument takes.
type Kind int

// The kinds. Each also takes what models send in its place: a number or a truth as a text, one text for a list and a list of one for a text, JSON
// inside a text.
const (
	Text   Kind = iota
	Span        // a length of time such as "90s"; a bare number is seconds
	Whole       // a whole number
	Truth       // true or false
	Texts       // a list of texts
	Names       // a list of IDs, which have no spaces and no commas
	Pairs       // variables: an object of texts, or a list of NAME=VALUE
	Anyway      // whatever there is: the tool reads it
)

var takes = map[Kind]string{Text: "a text", Span: `a length of time such as "90s"`, Whole: "a whole number", Truth: "true or false",
	Texts: "a list of texts", Names: "a list of IDs", Pairs: "an object of texts"}

// refusal is a call that is wrong before any command sees it.
type refusal struct{ message, hint string }

func (r *refusal) Error() string { return r.message }

func refuse(message, hint string) error { return &refusal{message, hint} }

// values are the arguments of a call by name, as their kinds have them: string, int, bool, []string. What is absent is not there.
type values map[string]any

func (v values) has(name string) bool       { _, ok := v[name]; return ok }
func (v values) text(name string) string    { s, _ := v[name].(string); return s }
func (v values) truth(name string) bool     { b, _ := v[name].(bool); return b }
func (v values) texts(name string) []string { l, _ := v[name].([]string); return l }

// read reads the arguments of a call, in whatever form they come. What says nothing is taken for absent: null, "", "None", "null".
func (t *tool) read(raw json.RawMessage) (values, error) {
	fields, err := t.object(raw)
	if err != nil {
		return nil, err
	}
	v, said := values{}, map[string]string{}
	for _, f := range fields {
		name, known := t.named(f.key)
		if absent(f.value) {
			if !known && !vacant(f.value) {
				return nil, t.unknown(f.key)
			}
			continue
		}
		if !known {
			return nil, t.unknown(f.key)
		}
		if first, twice := said[name]; twice {
			return nil, refuse(fmt.Sprintf("%q and %q are the same", first, f.key), "give one of them")
		}
		said[name] = f.key
		x, err := coerce(f.key, f.value, t.kinds[name])
		if err != nil {
			if t.also[f.key] == name { // it is not in the list of tools: what it takes is best told of the one that is
				return nil, refuse(fmt.Sprintf("%s has no argument %q", t.name, f.key), fmt.Sprintf("did you mean %q? It takes %s", name, takes[t.kinds[name]]))
			}
			return nil, err
		}
		if n, bare := f.value.(json.Number); bare && name == "when" && t.command != "wait" { // 1800 would be a time of day, and 3600 none
			return nil, refuse(fmt.Sprintf("%q is %s, and a time needs a unit", f.key, kindOf(n)), fmt.Sprintf(`send "%ss" for seconds from now, or a text such as "18:00"`, n))
		}
		v[name] = x
	}
	return v, nil
}

// Wrong says why arguments are refused, and what to send instead.
type Wrong struct{ Message, Hint string }

// TextsOf reads the params of what is no tool and takes nothing but texts, in whatever form they come, as those of a tool. What says nothing
// is not there. example is of an object that is right; nearest finds the name that was meant.
func TextsOf(method, example string, names []string, raw json.RawMessage, nearest func(string, []string) string) (map[string]string, *Wrong) {
	t := &tool{name: method, example: example, kinds: map[string]Kind{}, nearest: nearest}
	for _, name := range names {
		t.args = append(t.args, arg{name: name})
		t.kinds[name] = Text
	}
	v, err := t.read(raw)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return nil, &Wrong{refused.message, refused.hint}
	case err != nil:
		return nil, &Wrong{err.Error(), "send " + example}
	}
	texts := map[string]string{}
	for name := range v {
		texts[name] = v.text(name)
	}
	return texts, nil
}

// field is one argument as it was sent.
type field struct {
	key   string
	value any
}

// object is the arguments in the order in which they were sent. Some clients send the whole object as a text.
func (t *tool) object(raw json.RawMessage) ([]field, error) {
	for range 3 {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || vacant(decode(raw)) {
			return nil, nil
		}
		if raw[0] == '{' {
			return ordered(raw)
		}
		text, ok := decode(raw).(string)
		if !ok || !json.Valid([]byte(text)) || deeper([]byte(text), depthMost) {
			break
		}
		raw = json.RawMessage(text)
	}
	return nil, refuse("the arguments of "+t.name+" are "+kindOf(decode(raw))+", not an object", "send an object such as "+t.example)
}

// decode is the value of JSON, numbers as they were written; nil when it is none.
func decode(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// ordered takes an object apart. The last of several values of one key would hide the others, so that is refused.
func ordered(raw []byte) (list []field, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil, refuse("the arguments are no JSON: "+err.Error(), "")
	}
	seen := map[string]bool{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, refuse("the arguments are no JSON: "+err.Error(), "")
		}
		f := field{key: k.(string)}
		if err := d.Decode(&f.value); err != nil {
			return nil, refuse("the arguments are no JSON: "+err.Error(), "")
		}
		if seen[f.key] {
			return nil, refuse(fmt.Sprintf("%q is there twice", f.key), "give it once")
		}
		seen[f.key] = true
		list = append(list, f)
	}
	return list, nil
}

// vacant reports whether a value says nothing whatever it is for.
func vacant(v any) bool {
	if v == nil {
		return true
	}
	s, ok := v.(string)
	return ok && absent(s)
}

// absent reports whether a value is what models send for an argument that they leave out.
func absent(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return slices.Contains([]string{"", "null", "none", "undefined"}, strings.ToLower(strings.TrimSpace(v)))
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// named finds the argument that a key stands for: as it is called, by another name it has, or written in another way (maxSeconds, max-seconds).
func (t *tool) named(key string) (string, bool) {
	for _, k := range []string{key, snake(key)} {
		if other, ok := t.also[k]; ok {
			k = other
		}
		if _, ok := t.kinds[k]; ok {
			return k, true
		}
	}
	return "", false
}

// snake writes a key with small letters and underscores.
func snake(key string) string {
	var b strings.Builder
	low := false
	for _, r := range strings.TrimLeft(key, "-") {
		switch {
		case r == '-' || r == ' ' || r == '.':
			r = '_'
		case unicode.IsUpper(r):
			if low {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		low = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(r)
	}
	return b.String()
}

// unknown refuses an argument that is none, with what stands for it here, or the nearest one.
func (t *tool) unknown(key string) error {
	shown := []string{}
	for _, a := range t.args {
		shown = append(shown, a.name)
	}
	hint := t.name + " takes " + strings.Join(shown, ", ")
	names := slices.Sorted(maps.Keys(t.kinds))
	if other := t.meant[snake(key)]; other != "" {
		hint = other + "; " + hint
	} else if n := t.nearest(snake(key), names); n != "" {
		hint = fmt.Sprintf("did you mean %q? %s", n, hint)
	}
	return refuse(fmt.Sprintf("%s has no argument %q", t.name, key), hint)
}

// coerce makes of a value what the kind has.
func coerce(key string, v any, kind Kind) (any, error) {
	wrong := func(like string) error {
		return refuse(fmt.Sprintf("%q is %s, and takes %s", key, kindOf(v), takes[kind]), fmt.Sprintf("send %q: %s", key, like))
	}
	switch kind {
	case Anyway:
		return v, nil
	case Text, Span:
		if list, ok := v.([]any); ok && len(list) == 1 {
			v = list[0]
		}
		text, ok := scalar(v)
		if !ok {
			return nil, wrong(`"..."`)
		}
		if kind == Span && strings.Trim(text, "0123456789.") == "" {
			text += "s"
		}
		return text, nil
	case Whole:
		text, ok := scalar(v)
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if !ok || err != nil || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			return nil, wrong("5")
		}
		return int(n), nil
	case Truth:
		text, _ := scalar(v)
		if b, ok := v.(bool); ok {
			text = strconv.FormatBool(b)
		}
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "true", "yes", "1", "on":
			return true, nil
		case "false", "no", "0", "off":
			return false, nil
		}
		return nil, wrong("true")
	case Pairs:
		if text, ok := v.(string); ok {
			if inner, ok := decode([]byte(text)).(map[string]any); ok {
				v = inner
			}
		}
		if m, ok := v.(map[string]any); ok {
			list := []string{}
			for _, name := range slices.Sorted(maps.Keys(m)) {
				text, ok := scalar(m[name])
				switch {
				case !ok:
					return nil, wrong(`{"NAME": "VALUE"}`)
				case name == "" || strings.ContainsAny(name, "= \t\n\x00"):
					return nil, refuse(fmt.Sprintf("%q in %q is no name of a variable", name, key), fmt.Sprintf(`send %q: {"NAME": "VALUE"}`, key))
				}
				list = append(list, name+"="+text)
			}
			return list, nil
		}
		return listOf(key, v, wrong(`{"NAME": "VALUE"}`))
	case Names:
		list, err := listOf(key, v, wrong(`["k7m2"]`))
		var ids []string
		for _, text := range list {
			ids = append(ids, strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })...)
		}
		return ids, err
	}
	return listOf(key, v, wrong(`["..."]`))
}

// listOf is a list of texts: one text stands for itself, JSON inside a text for the list it is.
func listOf(key string, v any, wrong error) ([]string, error) {
	if text, ok := v.(string); ok {
		if inner, ok := decode([]byte(text)).([]any); ok && strings.HasPrefix(strings.TrimSpace(text), "[") {
			v = inner
		}
	}
	if text, ok := scalar(v); ok {
		return []string{text}, nil
	}
	all, ok := v.([]any)
	if !ok {
		return nil, wrong
	}
	list := make([]string, 0, len(all))
	for _, one := range all {
		text, ok := scalar(one)
		if !ok {
			return nil, refuse(fmt.Sprintf("in %q there is %s, and it takes texts", key, kindOf(one)), fmt.Sprintf("send %q: [\"...\"]", key))
		}
		list = append(list, text)
	}
	return list, nil
}

// scalar is a text, or a number as it was written.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// kindOf says what a value is.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		return "the number " + v.String()
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case string:
		if len(v) < 40 {
			return fmt.Sprintf("the text %q", v)
		}
	}
	return "a text"
}
