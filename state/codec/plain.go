package codec

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
)

// layout is how a struct of ours stands in a file, as the tags of its fields have it: its values,
// those of embedded structs among them, and then its tables. It serves to write and to read.
type layout struct {
	known  bool // all of it is of types that are read and written here
	values []plainValue
	tables []plainTable
}

// plainValue is a line of a file.
type plainValue struct {
	start string // of the line: the key, and what stands before the value
	index []int  // of the field
	omit  bool   // it is left out when it says nothing
}

// plainTable is a table of a file. One that says nothing is left out if it may be.
type plainTable struct {
	plainValue
	of *layout // nil: its keys are the user's
}

var layouts sync.Map // of *layout, by reflect.Type

// layoutOf finds out once for each type how it stands in a file.
func layoutOf(t reflect.Type) *layout {
	l, found := layouts.Load(t)
	if !found {
		l, _ = layouts.LoadOrStore(t, newLayout(t, ""))
	}
	return l.(*layout)
}

// newLayout is the layout of a struct at a path of the file, which is empty or ends with a dot.
func newLayout(t reflect.Type, path string) *layout {
	l := &layout{known: true}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("toml"), ",")
		if name == "-" || f.Anonymous || !f.IsExported() {
			continue
		}
		line := plainValue{name + " = ", f.Index, options != ""}
		table := plainTable{line, nil}
		table.start = "[" + path + name + "]\n"
		if path == "" { // a free line stands before those of the first level
			table.start = "\n" + table.start
		}
		_, _, isValue := appendValue(nil, reflect.New(f.Type).Interface())
		switch {
		case !bareKey(name):
			l.known = false
		case isValue:
			l.values = append(l.values, line)
		case f.Type == reflect.TypeFor[map[string]string]():
			l.tables = append(l.tables, table)
		case f.Type.Kind() == reflect.Struct:
			table.of = newLayout(f.Type, path+name+".")
			l.known = l.known && table.of.known
			l.tables = append(l.tables, table)
		default:
			l.known = false
		}
	}
	return l
}

// writePlain writes a struct, byte for byte as the library does, but for tables that say nothing.
// False is its answer to all that is not of our types, which the library writes.
func writePlain(v any) ([]byte, bool) {
	of := reflect.ValueOf(v)
	if of.Kind() != reflect.Struct {
		return nil, false
	}
	l := layoutOf(of.Type())
	if !l.known {
		return nil, false
	}
	fixed := reflect.New(of.Type()).Elem() // its fields have addresses
	fixed.Set(of)
	return bytes.TrimPrefix(l.append(make([]byte, 0, 1024), fixed), []byte("\n")), true
}

func (l *layout) append(data []byte, v reflect.Value) []byte {
	for _, f := range l.values {
		before := len(data)
		var zero bool
		data, zero, _ = appendValue(append(data, f.start...), v.FieldByIndex(f.index).Addr().Interface())
		if data = append(data, '\n'); zero && f.omit {
			data = data[:before]
		}
	}
	for _, t := range l.tables {
		before := len(data)
		data = append(data, t.start...)
		inside := len(data)
		if field := v.FieldByIndex(t.index); t.of != nil {
			data = t.of.append(data, field)
		} else {
			data = appendVariables(data, field.Interface().(map[string]string))
		}
		if len(data) == inside && t.omit {
			data = data[:before]
		}
	}
	return data
}

// appendValue writes the value that field points to, and says whether it is the zero value. It is
// not ok when the field is of no type that stands on a line.
func appendValue(data []byte, field any) (_ []byte, zero, ok bool) {
	switch v := field.(type) {
	case *string:
		return appendText(data, *v), *v == "", true
	case *bool:
		return strconv.AppendBool(data, *v), !*v, true
	case *int:
		return strconv.AppendInt(data, int64(*v), 10), *v == 0, true
	case *int64:
		return strconv.AppendInt(data, *v, 10), *v == 0, true
	case *uint64:
		return strconv.AppendUint(data, *v, 10), *v == 0, true
	case *time.Time:
		return v.AppendFormat(data, time.RFC3339Nano), *v == time.Time{}, true
	case *[]string:
		return appendTexts(data, *v), len(*v) == 0, true
	case *[]state.Stretch:
		texts := make([]string, len(*v))
		for i, s := range *v {
			text, _ := s.MarshalText() // it never fails
			texts[i] = string(text)
		}
		return appendTexts(data, texts), len(*v) == 0, true
	}
	return data, false, false
}

