package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// An answer leaves out its absent fields by omitempty and omitzero of encoding/json. This file has
// the two other forms: with every field (--json=full), and with only the fields that the call names
// (--fields).

// member is a field of an object.
type member struct {
	name  string
	value any
}

// object is a JSON object whose fields keep their order.
type object []member

// withAllFields returns a value with every field that its type has: an object, a []any of such
// values, or a value that encodes itself.
func withAllFields(v reflect.Value) any {
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
			// An error means that an embedded struct is nil.
			if value, err := v.FieldByIndexErr(f.index); err != nil || f.optional && absent(value) {
				o = append(o, member{f.name, nil})
			} else {
				o = append(o, member{f.name, withAllFields(value)})
			}
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
			list[i] = withAllFields(v.Index(i))
		}
		return list
	}
	return v.Interface()
}

// absent reports whether an optional field has no value: its text is empty, its instant is zero, or
// its map has no keys.
func absent(v reflect.Value) bool {
	at, isInstant := v.Interface().(time.Time)
	return isInstant && at.IsZero() || (v.Kind() == reflect.String || v.Kind() == reflect.Map) && v.Len() == 0
}

// jsonField is a field of a struct as encoding/json names it.
type jsonField struct {
	name     string
	index    []int
	of       reflect.Type
	optional bool // omitzero or omitempty: left out when it is absent
	rare     bool // omitempty: a list that few answers have
}

// jsonFields returns the fields of a struct and of its embedded structs. Of two fields with the
// same name it takes the shallower one.
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

// The rule of --fields: a name that no answer to the call can have is refused, and the hint lists
// the names there are. A field that the answer could have but does not is absent, or null with
// --json=full. A list keeps all its rows.

// rowsIn returns the struct of the rows of a list. It is nil for any other type.
func rowsIn(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice {
		if rows := structIn(t.Elem()); rows != nil {
			return rows
		}
	}
	return nil
}

// structIn returns the struct behind a type: the type itself, what it points to, or the rows of a
// list. It is nil when encoding/json does not write a value of the type as objects.
func structIn(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil
	}
	return t
}

// fieldOf returns the field of a struct by its JSON name.
func fieldOf(t reflect.Type, name string) (jsonField, bool) {
	fields := jsonFields(t)
	if i := slices.IndexFunc(fields, func(f jsonField) bool { return f.name == name }); i >= 0 {
		return fields[i], true
	}
	return jsonField{}, false
}

// reaches reports whether a path leads to a field of a type. A dot leads to a field of a field. A
// name that the type itself lacks is looked for in the rows of its lists that are not rare, so that
// "id" is the ID of each row.
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

// pick returns the fields of a struct that the paths name.
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
		// An error means that an embedded struct is nil.
		value, err := v.FieldByIndexErr(field.index)
		var there any
		switch {
		case err != nil, value.Kind() == reflect.Slice && value.IsNil() && field.optional && !all:
		case all:
			there = f.namedField(value, field.optional)
		default:
			there = f.pickWithin(value, within)
		}
		if there != nil || f.full {
			picked = append(picked, member{field.name, there})
		}
	}
	return picked
}

// pickWithin returns the fields of a value that the paths name; nil when there is no value.
func (f Form) pickWithin(v reflect.Value, paths []string) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return f.pickWithin(v.Elem(), paths)
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = f.pickWithin(v.Index(i), paths)
		}
		return list
	case reflect.Struct:
		return f.pick(v, paths)
	}
	return nil
}

// namedField returns the value of a field that the call names. It is written as in any answer, or
// as false, 0 or an empty list where other answers leave it out. It is nil when there is no value.
func (f Form) namedField(v reflect.Value, optional bool) any {
	if optional && absent(v) {
		return nil
	}
	all := withAllFields(v)
	if f.full || all == nil {
		return all
	}
	if v.Kind() == reflect.Slice && v.IsNil() {
		return all
	}
	return v.Interface()
}

// inForm returns the answer as it is written: with the fields that the call names, with every
// field, or without absent ones. An answer with an error is written as if no fields had been named.
func (f Form) inForm(v any) any {
	if f.fields == nil && !f.full {
		return v
	}
	of := reflect.Indirect(reflect.ValueOf(v))
	if f.fields == nil || of.Kind() != reflect.Struct {
		return withAllFields(of)
	}
	if hasError(of) {
		return v
	}
	return f.pick(of, f.fields)
}

// hasError reports whether an answer has an error.
func hasError(v reflect.Value) bool {
	f, has := fieldOf(v.Type(), "error")
	if !has {
		return false
	}
	value, err := v.FieldByIndexErr(f.index)
	return err == nil && !value.IsZero()
}

// TakesField reports whether one of the answers, or an error, can have a field.
func TakesField(shapes []Shape, path string) bool {
	return reaches(reflect.TypeFor[FailedJSON](), path) ||
		slices.ContainsFunc(shapes, func(a Shape) bool { return reaches(reflect.TypeOf(a.Of), path) })
}

// readFields returns the paths of --fields. It refuses those that no answer to a call with these
// options can have.
func readFields(c *Command, given option.Values) ([]string, error) {
	shapes := slices.DeleteFunc(slices.Clone(c.Answers), func(a Shape) bool { return !a.fits(given) })
	var paths []string
	for _, path := range strings.Split(given.Text("fields"), ",") {
		path = strings.TrimSpace(path)
		if !TakesField(shapes, path) {
			return nil, noField(c, shapes, path)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// noField is the problem of a path that none of the shapes has. Its hint has a similar name, and
// the first of all names.
func noField(c *Command, shapes []Shape, path string) error {
	const most = 24
	names := FieldNames(shapes)
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
		near = "" // any short name would be similar to it
	}
	all := problem.To("guide", c.Name).With("json", true).With("fields", "fields")
	hint := problem.T("there are %s", strings.Join(names, ","))
	if len(names) > most {
		hint = problem.T("there are %s and %d more: %s", strings.Join(names[:most], ","), len(names)-most, all)
	}
	if near != "" {
		hint = problem.T("did you mean %s? %s", near, hint)
	}
	if TakesField(c.Answers, path) {
		return problem.Of(problem.T("with these options the answer of %s does not have the field %s", c.Name,
			Quote(path)), hint)
	}
	return problem.Of(problem.T("no answer of %s has the field %s", c.Name, Quote(path)), hint)
}

// FieldNames returns the names for --fields of answers, those of the first one first: the fields of
// each answer; with a dot, the fields of a field that has few; and without a dot, the fields of the
// rows of lists that are not rare. It leaves out the fields of errors, because errors are always
// written whole.
func FieldNames(shapes []Shape) (names []string) {
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
	for _, a := range shapes {
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
