package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/ouro-timer/ouro-timer/timer/problem"
)

// Answers leave out what is absent: each field that may be says so by omitempty or omitzero, as encoding/json knows them. This file has the
// two other forms: with every field (--json=full), and with those alone that are asked for (--fields).

// member is a field of an object.
type member struct {
	name  string
	value any
}

// object is a JSON object whose fields keep their order.
type object []member

// whole is a value as encoding/json makes it, with every field that its type has: an object, a list of []any, or what encodes itself.
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
	name  string
	index []int
	of    reflect.Type
}

// jsonFields are the fields of a struct with those of the structs in it: of two of one name the one that lies less deep.
func jsonFields(t reflect.Type) (list []jsonField) {
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" || !f.IsExported() {
			continue
		}
		next := jsonField{name, f.Index, f.Type}
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

// pick is what there is of the fields in a value: of a name with dots what lies within, of a list those of each of its elements. A name that
// an object does not have is looked for in the elements of its lists, so that "id" is that of each row.
func pick(v any, paths []string) any {
	switch v := v.(type) {
	case []any:
		var list []any
		for _, element := range v {
			list = append(list, pick(element, paths))
		}
		return OrEmpty(list)
	case object:
		var picked object
		var inner []string // of the rows
		for _, path := range paths {
			name, _, _ := strings.Cut(path, ".")
			if !slices.ContainsFunc(v, func(m member) bool { return m.name == name }) {
				inner = append(inner, path)
			}
		}
		for _, m := range v {
			var within []string
			all := false
			for _, path := range paths {
				name, rest, dotted := strings.Cut(path, ".")
				if name != m.name {
					continue
				}
				if all = all || !dotted; dotted {
					within = append(within, rest)
				}
			}
			if rows, is := m.value.([]any); is && len(rows) > 0 && isObject(rows[0]) && hasAny(rows[0].(object), inner) {
				within = append(within, inner...)
			}
			switch {
			case all:
				picked = append(picked, m)
			case within != nil:
				picked = append(picked, member{m.name, pick(m.value, within)})
			}
		}
		return picked
	}
	return v
}

func isObject(v any) bool { _, is := v.(object); return is }

// hasAny reports whether an object has one of the fields.
func hasAny(o object, paths []string) bool {
	return slices.ContainsFunc(o, func(m member) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return path == m.name || strings.HasPrefix(path, m.name+".") })
	})
}

// emitted is the answer as it is written: the fields that are asked for, every field, or those that are not absent. An answer that has none of
// the fields, as an error has, is written as if none had been asked for.
func (o *Out) emitted(v any) any {
	if o.fields == nil && !o.full {
		return v
	}
	all := whole(reflect.ValueOf(v))
	if o.fields == nil {
		return all
	}
	if picked := pick(all, o.fields); !isObject(picked) || len(picked.(object)) > 0 {
		return picked
	}
	return v
}

// readFields takes the fields of --fields, and refuses those that no answer of the command has.
func readFields(c *Command, text string) ([]string, error) {
	var paths, known []string
	for _, a := range c.Answers {
		known = append(known, pathsOf(reflect.TypeOf(a.Of), "")...)
	}
	for _, path := range strings.Split(text, ",") {
		path = strings.TrimSpace(path)
		if !slices.ContainsFunc(known, func(k string) bool { return k == path || strings.HasSuffix(k, "."+path) }) {
			hint := problem.T("%s has the schemas of its answers", problem.To("guide", c.Name).With("json", true))
			near := problem.Nearest(path, known)
			if i := slices.IndexFunc(known, func(k string) bool { return strings.HasPrefix(k[strings.LastIndexByte(k, '.')+1:], path) }); i >= 0 { // timeout: timeout_seconds
				near = known[i]
			}
			if near != "" {
				hint = problem.T("did you mean %s? %s", near, hint)
			}
			return nil, problem.Of(problem.T("no answer of %s has the field %s", c.Name, Quote(path)), hint)
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// pathsOf are the names of the fields of a type and of what lies in them.
func pathsOf(t reflect.Type, front string) (list []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil
	}
	for _, f := range jsonFields(t) {
		list = append(list, front+f.name)
		list = append(list, pathsOf(f.of, front+f.name+".")...)
	}
	return list
}
