package option

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ouro-timer/ouro-timer/timer/problem"
	"github.com/ouro-timer/ouro-timer/timer/when"
)

// Lenient reads objects as models write them, which do not always follow a schema: a number or a
// truth value as a text, one text for a list, a list of one for a text, JSON inside a text, keys in
// other spellings. A value that says nothing is absent: null, "", "None".
type Lenient struct {
	Name    string // the name of the tool or method
	Example string // an object that is right
	Rows    Rows
	Shown   []string          // the keys that an error names
	Also    map[string]string // other names of keys
	// Instead says what to do in place of keys of other systems, by their names with underscores.
	Meant map[string]string
}

// DepthMost is how deep objects and lists may lie within each other.
const DepthMost = 64

// Read reads the arguments of a call.
func (l Lenient) Read(raw json.RawMessage) (Values, error) {
	fields, err := l.object(raw)
	if err != nil {
		return Values{}, err
	}
	v, said := Values{said: map[string]any{}}, map[string]string{}
	for _, f := range fields {
		row := l.Named(f.key)
		if row == nil && (!absent(f.value) || !vacant(f.value)) {
			return v, l.Unknown(f.key)
		}
		if absent(f.value) {
			continue
		}
		if first, twice := said[row.Name]; twice {
			return v, usage(fmt.Sprintf("%q and %q are the same", first, f.key), "give one of them")
		}
		said[row.Name] = f.key
		x, err := row.Coerce(f.key, f.value)
		if err != nil {
			// The key that was used is not in the list of tools, so the error names the one that
			// is.
			if l.Also[f.key] == row.FieldKey() {
				err = usage(fmt.Sprintf("%s has no argument %q", l.Name, f.key),
					fmt.Sprintf("did you mean %q? It takes %s", row.FieldKey(), row.takes()))
			}
			return v, err
		}
		v.said[row.Name] = x
	}
	return v, nil
}

// field is one argument as it was sent.
type field struct {
	key   string
	value any
}

// object returns the arguments in the order in which they were sent. Some clients send the whole
// object as a text.
func (l Lenient) object(raw json.RawMessage) ([]field, error) {
	for range 3 {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || vacant(Decode(raw)) {
			return nil, nil
		}
		if raw[0] == '{' {
			return ordered(raw)
		}
		text, ok := Decode(raw).(string)
		if !ok || !json.Valid([]byte(text)) || Deeper([]byte(text), DepthMost) {
			break
		}
		raw = json.RawMessage(text)
	}
	return nil, usage("the arguments of "+l.Name+" are "+theKind(Decode(raw))+", not an object",
		"send an object such as "+l.Example)
}

// Decode returns the value of a JSON text, with numbers as they were written; nil when it is not
// JSON.
func Decode(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// ordered splits an object into its fields. It refuses a key that comes twice, because the last
// value would hide the others.
func ordered(raw []byte) (list []field, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return nil, usage("the arguments are no JSON: "+err.Error(), "")
	}
	seen := map[string]bool{}
	for d.More() {
		k, err := d.Token()
		if err != nil {
			return nil, usage("the arguments are no JSON: "+err.Error(), "")
		}
		f := field{key: k.(string)}
		if err := d.Decode(&f.value); err != nil {
			return nil, usage("the arguments are no JSON: "+err.Error(), "")
		}
		if seen[f.key] {
			return nil, usage(fmt.Sprintf("%q is there twice", f.key), "give it once")
		}
		seen[f.key] = true
		list = append(list, f)
	}
	return list, nil
}

// vacant reports whether a value says nothing for any option.
func vacant(v any) bool {
	if v == nil {
		return true
	}
	s, ok := v.(string)
	return ok && absent(s)
}

// absent reports whether a value is one that models send for an argument that they leave out.
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

// Named returns the option of a key, or nil. The key may be one of its names, or written
// differently (maxSeconds, max-seconds).
func (l Lenient) Named(key string) *Option {
	for _, k := range []string{key, snake(key)} {
		if other, ok := l.Also[k]; ok {
			k = other
		}
		for i, o := range l.Rows {
			also := slices.ContainsFunc(o.Aliases,
				func(name string) bool { return len(name) > 1 && fieldKey(name) == k })
			if o.FieldKey() == k || also {
				return &l.Rows[i]
			}
		}
	}
	return nil
}

// snake returns a key in small letters with underscores.
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

// Unknown is the problem of an unknown key. Its hint has what stands for it here, or the nearest
// key.
func (l Lenient) Unknown(key string) error {
	hint := l.Name + " takes " + strings.Join(l.Shown, ", ")
	var names []string
	for _, o := range l.Rows {
		names = append(names, o.FieldKey())
	}
	if other := l.Meant[snake(key)]; other != "" {
		hint = other + "; " + hint
	} else if n := problem.Nearest(snake(key), names); n != "" {
		hint = fmt.Sprintf("did you mean %q? %s", n, hint)
	}
	return usage(fmt.Sprintf("%s has no argument %q", l.Name, key), hint)
}

