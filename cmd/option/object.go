package option

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state/plain"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Object is a JSON object that stands for a call: its keys are options, the time and the command.
type Object struct {
	Values  Values
	When    *string
	Command []string
	keys    map[string]string // the key of each option, by its first name
}

// Timed reports whether the object has a time, or tasks that it waits for.
func (o Object) Timed() bool { return o.When != nil || o.Form() != "" || o.Values.Has("after") }

// Form is the option that gives the time and its form; empty when there is none.
func (o Object) Form() string {
	for _, name := range Forms {
		if o.Values.Has(name) {
			return name
		}
	}
	return ""
}

// Forms are the options that give a time in one form, which has the name of the option (when.Form).
// Each excludes the others and a time in words.
var Forms = []string{"delay", "until", "every", "cron", "rrule"}

// Example is an object for hints.
const Example = `{"when": "tomorrow at 10:00", "command": ["make", "backup"]}`

// Fields are the options of a command by their keys in an object. The keys when and command have no
// option.
type Fields map[string]*Option

// Fields returns the keys of the objects that stand for calls of the command.
func (r Rows) Fields() Fields {
	fields := Fields{"when": nil, "command": nil}
	for i, o := range r {
		if o.OfCall {
			continue
		}
		fields[o.FieldKey()] = &r[i]
		for _, name := range o.Aliases {
			if len(name) > 1 {
				fields[fieldKey(name)] = &r[i]
			}
		}
	}
	return fields
}

// foreignKeys are the keys of another scheduling tool for agents, so that its calls work unchanged.
var foreignKeys = map[string]string{"timeExpression": "when", "taskPayload": "task",
	"humanReadableDescription": "description"}

// Source is a call that objects come by.
type Source struct {
	Of    Rows // the options of the command that the objects stand for
	Call  Rows // the options of the call
	Lines bool // each line is an object
}

// Read reads a JSON object, or a JSON string of one. An unknown key is an error.
func (fields Fields) Read(data []byte, from Source) (Object, error) {
	data, err := from.objectText(data)
	if err != nil {
		return Object{}, err
	}
	if bytes.TrimSpace(data)[0] != '{' {
		return Object{}, from.notObject(kindOf(Decode(data)))
	}
	list, err := ordered(data)
	if err != nil {
		return Object{}, err
	}
	o := Object{Values: Values{given: map[string]any{}}, keys: map[string]string{}}
	for _, f := range list {
		if err := fields.readKey(&o, f, from); err != nil {
			return o, err
		}
	}
	return o, nil
}

// objectText returns the text of an object. The object may be inside a JSON string, or in a string
// inside that string, because some programs encode it once or twice too often.
func (from Source) objectText(data []byte) ([]byte, error) {
	if err := IsText(data); err != nil {
		return nil, err
	}
	if !json.Valid(data) {
		return nil, from.notJSON(data)
	}
	if err := WholeCharacters(data); err != nil {
		return nil, err
	}
	for range 2 {
		text := bytes.TrimSpace(data)
		if text[0] != '"' {
			break
		}
		var inner string
		if err := json.Unmarshal(text, &inner); err != nil {
			return nil, from.notJSON(data)
		}
		if data = bytes.TrimSpace([]byte(inner)); !json.Valid(data) {
			return nil, from.notObject("a text")
		}
		if err := WholeCharacters(data); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// readsLines reports whether the call reads standard input in the form that it names.
func (from Source) readsLines() bool { return from.Call.Named("stdin") != nil }

// asLines adds to a hint how to give several tasks, if the call can be given them and is not.
func (from Source) asLines() string {
	if !from.readsLines() || from.Lines {
		return ""
	}
	return "; many tasks, one object a line: --stdin jsonl"
}

func usage(message, hint string) error { return problem.Of(problem.T(message), problem.T(hint)) }

// IsText refuses bytes that are not text of JSON.
func IsText(data []byte) error {
	switch {
	case bytes.IndexByte(data, 0) >= 0:
		return usage("it has a NUL byte", "write it in UTF-8, without a byte order mark; UTF-16 is not read")
	case !utf8.Valid(data):
		return usage("it is not valid UTF-8", problem.NotText.String())
	}
	return nil
}

// WholeCharacters refuses JSON with half of a surrogate pair, which would become another character
// when it is decoded.
func WholeCharacters(data []byte) error {
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
				return usage("it has half of a character, "+string(data[i:i+6]),
					"write both halves, or the character itself")
			}
			i += 6
		}
		i++ // skip the character after a backslash
	}
	return nil
}

