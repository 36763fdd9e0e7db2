package cmd

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/ouro-timer/ouro-timer/state"
)

// example is an object to learn from.
const example = `{"when": "tomorrow at 10:00", "command": ["make", "backup"]}`

// read reads an object as one of --stdin: a JSON object, or a JSON string of one. All of it must be understood.
func (table fieldTable) read(data []byte, call given) (*fields, error) {
	if err := isText(data); err != nil {
		return nil, err
	}
	if !json.Valid(data) {
		return nil, notJSON(data)
	}
	if err := wholeCharacters(data); err != nil {
		return nil, err
	}
	// A text of an object stands for it, and so does a text of that text: some programs encode what is encoded already.
	for range 2 {
		text := bytes.TrimSpace(data)
		if text[0] != '"' {
			break
		}
		var inner string
		if err := json.Unmarshal(text, &inner); err != nil {
			return nil, notJSON(data)
		}
		if data = bytes.TrimSpace([]byte(inner)); !json.Valid(data) {
			return nil, notObject("a text")
		}
		if err := wholeCharacters(data); err != nil {
			return nil, err
		}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	t, err := dec.Token()
	if err != nil {
		return nil, notJSON(data)
	}
	if t != json.Delim('{') {
		return nil, notObject(kindOf(t))
	}
	seen := map[string]string{} // what each key stands for, and the key
	f := &fields{table: table, call: call, flags: map[string]any{}, keys: seen}
	for dec.More() {
		key, _ := dec.Token()
		if err := f.readKey(dec, key.(string), seen); err != nil {
			return nil, err
		}
	}
	return f, f.check()
}

// isText refuses bytes that JSON could not keep as they are.
func isText(data []byte) error {
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return usage("it has a NUL byte", "write it in UTF-8, without a byte order mark; UTF-16 is not read")
	case !utf8.Valid(data):
		return usage("it is not valid UTF-8", notText)
	}
	return nil
}

// wholeCharacters refuses JSON with one half of a pair of escapes that make a character: as text it would be another one.
func wholeCharacters(data []byte) error {
	half := func(i int) rune { // the surrogate written at i, or 0
		if i+6 > len(data) || data[i] != '\\' || data[i+1] != 'u' {
			return 0
		}
		n, err := strconv.ParseUint(string(data[i+2:i+6]), 16, 16)
		if err != nil || !utf16.IsSurrogate(rune(n)) {
			return 0
		}
		return rune(n)
	}
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		if r := half(i); r != 0 {
			if utf16.DecodeRune(r, half(i+6)) == utf8.RuneError {
				return usage("it has half of a character, "+string(data[i:i+6]), "write both halves, or the character itself")
			}
			i += 6
		}
		i++ // what a backslash takes with it
	}
	return nil
}

func notJSON(data []byte) error {
	why := ""
	var any json.RawMessage
	if err := json.Unmarshal(data, &any); err != nil {
		why = ": " + err.Error()
	}
	hint := "write an object such as " + example
	dec := json.NewDecoder(bytes.NewReader(data))
	if first := any; dec.Decode(&first) == nil && len(first) > 0 && first[0] == '{' {
		hint = "one object is read; " + asLines
	}
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] != '{' && text[0] != '[' && text[0] != '"' {
		hint += "; lines for the shell are read with --stdin lines"
	}
	return usage("it is not JSON"+why, hint)
}

// asLines is how many tasks are given.
const asLines = "many tasks, one object a line: --stdin jsonl"

func notObject(kind string) error {
	hint := "write an object such as " + example
	if kind == "an array" {
		hint += "; " + asLines
	}
	return usage("it is "+kind+", not an object", hint)
}

