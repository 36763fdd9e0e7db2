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