func (from Source) notJSON(data []byte) error {
	why := ""
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		why = ": " + err.Error()
	}
	hint := "write an object such as " + Example
	dec := json.NewDecoder(bytes.NewReader(data))
	if first := whole; dec.Decode(&first) == nil && len(first) > 0 && first[0] == '{' {
		hint = "one object is read" + from.asLines()
	}
	if text := bytes.TrimSpace(data); from.readsLines() && len(text) > 0 && text[0] != '{' && text[0] != '[' && text[0] != '"' {
		hint += "; lines for the shell are read with --stdin lines"
	}
	return usage("it is not JSON"+why, hint)
}

func (from Source) notObject(kind string) error {
	hint := "write an object such as " + Example
	if kind == "a list" {
		hint += from.asLines()
	}
	return usage("it is "+kind+", not an object", hint)
}

// readKey reads one key with its value. A null counts as absent.
func (fields Fields) readKey(o *Object, f field, from Source) error {
	name := cmp.Or(foreignKeys[f.key], f.key)
	option, known := fields[name]
	if !known {
		return fields.unknown(f.key, from)
	}
	first := name
	if option != nil {
		first = option.Name
	}
	if before, twice := o.keys[first]; twice {
		return usage(plain.Quote(before)+" and "+plain.Quote(f.key)+" are the same", "give one of them")
	}
	o.keys[first] = f.key
	switch {
	case f.value == nil:
		return nil
	case name == "command":
		return o.readCommand(f)
	case option == nil:
		option = &Option{Kind: Duration}
	}
	v, err := option.strict(f)
	if err != nil {
		return err
	}
	if when, is := v.(string); is && name == "when" {
		o.When = &when
		return noNUL(f.key, when)
	}
	return o.Values.put(first, f.key, v)
}

// readCommand reads the command.
func (o *Object) readCommand(f field) (err error) {
	const example = `write the program and each argument as one text, "command": ["make", "backup"]`
	list, ok := f.value.([]any)
	if !ok {
		return usage(plain.Quote(f.key)+" is "+kindOf(f.value)+", and takes a list of texts",
			example+`; a line for the shell is "shell": "make backup"`)
	}
	o.Command, err = texts(f.key, list, text, example+`; a line for the shell is "shell": "make backup"`)
	switch {
	case err != nil:
		return err
	case len(o.Command) == 0 || o.Command[0] == "":
		return usage(`"command" is empty`, `write the program and its arguments, "command": ["make", "backup"]`)
	}
	return noNUL(f.key, o.Command...)
}

// unknown is the problem of an unknown key. Its hint has the most similar one.
func (fields Fields) unknown(key string, from Source) error {
	names := slices.Sorted(maps.Keys(fields))
	snake := strings.ReplaceAll(key, "-", "_")
	hint := "the keys are when, command or shell, task, description, and the options of ouro-timer at with _ for -"
	switch {
	case from.Of.ofCall(key) != "":
		hint := "leave it out"
		if name := from.Of.ofCall(key); from.Call.Named(name) != nil {
			hint = "give --" + name + " on the command line"
		}
		return usage(plain.Quote(key)+" is about the whole call", hint)
	case slices.Contains(names, snake):
		hint = "write " + plain.Quote(snake)
	case nearestKey(key, names) != "":
		hint = "did you mean " + plain.Quote(nearestKey(key, names)) + "? " + hint
	}
	return usage("unknown key "+plain.Quote(key), hint)
}

// nearestKey returns the key that an unknown one may mean: the same in other capitals, ours for one
// of another system, or one with few other letters. It is empty when there is none.
func nearestKey(key string, names []string) string {
	names = append(names, slices.Sorted(maps.Keys(foreignKeys))...)
	for _, name := range names {
		if strings.EqualFold(name, key) {
			return name
		}
	}
	return cmp.Or(ForeignKey(key, "at"), problem.Nearest(key, names))
}

// ofCall returns the option about the whole call that a key names; empty when there is none.
func (r Rows) ofCall(key string) string {
	if o := r.Named(strings.ReplaceAll(key, "_", "-")); o != nil && o.OfCall {
		return o.Name
	}
	return ""
}