// kindOf says what the value is that begins with the token.
func kindOf(t json.Token) string {
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

// readKey reads one key and its value. A null says as much as no key.
func (f *fields) readKey(dec *json.Decoder, key string, seen map[string]string) error {
	name := key
	if seedKeys[key] != "" {
		name = seedKeys[key]
	}
	flag, known := f.table[name]
	if !known {
		return f.table.unknown(key)
	}
	stands := name
	if flag != nil {
		stands = flag.Names()[0]
	}
	if first, twice := seen[stands]; twice && first == key {
		return usage("the key "+quote(key)+" is there twice", "give it once")
	} else if twice {
		return usage(quote(first)+" and "+quote(key)+" are the same", "give one of them")
	}
	seen[stands] = key
	t, err := dec.Token()
	if err != nil {
		return usage("it is not JSON: "+err.Error(), "write an object such as "+example)
	}
	var v any
	switch {
	case t == nil:
		return nil
	case name == "command":
		f.argv, err = words(dec, t, key, `write the program and each argument by itself, "command": ["make", "backup"]; a line for the shell is "shell": "make backup"`)
		if err == nil && (len(f.argv) == 0 || f.argv[0] == "") {
			err = usage(`"command" is empty`, `write the program and its arguments, "command": ["make", "backup"]`)
		}
		return err
	case (name == "notify" || name == "webhook") && t != json.Delim('['):
		text, ok := t.(string)
		if !ok {
			like := `"desktop"`
			if name == "webhook" {
				like = `"https://host/path"`
			}
			return wrongKind(key, t, "a text, or a list of them", like)
		}
		v, err = []string{text}, noNUL(key, text)
	case name == "agent" && t == json.Delim('['):
		list, err := words(dec, t, key, `write the program and each argument by itself, "agent": ["python3", "agent.py"]`)
		if err != nil {
			return err
		}
		v = state.ShellLine(list)
	case name == "env" && t == json.Delim('{'):
		v, err = pairs(dec, key)
	default:
		v, err = fieldValue(dec, t, key, flag)
	}
	if err != nil {
		return err
	}
	if name == "when" {
		text := v.(string)
		f.when = &text
		return nil
	}
	f.flags[stands] = v
	return nil
}

// fieldValue is the value that begins with the token, as the flag takes it.
func fieldValue(dec *json.Decoder, t json.Token, key string, flag cli.Flag) (any, error) {
	switch flag.(type) {
	case *cli.IntFlag:
		n, ok := t.(json.Number)
		if !ok {
			return nil, wrongKind(key, t, "a whole number", "5")
		}
		if i, err := strconv.Atoi(n.String()); err == nil && i <= math.MaxInt32 && i >= math.MinInt32 {
			return i, nil
		}
		return nil, usage(quote(key)+" is "+n.String()+", not a whole number", "write "+quote(key)+": 5")
	case *cli.BoolFlag:
		b, ok := t.(bool)
		if !ok {
			return nil, wrongKind(key, t, "true or false", "true")
		}
		return b, nil
	case *cli.StringSliceFlag:
		hint := `write a list of texts, such as ` + quote(key) + `: ["NAME=VALUE"], or an object of them`
		switch key {
		case "notify":
			hint = `write a list of texts, such as "notify": ["desktop"]`
		case "webhook":
			hint = `write a list of texts, such as "webhook": ["https://host/path"]`
		}
		return words(dec, t, key, hint)
	}
	text, ok := t.(string)
	if !ok {
		like := `"..."`
		if n, is := t.(json.Number); is && (flag == nil || placeholder(flag) == "DURATION") {
			like = `"` + n.String() + `s"`
		} else if is {
			like = `"` + n.String() + `"`
		}
		return nil, wrongKind(key, t, "a text", like)
	}
	return text, noNUL(key, text)
}

func wrongKind(key string, t json.Token, want, like string) error {
	return usage(quote(key)+" is "+kindOf(t)+", and takes "+want, "write "+quote(key)+": "+like)
}

func noNUL(key, text string) error {
	if strings.ContainsRune(text, 0) {
		return usage(quote(key)+" has a NUL character", "leave it out: no command and no message can have one")
	}
	return nil
}

// words reads a list of texts that begins with the token.
func words(dec *json.Decoder, t json.Token, key, hint string) ([]string, error) {
	if t != json.Delim('[') {
		return nil, usage(quote(key)+" is "+kindOf(t)+", and takes a list of texts", hint)
	}
	list := []string{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, usage("it is not JSON: "+err.Error(), hint)
		}
		word, ok := t.(string)
		if !ok {
			return nil, usage("in "+quote(key)+" there is "+kindOf(t)+", and it takes texts", hint)
		}
		if err := noNUL(key, word); err != nil {
			return nil, err
		}
		list = append(list, word)
	}
	_, _ = dec.Token() // ]
	return list, nil
}

// pairs reads an object of texts, of which the first token was read, as a list of NAME=VALUE.
func pairs(dec *json.Decoder, key string) ([]string, error) {
	var list []string
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
			return nil, usage("the value of "+quote(name)+" in "+quote(key)+" is "+kindOf(t)+", and takes a text", "write "+quote(name)+`: "..."`)
		case seen[name]:
			return nil, usage(quote(name)+" is twice in "+quote(key), "give it once")
		case name == "" || strings.ContainsAny(name, "= \t\n\x00"):
			return nil, usage(quote(name)+" in "+quote(key)+" is no name of a variable", "write "+quote(key)+`: {"NAME": "VALUE"}`)
		}
		if err := noNUL(key, value); err != nil {
			return nil, err
		}
		seen[name] = true
		list = append(list, name+"="+value)
	}
	_, _ = dec.Token() // }
	return list, nil
}

// unknown refuses a key that is none, with the nearest one.
func (table fieldTable) unknown(key string) error {
	names := slices.Sorted(maps.Keys(table))
	snake := strings.ReplaceAll(key, "-", "_")
	hint := "the keys are when, command or shell, task, description, and the options of ouro-timer at with _ for -"
	switch {
	case slices.Contains(aboutCall, strings.ReplaceAll(key, "_", "-")):
		return usage(quote(key)+" is about the whole call", "give --"+strings.ReplaceAll(key, "_", "-")+" on the command line")
	case slices.Contains(names, snake):
		hint = "write " + quote(snake)
	case nearestKey(key, names) != "":
		hint = "did you mean " + quote(nearestKey(key, names)) + "? " + hint
	}
	return usage("unknown key "+quote(key), hint)
}

// nearestKey is the key that is meant by one which is none: a known one in other capitals, or one of few other letters; "" for none.
func nearestKey(key string, names []string) string {
	names = append(names, slices.Sorted(maps.Keys(seedKeys))...)
	for _, name := range names {
		if strings.EqualFold(name, key) {
			return name
		}
	}
	return nearest(key, names)
}