func appendTexts(data []byte, list []string) []byte {
	data = append(data, '[')
	for i, s := range list {
		if i > 0 {
			data = append(data, ", "...)
		}
		data = appendText(data, s)
	}
	return append(data, ']')
}

// appendText writes a string.
func appendText(data []byte, s string) []byte {
	data = append(data, '"')
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		data = append(data, s[from:i]...)
		from = i + 1
		switch {
		case c == '"', c == '\\':
			data = append(data, '\\', c)
		case c >= '\b' && c <= '\r' && c != '\v':
			data = append(data, '\\', "btn.fr"[c-'\b'])
		default:
			data = fmt.Appendf(data, `\u%04x`, c)
		}
	}
	return append(append(data, s[from:]...), '"')
}

// appendVariables writes what is in a table whose keys are the user's.
func appendVariables(data []byte, of map[string]string) []byte {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		data = append(appendVariable(data, name, of[name]), '\n')
	}
	return data
}

func appendVariable(data []byte, name, value string) []byte {
	if bareKey(name) {
		data = append(data, name...)
	} else {
		data = appendText(data, name)
	}
	return appendText(append(data, " = "...), value)
}

// bareKey reports whether a key is written without quotes.
func bareKey(name string) bool {
	for i := range len(name) {
		if !bareByte(name[i]) {
			return false
		}
	}
	return name != ""
}

// plainReader goes through a text that writePlain has made.
type plainReader struct {
	text    string // what is still to be read
	scratch []byte
}

// plainFile reads into a struct, which is zero, a file as Encode writes it: with its keys in that
// order and each value as it is written. False, and a struct that is zero, is its answer to
// everything else, right or wrong: the library judges that. What it reads, the library reads as the
// same struct.
func plainFile(data []byte, into any) bool {
	return bytes.HasSuffix(data, []byte("\n"+endLine)) && readPlain(data[:len(data)-len(endLine)], into)
}

// readPlain is plainFile of a text without the last line.
func readPlain(text []byte, into any) bool {
	v := reflect.ValueOf(into).Elem()
	if v.Kind() != reflect.Struct {
		return false
	}
	l := layoutOf(v.Type())
	r := plainReader{text: string(text), scratch: make([]byte, 0, 64)}
	if l.known && utf8.Valid(text) && r.table(l, v) && r.text == "" {
		return true
	}
	v.SetZero()
	return false
}

// table reads the lines of a table, and the tables in it.
func (r *plainReader) table(l *layout, v reflect.Value) bool {
	for i := range l.values {
		f := &l.values[i]
		if !strings.HasPrefix(r.text, f.start) {
			if !f.omit {
				return false
			}
			continue
		}
		line := r.text[len(f.start):]
		field := v.FieldByIndex(f.index).Addr().Interface()
		if text, ok := field.(*string); ok {
			if plain, rest, ok := cutPlain(line); ok {
				*text, r.text = plain, rest
				continue
			}
		}
		value, rest, _ := strings.Cut(line, "\n")
		if at, ok := field.(*time.Time); ok {
			if *at, ok = readInstant(value); !ok {
				return false
			}
			r.text = rest
			continue
		}
		if !readValue(field, value) {
			return false
		}
		// What is written otherwise, and has perhaps been read all the same, is left to the
		// library.
		if r.scratch, _, _ = appendValue(r.scratch[:0], field); string(r.scratch) != value {
			return false
		}
		r.text = rest
	}
	for i := range l.tables {
		t := &l.tables[i]
		if !strings.HasPrefix(r.text, t.start) {
			continue
		}
		r.text = r.text[len(t.start):]
		if field := v.FieldByIndex(t.index); t.of != nil && !r.table(t.of, field) || t.of == nil && !r.variables(field) {
			return false
		}
	}
	return true
}

