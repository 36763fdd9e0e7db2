package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"sync"
	"time"
)

// Instants in JSON are truncated to the millisecond and not rounded, so that no answer shows an
// instant before it has come. Texts from which a call continues (continue, a cursor, --start) and
// export keep instants in full.

// Encode returns a value as a line of JSON, as answers are written.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(truncatedCopy(v)) // every answer can be encoded, and a buffer never fails
	return b.Bytes()
}

// truncatedCopy returns a copy of a value with its instants truncated. It changes nothing that the
// value shares with others.
func truncatedCopy(v any) any {
	from := reflect.ValueOf(v)
	if !from.IsValid() || !holdsInstants(from.Type()) {
		return v
	}
	return truncated(from).Interface()
}

var instant = reflect.TypeFor[time.Time]()

// truncated copies a value of a type that holds instants.
func truncated(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		if v.IsNil() {
			return v
		}
	}
	to := reflect.New(v.Type()).Elem()
	switch {
	case v.Type() == instant:
		to.Set(reflect.ValueOf(v.Interface().(time.Time).Truncate(time.Millisecond)))
	case v.Kind() == reflect.Pointer:
		to.Set(reflect.New(v.Type().Elem()))
		to.Elem().Set(truncated(v.Elem()))
	case v.Kind() == reflect.Interface:
		if to.Set(v); holdsInstants(v.Elem().Type()) {
			to.Set(truncated(v.Elem()))
		}
	case v.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			to.Index(i).Set(truncated(v.Index(i)))
		}
	case v.Kind() == reflect.Struct:
		to.Set(v)
		for i := range v.NumField() {
			if field := to.Field(i); field.CanSet() && holdsInstants(field.Type()) {
				field.Set(truncated(field))
			} else if v.Type().Field(i).Anonymous && field.Kind() == reflect.Struct && holdsInstants(field.Type()) {
				truncateEmbedded(field)
			}
		}
	default:
		to.Set(v)
	}
	return to
}

// truncateEmbedded truncates the instants of an embedded struct whose type is not exported.
func truncateEmbedded(v reflect.Value) {
	for i := range v.NumField() {
		if field := v.Field(i); field.CanSet() && holdsInstants(field.Type()) {
			field.Set(truncated(field))
		} else if v.Type().Field(i).Anonymous && field.Kind() == reflect.Struct && holdsInstants(field.Type()) {
			truncateEmbedded(field)
		}
	}
}

// holding caches the results of holdsInstants.
var holding sync.Map

// holdsInstants reports whether encoding/json writes instants for values of a type.
func holdsInstants(t reflect.Type) bool {
	known, ok := holding.Load(t)
	if !ok {
		known = holdsInstantsWithin(t, nil)
		holding.Store(t, known)
	}
	return known.(bool)
}

// holdsInstantsWithin is holdsInstants for a type that is nested in others, which are already being
// examined.
func holdsInstantsWithin(t reflect.Type, around []reflect.Type) bool {
	switch {
	case t == instant || t.Kind() == reflect.Interface:
		return true
	case t.Kind() == reflect.Pointer:
		return holdsInstantsWithin(t.Elem(), around)
	case slices.Contains(around, t) || t.Implements(reflect.TypeFor[json.Marshaler]()):
		return false
	}
	around = append(around, t)
	switch t.Kind() {
	case reflect.Slice:
		return holdsInstantsWithin(t.Elem(), around)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && holdsInstantsWithin(f.Type, around) {
				return true
			}
		}
	}
	return false
}
