package cmd

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
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
)

// fields are an object of --stdin, read: a call of at in which the object's keys stand for the options. What the object does
// not say is as the command line says.
type fields struct {
	table fieldTable
	call  given
	flags map[string]any // by the first name of the flag: string, int, bool or []string
	when  *string
	argv  []string // executed directly; nil for none
}

// aboutCall are the options of at that are about the call and not about a task.
var aboutCall = []string{"json", "quiet", "no-autostart", "stdin", "spread"}

// renamed are the flags of at whose keys have another name: c is the text for the shell, which --json calls shell, and
// --shell is the program that reads it.
var renamed = map[string]string{"c": "shell", "shell": "program"}

// seedKeys are what an agent's scheduling tool called the keys, whose calls are understood as they are.
var seedKeys = map[string]string{"timeExpression": "when", "taskPayload": "task", "humanReadableDescription": "description"}

// fieldTable is the flags of a command by the key that stands for each, of when and command nil. An option that at gets is a
// key from then on.
type fieldTable map[string]cli.Flag

func newFieldTable(c *command) fieldTable {
	keys := fieldTable{"when": nil, "command": nil}
	for _, f := range c.flags {
		if slices.Contains(aboutCall, f.Names()[0]) {
			continue
		}
		for _, name := range f.Names() {
			if len(name) > 1 || renamed[name] != "" {
				keys[fieldOf(name)] = f
			}
		}
	}
	return keys
}

// fieldOf is the key that stands for a flag of at.
func fieldOf(flag string) string {
	if name := renamed[flag]; name != "" {
		return name
	}
	return strings.ReplaceAll(flag, "-", "_")
}

func (f *fields) IsSet(name string) bool {
	if _, ok := f.flags[name]; ok {
		return true
	}
	return !f.hides(name) && f.call.IsSet(name)
}

// hides reports whether the object gives a time of its own, beside which that of the command line is not one.
func (f *fields) hides(flag string) bool {
	return f.timed() && isForm(flag)
}

// timed reports whether the object says when.
func (f *fields) timed() bool {
	return f.when != nil || f.form() != ""
}

// snapshot is what a command line says, looked up once: the library takes long to find an option.
func snapshot(call given, c *command) given {
	flags := map[string]any{}
	for _, f := range c.flags {
		name := f.Names()[0]
		if !call.IsSet(name) {
			continue
		}
		switch f.(type) {
		case *cli.IntFlag:
			flags[name] = call.Int(name)
		case *cli.BoolFlag:
			flags[name] = call.Bool(name)
		case *cli.StringSliceFlag:
			flags[name] = call.StringSlice(name)
		default:
			flags[name] = call.String(name)
		}
	}
	return &fields{call: unsaid{}, flags: flags}
}

// unsaid is a call without options.
type unsaid struct{}

func (unsaid) IsSet(string) bool           { return false }
func (unsaid) String(string) string        { return "" }
func (unsaid) Int(string) int              { return 0 }
func (unsaid) Bool(string) bool            { return false }
func (unsaid) StringSlice(string) []string { return nil }

// form is the flag that gives the time and forces how it is read; empty for none.
func (f *fields) form() string {
	for flag := range f.flags {
		if isForm(flag) {
			return flag
		}
	}
	return ""
}

func isForm(flag string) bool {
	for _, form := range forms {
		if form.flag == flag {
			return true
		}
	}
	return false
}

func (f *fields) String(name string) string { return field(f, name, given.String) }
func (f *fields) Int(name string) int       { return field(f, name, given.Int) }
func (f *fields) Bool(name string) bool     { return field(f, name, given.Bool) }

// StringSlice is a list of the command line, and what the object adds to it.
func (f *fields) StringSlice(name string) []string {
	own, _ := f.flags[name].([]string)
	return slices.Concat(f.call.StringSlice(name), own)
}

