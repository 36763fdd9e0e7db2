package option

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Lenient reads objects that a model wrote, which do not always follow a schema. It takes a number
// or a boolean as a text, one text for a list, a list of one for a text, JSON inside a text, and
// keys in other spellings. Values such as null, "" and "None" count as absent, except "" where it
// is a value.
type Lenient struct {
	Name    string // the name of the tool or method
	Command string // the command that it stands for, if it does
	Example string // an object that it takes
	Rows    Rows
	Shown   []string // the keys that an error names
	// OtherKeys has our key for a key of other systems, and Instead what to do where we have none.
	// Both are by the other key, with underscores.
	OtherKeys map[string]string
	Instead   map[string]string
}

// Read reads the arguments of a call.
func (l Lenient) Read(raw json.RawMessage) (Values, error) {
	if err := WholeCharacters(raw); err != nil {
		return Values{}, err
	}
	fields, err := l.object(raw)
	if err != nil {
		return Values{}, err
	}
	v, keys := Values{given: map[string]any{}}, map[string]string{}
	for _, f := range fields {
		row := l.Named(f.key)
		if row == nil && !emptyText(f.value) {
			return v, l.Unknown(f.key)
		}
		if absent(f.value) && !(f.value == "" && row != nil && row.OrEmpty) {
			if row != nil && blank(f.value) {
				v.empty = append(v.empty, row.Name)
			}
			continue
		}
		if first, twice := keys[row.Name]; twice {
			return v, usage(fmt.Sprintf("%q and %q are the same", first, f.key), "give one of them")
		}
		keys[row.Name] = f.key
		x, err := row.Coerce(f.key, f.value)
		if err != nil {
			// The model knows row's key from the list of tools, and not the one that it sent.
			if l.OtherKeys[snake(f.key)] == row.FieldKey() {
				err = usage(fmt.Sprintf("%s has no argument %q", l.Name, f.key),
					fmt.Sprintf("did you mean %q? It takes %s", row.FieldKey(), row.takes()))
			}
			return v, err
		}
		if err := v.put(row.Name, f.key, x); err != nil {
			return v, err
		}
	}
	return v, nil
}

// field is a field of an object as it was sent.
type field struct {
	key   string
	raw   json.RawMessage
	value any
}

// object returns the arguments in the order in which they were sent. Some clients send the whole
// object as a text.
func (l Lenient) object(raw json.RawMessage) ([]field, error) {
	for range 3 {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || emptyText(Decode(raw)) {
			return nil, nil
		}
		if raw[0] == '{' {
			return ordered(raw)
		}
		text, ok := Decode(raw).(string)
		if !ok || !json.Valid([]byte(text)) || plain.Deeper([]byte(text), plain.DepthMost) {
			break
		}
		raw = json.RawMessage(text)
	}
	return nil, usage("the arguments of "+l.Name+" are "+kindOf(Decode(raw))+", not an object",
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

// ordered splits an object into its fields, in their order. It refuses a key that is there twice,
// because the last value would hide the others.
func ordered(raw []byte) (list []field, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	seen := map[string]bool{}
	_, err = d.Token()
	for err == nil && d.More() {
		var key json.Token
		var f field
		if key, err = d.Token(); err == nil {
			err = d.Decode(&f.raw)
		}
		if err != nil {
			break
		}
		f.key, f.value = key.(string), Decode(f.raw)
		if seen[f.key] {
			return nil, usage("the key "+plain.Quote(f.key)+" is there twice", "give it once")
		}
		seen[f.key] = true
		list = append(list, f)
	}
	if err != nil {
		return nil, usage("it is not JSON: "+err.Error(), "")
	}
	return list, nil
}

// emptyText reports whether a value is null, or a text that counts as absent.
func emptyText(v any) bool {
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

// blank reports whether an absent value is an empty text, list or object.
func blank(v any) bool {
	text, is := v.(string)
	return v != nil && (!is || strings.TrimSpace(text) == "")
}

// Named returns the option of a key, or nil. The key may be any of its names, in any spelling
// (maxSeconds, max-seconds).
func (l Lenient) Named(key string) *Option {
	for _, k := range []string{key, snake(key)} {
		if other, ok := l.OtherKeys[k]; ok {
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

// snake returns a key in lower case with underscores.
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

// Unknown is the problem of an unknown key. Its hint says what to use instead, or has the most
// similar key.
func (l Lenient) Unknown(key string) error {
	hint := l.Name + " takes " + strings.Join(l.Shown, ", ")
	var names []string
	for _, o := range l.Rows {
		names = append(names, o.FieldKey())
	}
	if other := l.Instead[snake(key)]; other != "" {
		hint = other + "; " + hint
	} else if n := ForeignKey(key, l.Command); slices.Contains(names, n) {
		hint = fmt.Sprintf("did you mean %q? %s", n, hint)
	} else if n := problem.Nearest(snake(key), names); n != "" {
		hint = fmt.Sprintf("did you mean %q? %s", n, hint)
	}
	return usage(fmt.Sprintf("%s has no argument %q", l.Name, key), hint)
}
