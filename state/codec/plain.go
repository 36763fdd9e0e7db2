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

// layout is the form of a struct in plain text, by the tags of its fields: first its values, with
// those of embedded structs, and then its tables.
type layout struct {
	known  bool // all fields have types that are read and written here
	values []plainValue
	tables []plainTable
}

// plainValue is a line of plain text.
type plainValue struct {
	start string // the beginning of the line, up to the value
	index []int  // the index of the field
	omit  bool   // it is left out if it is zero
}

// plainTable is a table of plain text. If omit is true, it is left out if it is empty.
type plainTable struct {
	plainValue
	of *layout // nil if the keys of the table are the user's
}

var layouts sync.Map // of *layout, by reflect.Type

// layoutOf returns the layout of a type, which it makes once.
func layoutOf(t reflect.Type) *layout {
	l, found := layouts.Load(t)
	if !found {
		l, _ = layouts.LoadOrStore(t, newLayout(t, ""))
	}
	return l.(*layout)
}

// newLayout makes the layout of a struct. path is the table that contains it, and is empty or ends
// with a dot.
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
		if path == "" { // an empty line separates the tables of the first level
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

// writePlain encodes a struct. It writes the same bytes as the library, except that it leaves out
// empty tables. It returns false if v contains other types, which only the library writes.
func writePlain(v any) ([]byte, bool) {
	of := reflect.ValueOf(v)
	if of.Kind() != reflect.Struct {
		return nil, false
	}
	l := layoutOf(of.Type())
	if !l.known {
		return nil, false
	}
	fixed := reflect.New(of.Type()).Elem() // unlike those of of, its fields have addresses
	fixed.Set(of)
	return bytes.TrimPrefix(l.append(make([]byte, 0, 1024), fixed), []byte("\n")), true
}

// append writes the lines and tables of v.
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

// appendValue writes the value to which field points. zero says that it is the zero value. ok is
// false if the value cannot be on a line.
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

// appendTexts writes a list of strings.
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

// appendVariables writes the lines of a table whose keys are the user's.
func appendVariables(data []byte, of map[string]string) []byte {
	for _, name := range slices.Sorted(maps.Keys(of)) {
		data = append(appendVariable(data, name, of[name]), '\n')
	}
	return data
}

// appendVariable writes a line of such a table, without its newline.
func appendVariable(data []byte, name, value string) []byte {
	if bareKey(name) {
		data = append(data, name...)
	} else {
		data = appendText(data, name)
	}
	return appendText(append(data, " = "...), value)
}

// bareKey reports whether a key needs no quotes.
func bareKey(name string) bool {
	for i := range len(name) {
		if !bareByte(name[i]) {
			return false
		}
	}
	return name != ""
}

// plainReader reads text that writePlain has made.
type plainReader struct {
	text    string // what it has not read yet
	scratch []byte
}

// readPlainFile decodes a file into a zero struct if the file is exactly as Encode writes it. The
// library would decode the same struct. It returns false, and the struct stays zero, for any other
// file, valid or not: the library decides about those.
func readPlainFile(data []byte, into any) bool {
	return bytes.HasSuffix(data, []byte("\n"+endLine)) && readPlain(data[:len(data)-len(endLine)], into)
}

// readPlain is readPlainFile of a text without the last line.
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
		// The library reads a value that is written in another form, even if readValue could.
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

// maxVariables and maxName limit how many variables are read here, and how long their names are.
// They are far below taskBounds, so that those need not be checked.
const (
	maxVariables = 1_000
	maxName      = 500
)

// variables reads the lines of a table whose keys are the user's.
func (r *plainReader) variables(field reflect.Value) bool {
	of := make(map[string]string, min(strings.Count(r.text, "\n"), maxVariables))
	field.Set(reflect.ValueOf(of))
	lines := 0
	for ; r.text != "" && r.text[0] != '\n' && r.text[0] != '['; lines++ {
		name, line, _ := strings.Cut(r.text, " = ")
		value, rest, ok := cutPlain(line)
		if !ok || !bareKey(name) {
			name, value, rest, ok = r.variable()
		}
		if !ok || lines == maxVariables || len(name) > maxName {
			return false
		}
		of[name], r.text = value, rest
	}
	return len(of) == lines // false if a name is there twice
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

// readValue reads what appendValue writes. It may also accept other forms.
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

// readInstant reads an instant in the form in which it is written: in UTC, without trailing zeros
// of the fraction. It checks the length and the place of the dot, because time.Parse accepts other
// forms, too: an hour of one digit, or a comma.
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

// cutPlain reads a line that is a string without escapes, and returns what follows the line.
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
	// Most strings have no escapes, and this is far quicker for them.
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
