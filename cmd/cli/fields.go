package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Answers leave out what is absent: each field that may be says so by omitempty or omitzero, as
// encoding/json knows them. This file has the two other forms: with every field (--json=full), and
// with those alone that are asked for (--fields).

// member is a field of an object.
type member struct {
	name  string
	value any
}

// object is a JSON object whose fields keep their order.
type object []member

// whole is a value as encoding/json makes it, with every field that its type has: an object, a list
// of []any, or what encodes itself.
func whole(v reflect.Value) any {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Pointer || !v.IsValid() {
		return nil
	}
	if _, itself := v.Interface().(json.Marshaler); itself {
		return v.Interface()
	}
	switch v.Kind() {
	case reflect.Struct:
		var o object
		for _, f := range jsonFields(v.Type()) {
			value, err := v.FieldByIndexErr(f.index)
			if err != nil { // of an embedded struct that is not there
				o = append(o, member{f.name, nil})
				continue
			}
			o = append(o, member{f.name, whole(value)})
		}
		return o
	case reflect.Slice:
		if _, absent := v.Interface().(interface{ Absent() }); absent && v.IsNil() {
			return nil
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Interface()
		}
		list := make([]any, v.Len())
		for i := range list {
			list[i] = whole(v.Index(i))
		}
		return list
	}
	return v.Interface()
}

// jsonField is a field of a struct as encoding/json names it.
type jsonField struct {
	name     string
	index    []int
	of       reflect.Type
	optional bool // answers leave it out where it is absent
	rare     bool // most answers leave it out
}

// jsonFields are the fields of a struct with those of the structs in it: of two of one name the one
// that lies less deep.
func jsonFields(t reflect.Type) (list []jsonField) {
	for _, f := range reflect.VisibleFields(t) {
		name, rules, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" || !f.IsExported() {
			continue
		}
		next := jsonField{name, f.Index, f.Type, strings.Contains(rules, "omit"), strings.Contains(rules, "omitempty")}
		at := slices.IndexFunc(list, func(have jsonField) bool { return have.name == name })
		switch {
		case at < 0:
			list = append(list, next)
		case len(f.Index) < len(list[at].index):
			list = append(slices.Delete(list, at, at+1), next)
		}
	}
	slices.SortFunc(list, func(a, b jsonField) int { return slices.Compare(a.index, b.index) })
	return list
}

// MarshalJSON writes the fields in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, m := range o {
		if b.WriteByte(','); i == 0 {
			b.Reset()
			b.WriteByte('{')
		}
		if err := e.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(m.value); err != nil {
			return nil, err
		}
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// The rule of --fields: a name that no answer of the command can have is refused, with the names
// there are. One that this answer happens not to have is absent, or null with --json=full. A list
// has all its rows.

// rowsIn are the structs that the rows of a field are, or nil.
func rowsIn(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice {
		if rows := structIn(t.Elem()); rows != nil {
			return rows
		}
	}
	return nil
}

// structIn is the struct that a value of a type is in JSON: itself, what it points to, or the rows
// that it lists. It is nil for all that encoding/json writes as something else.
func structIn(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil
	}
	return t
}

// fieldOf is the field of a struct with a name.
func fieldOf(t reflect.Type, name string) (jsonField, bool) {
	fields := jsonFields(t)
	if i := slices.IndexFunc(fields, func(f jsonField) bool { return f.name == name }); i >= 0 {
		return fields[i], true
	}
	return jsonField{}, false
}

// reaches reports whether a path leads to a field of a type: a name with dots to what lies within,
// and a name that the type itself does not have to that of the rows of its lists that are not rare,
// so that "id" is that of each row.
func reaches(t reflect.Type, path string) bool {
	if t = structIn(t); t == nil {
		return false
	}
	name, rest, dotted := strings.Cut(path, ".")
	if f, has := fieldOf(t, name); has {
		return !dotted || reaches(f.of, rest)
	}
	return slices.ContainsFunc(jsonFields(t), func(f jsonField) bool { return ofRows(f, path) })
}

// ofRows reports whether a path leads to a field of the rows of a list that is not rare.
func ofRows(list jsonField, path string) bool {
	rows := rowsIn(list.of)
	if rows == nil || list.rare {
		return false
	}
	name, rest, dotted := strings.Cut(path, ".")
	f, has := fieldOf(rows, name)
	return has && (!dotted || reaches(f.of, rest))
}

// pick is what there is of the fields in a struct.
func (f Form) pick(v reflect.Value, paths []string) object {
	picked := object{}
	for _, field := range jsonFields(v.Type()) {
		all := false
		var within []string
		for _, path := range paths {
			name, rest, dotted := strings.Cut(path, ".")
			switch _, own := fieldOf(v.Type(), name); {
			case name == field.name && !dotted:
				all = true
			case name == field.name:
				within = append(within, rest)
			case !own && ofRows(field, path):
				within = append(within, path)
			}
		}
		if !all && within == nil {
			continue
		}
		// An error: of an embedded struct that is not there.
		value, err := v.FieldByIndexErr(field.index)
		var there any
		switch {
		case err != nil, value.Kind() == reflect.Slice && value.IsNil() && field.optional && !all:
		case all:
			there = f.asked(value, field.optional)
		default:
			there = f.within(value, within)
		}
		if there != nil || f.full {
			picked = append(picked, member{field.name, there})
		}
	}
	return picked
}

