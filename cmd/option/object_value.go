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

// kindOfToken names the kind of the value that begins with a token, for messages.
func kindOfToken(t json.Token) string {
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return "an array"
		}
		return "an object"
	case bool:
		return strconv.FormatBool(t)
	case json.Number:
		return "a number"
	case nil:
		return "null"
	}
	return "a text"
}

// field reads the value that begins with the token t, and returns it in the type of the option.
func (o Option) field(dec *json.Decoder, t json.Token, key string) (any, error) {
	switch {
	case o.Kind == Whole:
		n, ok := t.(json.Number)
		if !ok {
			return nil, wrongKind(key, t, "a whole number", "5")
		}
		i, err := strconv.Atoi(n.String())
		f, _ := n.Float64()
		switch too, hint := beyond(f); {
		case too != "" && (err == nil || errors.Is(err, strconv.ErrRange)):
			return nil, usage(plain.Quote(key)+" is "+n.String()+", which is too "+too, hint)
		case err == nil:
			return i, nil
		}
		return nil, usage(plain.Quote(key)+" is "+n.String()+", not a whole number", "write "+plain.Quote(key)+": 5")
	case o.Kind == Flag:
		b, ok := t.(bool)
		if !ok {
			return nil, wrongKind(key, t, "true or false", "true")
		}
		return b, nil
	case o.OrText && t != json.Delim('['):
		text, ok := t.(string)
		if !ok {
			return nil, wrongKind(key, t, "a text, or a list of them", plain.Quote(o.Like))
		}
		return []string{text}, nil
	case o.Pairs && t == json.Delim('{'):
		return pairs(dec, key)
	case o.Many:
		hint := "write a list of texts, such as " + plain.Quote(key) + `: [` + plain.Quote(o.Like) + `]`
		if o.Pairs {
			hint += ", or an object of them"
		}
		return words(dec, t, key, hint)
	case o.WordList && t == json.Delim('['):
		list, err := words(dec, t, key, "write the program and each argument as one text, "+plain.Quote(key)+
			`: ["python3", "agent.py"]`)
		return state.ShellLine(list), err
	}
	return o.oneText(t, key)
}

// oneText reads a text. Where a number stands for it, the hint has a text that may be meant.
func (o Option) oneText(t json.Token, key string) (string, error) {
	text, ok := t.(string)
	if ok {
		return text, nil
	}
	example := "..."
	if n, is := t.(json.Number); is {
		example = o.textFor(n)
	}
	return "", wrongKind(key, t, "a text", plain.Quote(example))
}

// textFor is a text of the option that a number may stand for.
func (o Option) textFor(n json.Number) string {
	switch {
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

func wrongKind(key string, t json.Token, want, example string) error {
	return usage(plain.Quote(key)+" is "+kindOfToken(t)+", and takes "+want, "write "+plain.Quote(key)+": "+example)
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

// words reads a list of texts that begins with the token t.
func words(dec *json.Decoder, t json.Token, key, hint string) ([]string, error) {
	if t != json.Delim('[') {
		return nil, usage(plain.Quote(key)+" is "+kindOfToken(t)+", and takes a list of texts", hint)
	}
	list := []string{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, usage("it is not JSON: "+err.Error(), hint)
		}
		word, ok := t.(string)
		if !ok {
			return nil, usage("in "+plain.Quote(key)+" there is "+kindOfToken(t)+", and it takes texts", hint)
		}
		list = append(list, word)
	}
	_, _ = dec.Token() // ]
	return list, nil
}

// pairs reads an object of texts, after its first token, as a list of NAME=VALUE.
func pairs(dec *json.Decoder, key string) ([]string, error) {
	list := []string{}
	seen := map[string]bool{}
	for dec.More() {
		k, _ := dec.Token()
		name := k.(string)
		t, err := dec.Token()
		if err != nil {
			return nil, usage("it is not JSON: "+err.Error(), "")
		}
		value, ok := t.(string)
		switch {
		case !ok:
			return nil, usage("the value of "+plain.Quote(name)+" in "+plain.Quote(key)+" is "+kindOfToken(t)+
				", and takes a text", "write "+plain.Quote(name)+`: "..."`)
		case seen[name]:
			return nil, usage(plain.Quote(name)+" is twice in "+plain.Quote(key), "give it once")
		case name == "" || strings.ContainsAny(name, "= \t\n\x00"):
			return nil, usage(plain.Quote(name)+" in "+plain.Quote(key)+" is not a name of a variable",
				"write "+plain.Quote(key)+`: {"NAME": "VALUE"}`)
		}
		seen[name] = true
		list = append(list, name+"="+value)
	}
	_, _ = dec.Token() // }
	return list, nil
}