// field is what the object says, or else the command line.
func field[T any](f *fields, name string, get func(given, string) T) T {
	if v, ok := f.flags[name].(T); ok {
		return v
	}
	var none T
	if f.hides(name) {
		return none
	}
	return get(f.call, name)
}

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
	if text := bytes.TrimSpace(data); text[0] == '"' {
		var inner string
		if err := json.Unmarshal(text, &inner); err != nil {
			return nil, notJSON(data)
		}
		if data = bytes.TrimSpace([]byte(inner)); !json.Valid(data) || data[0] == '"' {
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
	f := &fields{table: table, call: call, flags: map[string]any{}}
	seen := map[string]string{} // what each key stands for, and the key
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
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] != '{' && text[0] != '[' && text[0] != '"' {
		hint += "; lines for the shell are read with --stdin lines"
	}
	return usage("it is not JSON"+why, hint)
}

func notObject(kind string) error {
	return usage("it is "+kind+", not an object", "write an object such as "+example)
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
		return words(dec, t, key, `write a list of texts, such as `+quote(key)+`: ["NAME=VALUE"], or an object of them`)
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
		case name == "" || strings.Contains(name, "="):
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
	case nearest(key, names) != "":
		hint = "did you mean " + quote(nearest(key, names)) + "? " + hint
	}
	return usage("unknown key "+quote(key), hint)
}

// check refuses an object that says too little or too much to be a task, in the words of objects.
func (f *fields) check() error {
	set := func(flag string) bool { return f.IsSet(flag) }
	var ways []string
	for _, w := range []struct {
		name string
		is   bool
	}{{"command", f.argv != nil}, {"shell", set("c")}, {"file", set("file")}} {
		if w.is {
			ways = append(ways, quote(w.name))
		}
	}
	switch {
	case f.when != nil && f.form() != "":
		return usage(`"when" and `+quote(f.form())+" exclude each other", "give one of them")
	case len(ways) > 1:
		return usage(strings.Join(ways, " and ")+" exclude each other", "give one of them")
	case len(ways) == 0 && strings.TrimSpace(f.String("task")) == "":
		return usage("there is nothing to do at that time", `a command: "command": ["make", "backup"]; a line for the shell: "shell": "make backup"; a message: "task": "call Bob"`)
	case set("c") && strings.TrimSpace(f.String("c")) == "":
		return usage(`"shell" is empty`, `write the line for the shell, "shell": "make backup"`)
	case f.argv != nil && f.flags["shell"] != nil:
		return usage(`"program" is for "shell" and "file"; "command" runs without a shell`, "leave it out")
	case f.Bool("replace") && !f.IsSet("key"):
		return usage(`"replace" is for tasks that have a key`, `name the task, "key": "backup"`)
	case f.String("file") == "-":
		return usage(`"file" cannot be standard input, which the tasks are read from`, `name a file, or give the text in "shell"`)
	}
	return nil
}

// refusal is an error of a call that an object stands for, in the words of objects.
func (f *fields) refusal(err error) *failure {
	var known *failure
	if !errors.As(err, &known) {
		return explain(err)
	}
	told := *known
	told.message, told.hint = f.table.speak(told.message), f.table.speak(told.hint)
	if len(f.argv) == 1 && strings.HasPrefix(told.message, "there is no program called") {
		b, _ := json.Marshal(strings.Fields(f.argv[0]))
		told.hint = fmt.Sprintf(`word by word, "command": %s; or for the shell, "shell": %s`, b, quote(f.argv[0]))
	}
	return &told
}

// speak writes the options of at in a sentence as the keys that stand for them.
func (table fieldTable) speak(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '-' || i > 0 && text[i-1] != ' ' && text[i-1] != '(' {
			b.WriteByte(text[i])
			i++
			continue
		}
		end := i
		for end < len(text) && (text[end] == '-' || text[end] >= 'a' && text[end] <= 'z') {
			end++
		}
		name := strings.TrimLeft(text[i:end], "-")
		if name == "f" {
			name = "file"
		}
		flag := table[fieldOf(name)]
		if name == "" || flag == nil {
			b.WriteString(text[i:end])
			i = end
			continue
		}
		b.WriteString(quote(fieldOf(name)))
		i = end
		if len(text) > end+1 && text[end] == ' ' && text[end+1] >= '0' && text[end+1] <= '9' { // --retries 3
			value := text[end+1:]
			if n := strings.IndexAny(value, " ;,"); n >= 0 {
				value = value[:n]
			}
			i += 1 + len(value)
			if _, number := flag.(*cli.IntFlag); !number {
				value = quote(value)
			}
			b.WriteString(": " + value)
		}
	}
	return b.String()
}