// within is what there is of the fields in a value, or nil if there is no value.
func (f Form) within(v reflect.Value, paths []string) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return f.within(v.Elem(), paths)
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = f.within(v.Index(i), paths)
		}
		return list
	case reflect.Struct:
		return f.pick(v, paths)
	}
	return nil
}

// asked is the value of a field that was asked for by its name. It stands there as in any answer,
// or is false, 0 or an empty list where others leave it out. It is nil if there is no value.
func (f Form) asked(v reflect.Value, optional bool) any {
	all := whole(v)
	if f.full || all == nil {
		return all
	}
	at, isInstant := v.Interface().(time.Time)
	if optional && (isInstant && at.IsZero() || v.Kind() == reflect.String && v.Len() == 0) {
		return nil
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		return all
	}
	return v.Interface()
}

// emitted is the answer as it is written: the fields that are asked for, every field, or those that
// are not absent. What tells of an error is written as if none had been asked for.
func (f Form) emitted(v any) any {
	if f.fields == nil && !f.full {
		return v
	}
	of := reflect.Indirect(reflect.ValueOf(v))
	if f.fields == nil || of.Kind() != reflect.Struct {
		return whole(of)
	}
	if failed(of) {
		return v
	}
	return f.pick(of, f.fields)
}

// failed reports whether an answer tells of an error.
func failed(v reflect.Value) bool {
	f, has := fieldOf(v.Type(), "error")
	if !has {
		return false
	}
	value, err := v.FieldByIndexErr(f.index)
	return err == nil && !value.IsZero()
}

// TakesField reports whether an answer of the command can have a field, be it that it tells of an
// error.
func TakesField(c *Command, path string) bool {
	return reaches(reflect.TypeFor[FailedJSON](), path) ||
		slices.ContainsFunc(c.Answers, func(a Shape) bool { return reaches(reflect.TypeOf(a.Of), path) })
}

// readFields takes the fields of --fields, and refuses those that no answer of the command can
// have.
func readFields(c *Command, text string) ([]string, error) {
	var paths []string
	for _, path := range strings.Split(text, ",") {
		path = strings.TrimSpace(path)
		if !TakesField(c, path) {
			return nil, noField(c, path)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// noField says which names there are: those that come near, and the first of all.
func noField(c *Command, path string) error {
	const most = 24
	names := FieldNames(c)
	near, last := problem.Nearest(path, names), path[strings.LastIndexByte(path, '.')+1:]
	for _, like := range []func(name string) bool{
		// exit_code: command.exit_code
		func(name string) bool { return strings.HasSuffix(name, "."+last) },
		// log.status: status
		func(name string) bool { return name == last },
		// timeout: timeout_seconds
		func(name string) bool { return strings.HasPrefix(name[strings.LastIndexByte(name, '.')+1:], path) },
	} {
		if i := slices.IndexFunc(names, like); near == "" && i >= 0 {
			near = names[i]
		}
	}
	if path == "" {
		near = "" // whatever is short comes near
	}
	all := problem.To("guide", c.Name).With("json", true).With("fields", "fields")
	hint := problem.T("there are %s", strings.Join(names, ","))
	if len(names) > most {
		hint = problem.T("there are %s and %d more: %s", strings.Join(names[:most], ","), len(names)-most, all)
	}
	if near != "" {
		hint = problem.T("did you mean %s? %s", near, hint)
	}
	return problem.Of(problem.T("no answer of %s has the field %s", c.Name, Quote(path)), hint)
}

// FieldNames are names that --fields of a command takes, those of its first answer first: of each
// answer its fields, with a dot what lies in one that has few, and as they are those of the rows of
// its lists that are not rare. What tells of errors is left out: errors are whole anyway.
func FieldNames(c *Command) (names []string) {
	const few = 12
	add := func(t reflect.Type) {
		for _, f := range jsonFields(t) {
			inner := []string{f.name}
			if in := structIn(f.of); in != nil && rowsIn(f.of) == nil && f.name != "error" &&
				len(jsonFields(in)) <= few {
				for _, g := range jsonFields(in) {
					inner = append(inner, f.name+"."+g.name)
				}
			}
			for _, name := range inner {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	for _, a := range c.Answers {
		of := structIn(reflect.TypeOf(a.Of))
		add(of)
		for _, f := range jsonFields(of) {
			if rows := rowsIn(f.of); rows != nil && !f.rare {
				add(rows)
			}
		}
	}
	return names
}
