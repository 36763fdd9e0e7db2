package option

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

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

// Coerce turns a value into the type of the option; nil when the value says that the option is not
// given. A bare number is a duration in seconds.
func (o Option) Coerce(key string, v any) (any, error) {
	wrong := func(example string) error {
		return usage(fmt.Sprintf("%q is %s, and takes %s", key, kindOf(v), o.takes()),
			fmt.Sprintf("send %q: %s", key, example))
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
		switch too := beyond(n); {
		case !ok || err != nil || n != math.Trunc(n):
			return nil, wrong("5")
		case too != "":
			return nil, usage(fmt.Sprintf("%q is %s, which is too %s", key, kindOf(v), too), fmt.Sprintf("send %q: 5", key))
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
		if err == nil && len(ids) == 0 {
			return nil, usage(fmt.Sprintf("%q has no ID", key), fmt.Sprintf(`send %q: ["k7m2"], or leave it out`, key))
		}
		return ids, err
	case o.Many:
		return listOf(key, v, wrong(`["..."]`))
	case o.Bare:
		if yes, ok := truth(v); ok && yes {
			return "", nil
		} else if ok {
			return nil, nil
		}
	}
	if list, ok := v.([]any); ok && len(list) == 1 {
		v = list[0]
	}
	text, ok := scalar(v)
	switch n, bare := v.(json.Number); {
	case !ok && o.Bare:
		return nil, usage(fmt.Sprintf("%q is %s, and takes true, or how long it is", key, kindOf(v)),
			fmt.Sprintf("send %q: true", key))
	case !ok:
		return nil, wrong(`"..."`)
	case bare && (o.Kind == Time || o.Kind == Instant):
		// As times 1800 would be a time of day, and 3600 would be refused.
		return nil, usage(fmt.Sprintf("%q is %s, and a time needs a unit", key, kindOf(n)),
			fmt.Sprintf(`send "%ss" for seconds, or a text such as "18:00"`, n))
	case o.Kind == Duration && strings.Trim(text, "0123456789.") == "":
		text += "s"
	}
	return text, nil
}

// truth reads true or false, also as a text: yes, no, on, off, 1, 0.
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

// pairsOf turns an object of texts, or a list of NAME=VALUE, into such a list.
func pairsOf(key string, v any, wrong error) ([]string, error) {
	raw, _ := v.(string)
	if object, ok := v.(map[string]any); ok {
		raw = JSON(object)
	}
	if _, ok := Decode([]byte(raw)).(map[string]any); ok {
		return pairs(key, []byte(raw), scalar, "send")
	}
	return listOf(key, v, wrong)
}

// listOf turns a value into a list of texts: a list, JSON of a list inside a text, or one text as a
// list of one.
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
	return texts(key, all, scalar, fmt.Sprintf("send %q: [\"...\"]", key))
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

// kindOf names the kind of a value for messages.
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
