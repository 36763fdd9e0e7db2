package option

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plain"
)

// strict returns the value of a field in the type of the option. It takes what the option says, and
// guesses nothing.
func (o Option) strict(f field) (any, error) {
	list, isList := f.value.([]any)
	switch {
	case o.Kind == Whole:
		n, ok := f.value.(json.Number)
		if !ok {
			return nil, wrongKind(f, "a whole number", "5")
		}
		i, err := strconv.Atoi(n.String())
		number, _ := n.Float64()
		switch too := beyond(number); {
		case too != "" && (err == nil || errors.Is(err, strconv.ErrRange)):
			return nil, usage(plain.Quote(f.key)+" is "+n.String()+", which is too "+too, "write "+plain.Quote(f.key)+": 5")
		case err == nil:
			return i, nil
		}
		return nil, usage(plain.Quote(f.key)+" is "+n.String()+", not a whole number", "write "+plain.Quote(f.key)+": 5")
	case o.Kind == Flag:
		b, ok := f.value.(bool)
		if !ok {
			return nil, wrongKind(f, "true or false", "true")
		}
		return b, nil
	case o.OrText && !isList:
		text, ok := f.value.(string)
		if !ok {
			return nil, wrongKind(f, "a text, or a list of them", plain.Quote(o.Like))
		}
		return []string{text}, nil
	case o.Many:
		if _, is := f.value.(map[string]any); is && o.Pairs {
			return pairs(f.key, f.raw, text, "write")
		}
		example := "[" + plain.Quote(o.Like) + "]"
		if o.Pairs {
			example += ", or an object of them"
		}
		if !isList {
			return nil, wrongKind(f, "a list of texts", example)
		}
		return texts(f.key, list, text, "write "+plain.Quote(f.key)+": "+example)
	case o.WordList && isList:
		words, err := texts(f.key, list, text, "write the program and each argument as one text, "+plain.Quote(f.key)+
			`: ["python3", "agent.py"]`)
		return state.ShellLine(words), err
	}
	value, ok := f.value.(string)
	if !ok {
		return nil, wrongKind(f, "a text", plain.Quote(o.textFor(f.value)))
	}
	return value, nil
}

// text returns a value that is a text, as strict takes one.
func text(v any) (string, bool) {
	value, ok := v.(string)
	return value, ok
}

// textFor is a text of the option that a number may stand for.
func (o Option) textFor(v any) string {
	n, ok := v.(json.Number)
	switch {
	case !ok:
	case o.Like != "":
		return o.Like
	case len(o.Choices) > 0:
		return o.Choices[0]
	case o.Kind == Duration:
		return n.String() + "s"
	case slices.Contains([]Kind{Text, Name, ID, File, Shell, Regex}, o.Kind):
		return n.String()
	}
	return "..."
}

func wrongKind(f field, want, example string) error {
	return usage(plain.Quote(f.key)+" is "+kindOf(f.value)+", and takes "+want, "write "+plain.Quote(f.key)+": "+example)
}

// noNUL refuses texts with a NUL character, which no command and no message can have.
func noNUL(key string, texts ...string) error {
	for _, text := range texts {
		if strings.ContainsRune(text, 0) {
			return usage(plain.Quote(key)+" has a NUL character", "leave it out: no command and no message can have one")
		}
	}
	return nil
}

// put adds the value of an option that an object has by a key. Every object puts its values here.
func (v Values) put(name, key string, value any) error {
	if value == nil {
		return nil
	}
	v.given[name] = value
	switch value := value.(type) {
	case string:
		return noNUL(key, value)
	case []string:
		return noNUL(key, value...)
	}
	return nil
}

// texts returns a list of texts. text reads one of them.
func texts(key string, all []any, text func(any) (string, bool), hint string) ([]string, error) {
	list := make([]string, len(all))
	for i, v := range all {
		var ok bool
		if list[i], ok = text(v); !ok {
			return nil, usage("in "+plain.Quote(key)+" there is "+kindOf(v)+", and it takes texts", hint)
		}
	}
	return list, nil
}

// pairs returns an object of texts as a list of NAME=VALUE. text reads one of them, and verb is
// what a hint says to do.
func pairs(key string, raw []byte, text func(any) (string, bool), verb string) ([]string, error) {
	fields, err := ordered(raw)
	if err != nil {
		return nil, err
	}
	list := make([]string, len(fields))
	for i, f := range fields {
		value, ok := text(f.value)
		wrong := ""
		switch {
		case !ok:
			wrong = kindOf(f.value) + ", and takes a text"
		case f.key == "" || strings.ContainsAny(f.key, "= \t\n\x00"):
			wrong = "not a name of a variable"
		}
		if wrong != "" {
			return nil, usage(plain.Quote(f.key)+" in "+plain.Quote(key)+" is "+wrong, verb+" "+plain.Quote(key)+`: {"NAME": "VALUE"}`)
		}
		list[i] = f.key + "=" + value
	}
	return list, nil
}
