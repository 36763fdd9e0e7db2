package files

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// plainText writes a struct of ours as TOML, byte for byte as the library writes it, in a twentieth of the time: a record and a tally are
// written for each run, and that was a tenth of what a burst of runs costs. False is its answer to a value that needs an escape,
// or a type that ours do not have, and the library writes that.
func plainText(v any) ([]byte, bool) {
	w := plainWriter{data: make([]byte, 0, 1024)}
	of := reflect.ValueOf(v)
	if of.Kind() != reflect.Struct {
		return nil, false
	}
	ok := w.table("", of) && !w.odd
	return w.data, ok
}

// plainField is a field of a struct and how it is written.
type plainField struct {
	name                string
	index               []int
	omitEmpty, omitZero bool
}

// plainFields are the fields of a type in the order of the file: values, then tables.
type plainFields struct {
	values, tables []plainField
	known          bool // all are of types that are written here
}

var plainTypes sync.Map // of plainFields, by reflect.Type

// fieldsOf says once for each type how it is written.
func fieldsOf(t reflect.Type) plainFields {
	if f, ok := plainTypes.Load(t); ok {
		return f.(plainFields)
	}
	all := plainFields{known: true}
	var walk func(t reflect.Type, at []int)
	walk = func(t reflect.Type, at []int) {
		for i := range t.NumField() {
			f := t.Field(i)
			tag, named := f.Tag.Lookup("toml")
			name, options, _ := strings.Cut(tag, ",")
			index := append(slices.Clone(at), i)
			switch {
			case tag == "-":
				continue
			case f.Anonymous && !named && f.Type.Kind() == reflect.Struct:
				walk(f.Type, index)
				continue
			case !f.IsExported():
				continue
			case name == "" || !bareKey(name):
				all.known = false
			}
			p := plainField{name, index, options == "omitempty", options == "omitzero"}
			switch f.Type {
			case reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int64](), reflect.TypeFor[uint64](),
				reflect.TypeFor[time.Time](), reflect.TypeFor[[]string](), reflect.TypeFor[[]state.Stretch]():
				all.values = append(all.values, p)
			case reflect.TypeFor[map[string]string]():
				all.tables = append(all.tables, p)
			default:
				all.known = all.known && f.Type.Kind() == reflect.Struct && fieldsOf(f.Type).known
				all.tables = append(all.tables, p)
			}
		}
	}
	walk(t, nil)
	plainTypes.Store(t, all)
	return all
}

// plainWriter is a file as far as it is written.
type plainWriter struct {
	data []byte
	odd  bool // something needs the library
}

// table writes what is in a table.
func (w *plainWriter) table(path string, v reflect.Value) bool {
	fields := fieldsOf(v.Type())
	if !fields.known {
		return false
	}
	for _, f := range fields.values {
		w.value(f, v.FieldByIndex(f.index))
	}
	for _, f := range fields.tables {
		of := v.FieldByIndex(f.index)
		below := f.name
		if path != "" {
			below = path + "." + f.name
		}
		if of.Kind() == reflect.Map {
			w.variables(below, of.Interface().(map[string]string), f.omitEmpty)
			continue
		}
		if f.omitEmpty && plainEmpty(of) {
			continue
		}
		w.head(below)
		if !w.table(below, of) {
			return false
		}
	}
	return true
}

// head begins a table. A free line stands before those of the first level.
func (w *plainWriter) head(path string) {
	if len(w.data) > 0 && !strings.Contains(path, ".") {
		w.data = append(w.data, '\n')
	}
	w.data = append(append(append(w.data, '['), path...), "]\n"...)
}

// variables writes a table whose keys are the user's.
func (w *plainWriter) variables(path string, of map[string]string, omitEmpty bool) {
	if of == nil || omitEmpty && len(of) == 0 {
		return
	}
	w.head(path)
	names := make([]string, 0, len(of))
	for name := range of {
		w.odd = w.odd || !bareKey(name)
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w.data = append(append(w.data, name...), " = "...)
		w.text(of[name])
		w.data = append(w.data, '\n')
	}
}

// value writes a line.
func (w *plainWriter) value(f plainField, v reflect.Value) {
	before := len(w.data)
	w.data = append(append(w.data, f.name...), " = "...)
	is := true // it says something
	switch v.Kind() {
	case reflect.String:
		is = v.Len() > 0 || !f.omitEmpty
		w.text(v.String())
	case reflect.Bool:
		is = v.Bool() || !f.omitEmpty
		w.data = strconv.AppendBool(w.data, v.Bool())
	case reflect.Int, reflect.Int64:
		is = v.Int() != 0 || !f.omitZero
		w.data = strconv.AppendInt(w.data, v.Int(), 10)
	case reflect.Uint64:
		is = v.Uint() != 0 || !f.omitZero
		w.data = strconv.AppendUint(w.data, v.Uint(), 10)
	case reflect.Slice:
		is = !v.IsNil() && (v.Len() > 0 || !f.omitEmpty)
		list, texts := v.Interface().([]string)
		if !texts {
			for _, s := range v.Interface().([]state.Stretch) {
				text, _ := s.MarshalText()
				list = append(list, string(text))
			}
		}
		w.list(list)
	default:
		t := v.Interface().(time.Time)
		is = t != time.Time{} || !f.omitEmpty
		w.odd = w.odd || t.Location() != time.UTC // the library has zones of its own for dates without one
		w.data = t.AppendFormat(w.data, time.RFC3339Nano)
	}
	if !is {
		w.data = w.data[:before]
		return
	}
	w.data = append(w.data, '\n')
}

func (w *plainWriter) list(of []string) {
	w.data = append(w.data, '[')
	for i, s := range of {
		if i > 0 {
			w.data = append(w.data, ", "...)
		}
		w.text(s)
	}
	w.data = append(w.data, ']')
}

// text writes a string that needs no escape.
func (w *plainWriter) text(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			w.odd = true
			return
		}
	}
	w.data = append(append(append(w.data, '"'), s...), '"')
}

// bareKey reports whether a key is written without quotes.
func bareKey(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return name != ""
}

// plainEmpty reports whether the library takes a table for empty: a comparable one that is zero, or one whose fields are all empty. A number
// never is.
func plainEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	case reflect.Bool:
		return !v.Bool()
	case reflect.Struct:
		if v.Type().Comparable() {
			return v.IsZero()
		}
		for i := range v.NumField() {
			if !plainEmpty(v.Field(i)) {
				return false
			}
		}
		return true
	}
	return false
}