// takes says what values the option takes.
func (o Option) takes() string {
	switch {
	case o.Kind == Flag:
		return "true or false"
	case o.Kind == Whole:
		return "a whole number"
	case o.Pairs:
		return "an object of texts"
	case o.Many && o.Kind == ID:
		return "a list of IDs"
	case o.Many:
		return "a list of texts"
	case o.Kind == Duration:
		return `a length of time such as "90s"`
	}
	return "a text"
}

// Coerce turns a value into the type of the option. A bare number is a duration in seconds.
func (o Option) Coerce(key string, v any) (any, error) {
	wrong := func(like string) error {
		return usage(fmt.Sprintf("%q is %s, and takes %s", key, theKind(v), o.takes()),
			fmt.Sprintf("send %q: %s", key, like))
	}
	switch {
	case o.Kind == Flag:
		if yes, ok := truth(v); ok {
			return yes, nil
		}
		return nil, wrong("true")
	case o.Kind == Whole:
		text, ok := scalar(v)
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if !ok || err != nil || n != math.Trunc(n) || math.Abs(n) > math.MaxInt32 {
			return nil, wrong("5")
		}
		return int(n), nil
	case o.Pairs:
		return pairsOf(key, v, wrong(`{"NAME": "VALUE"}`))
	case o.Many && o.Kind == ID:
		list, err := listOf(key, v, wrong(`["k7m2"]`))
		var ids []string
		for _, text := range list {
			ids = append(ids, strings.FieldsFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })...)
		}
		return ids, err
	case o.Many:
		return listOf(key, v, wrong(`["..."]`))
	case o.Bare:
		if yes, ok := truth(v); ok {
			return yes, nil
		}
	}
	if list, ok := v.([]any); ok && len(list) == 1 {
		v = list[0]
	}
	text, ok := scalar(v)
	switch n, bare := v.(json.Number); {
	case !ok && o.Bare:
		return nil, usage(fmt.Sprintf("%q is %s, and takes true, or how long it is", key, theKind(v)),
			fmt.Sprintf("send %q: true", key))
	case !ok:
		return nil, wrong(`"..."`)
	case bare && (o.Kind == Time || o.Kind == Instant):
		// As times 1800 would be a time of day, and 3600 would be refused.
		return nil, usage(fmt.Sprintf("%q is %s, and a time needs a unit", key, theKind(n)),
			fmt.Sprintf(`send "%ss" for seconds from now, or a text such as "18:00"`, n))
	case o.Kind == Duration && strings.Trim(text, "0123456789.") == "":
		text += "s"
	}
	return text, nil
}

// truth reads true or false in any spelling.
func truth(v any) (yes, ok bool) {
	text, _ := scalar(v)
	if b, is := v.(bool); is {
		text = strconv.FormatBool(b)
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "true", "yes", "1", "on":
		return true, true
	case "false", "no", "0", "off":
		return false, true
	}
	return false, false
}

// pairsOf turns an object of texts, or a list, into a list of NAME=VALUE.
func pairsOf(key string, v any, wrong error) ([]string, error) {
	if text, ok := v.(string); ok {
		if inner, ok := Decode([]byte(text)).(map[string]any); ok {
			v = inner
		}
	}
	object, ok := v.(map[string]any)
	if !ok {
		return listOf(key, v, wrong)
	}
	list := []string{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		text, ok := scalar(object[name])
		switch {
		case !ok:
			return nil, wrong
		case name == "" || strings.ContainsAny(name, "= \t\n\x00"):
			return nil, usage(fmt.Sprintf("%q in %q is not a name of a variable", name, key),
				fmt.Sprintf(`send %q: {"NAME": "VALUE"}`, key))
		}
		list = append(list, name+"="+text)
	}
	return list, nil
}

// listOf turns a value into a list of texts. One text stands for itself, and JSON inside a text for
// the list that it is.
func listOf(key string, v any, wrong error) ([]string, error) {
	if text, ok := v.(string); ok {
		if inner, ok := Decode([]byte(text)).([]any); ok && strings.HasPrefix(strings.TrimSpace(text), "[") {
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
			return nil, usage(fmt.Sprintf("in %q there is %s, and it takes texts", key, theKind(one)),
				fmt.Sprintf("send %q: [\"...\"]", key))
		}
		list = append(list, text)
	}
	return list, nil
}

// scalar returns a text, or a number as it was written.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

// theKind names the kind of a value for messages.
func theKind(v any) string {
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

// Deeper reports whether objects and lists are nested deeper than most.
func Deeper(text []byte, most int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > most {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// Seconds returns the seconds of a duration.
func Seconds(text string) (float64, error) {
	d, err := when.Duration(text)
	return d.Seconds(), err
}