// variablesMost and nameMost are how many variables, and how long a name of one, are read here: far
// below taskBounds, so that those need not be looked at.
const (
	variablesMost = 1_000
	nameMost      = 500
)

// variables reads the lines of a table whose keys are the user's.
func (r *plainReader) variables(field reflect.Value) bool {
	of := make(map[string]string, min(strings.Count(r.text, "\n"), variablesMost))
	field.Set(reflect.ValueOf(of))
	lines := 0
	for ; r.text != "" && r.text[0] != '\n' && r.text[0] != '['; lines++ {
		name, line, _ := strings.Cut(r.text, " = ")
		value, rest, ok := cutPlain(line)
		if !ok || !bareKey(name) {
			name, value, rest, ok = r.variable()
		}
		if !ok || lines == variablesMost || len(name) > nameMost {
			return false
		}
		of[name], r.text = value, rest
	}
	return len(of) == lines // none is there twice
}

// variable reads a line of such a table.
func (r *plainReader) variable() (name, value, rest string, ok bool) {
	line, rest, _ := strings.Cut(r.text, "\n")
	name, after, quoted := cutText(line)
	if !quoted {
		name, after, _ = strings.Cut(line, " = ")
	}
	value, _, ok = cutText(strings.TrimPrefix(after, " = "))
	r.scratch = appendVariable(r.scratch[:0], name, value)
	return name, value, rest, ok && string(r.scratch) == line
}

// readValue reads what appendValue writes, and perhaps more.
func readValue(field any, text string) (ok bool) {
	var err error
	switch v := field.(type) {
	case *string:
		*v, _, ok = cutText(text)
		return ok
	case *bool:
		*v = text == "true"
	case *int:
		*v, err = strconv.Atoi(text)
	case *int64:
		*v, err = strconv.ParseInt(text, 10, 64)
	case *uint64: // the library reads no more than an int64
		*v, err = strconv.ParseUint(text, 10, 63)
	case *[]string:
		*v, ok = readTexts(text)
		return ok
	case *[]state.Stretch:
		texts, ok := readTexts(text)
		*v = make([]state.Stretch, len(texts))
		for i := range texts {
			ok = ok && (*v)[i].UnmarshalText([]byte(texts[i])) == nil
		}
		return ok
	}
	return err == nil
}

// readInstant reads an instant as it is written: in UTC, with as many digits as say something. The
// length, and where the dot is, leave no room for what the library takes beside that: an hour of
// one digit, a comma.
func readInstant(text string) (at time.Time, ok bool) {
	const whole = len("2006-01-02T15:04:05Z")
	n := len(text)
	if n < whole || text[n-1] != 'Z' || n > whole && (text[whole-1] != '.' || text[n-2] < '1' || n > len("2006-01-02T15:04:05.999999999Z")) {
		return at, false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, err == nil
}

// readTexts reads a list of strings.
func readTexts(text string) (list []string, ok bool) {
	text, ok = strings.CutPrefix(text, "[")
	for ok {
		var s string
		if s, text, ok = cutText(text); !ok {
			return nil, false
		}
		list = append(list, s)
		if text == "]" {
			return list, true
		}
		text, ok = strings.CutPrefix(text, ", ")
	}
	return nil, false
}

// cutPlain reads a line that is a string and has nothing in it that is written as an escape.
func cutPlain(text string) (s, rest string, ok bool) {
	for i := 1; i < len(text) && text[0] == '"'; i++ {
		switch c := text[i]; {
		case c == '"':
			rest, ok = strings.CutPrefix(text[i+1:], "\n")
			return text[1:i], rest, ok
		case c < ' ' || c == '\\' || c == 0x7f:
			return "", "", false
		}
	}
	return "", "", false
}

// cutText reads a string at the beginning of a text, and returns what follows it.
func cutText(text string) (s, rest string, ok bool) {
	// what needs no escape is most of all, and far quicker so
	if after, found := strings.CutPrefix(text, `"`); found {
		if s, rest, ok = strings.Cut(after, `"`); ok && !strings.Contains(s, `\`) {
			return s, rest, true
		}
	}
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", "", false
	}
	s, err = strconv.Unquote(quoted)
	return s, text[len(quoted):], err == nil
}
