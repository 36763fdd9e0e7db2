package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"sync"
	"time"
)

// Instants in JSON are cut to the millisecond, and not rounded, so that an instant has passed when
// it is told. Texts that go on from an instant (continue, a cursor, --start) and export keep it in
// full.

// Encode writes a value on a line of JSON, as answers do.
func Encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(told(v)) // what we answer with can be encoded, and a buffer takes everything
	return b.Bytes()
}

// told returns a copy of a value with its instants cut. What the value shares with others is not
// changed.
func told(v any) any {
	from := reflect.ValueOf(v)
	if !from.IsValid() || !tells(from.Type()) {
		return v
	}
	return cutOf(from).Interface()
}

var instant = reflect.TypeFor[time.Time]()

// cutOf copies a value of a type that has instants.
func cutOf(v reflect.Value) reflect.Value {
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
		to.Elem().Set(cutOf(v.Elem()))
	case v.Kind() == reflect.Interface:
		if to.Set(v); tells(v.Elem().Type()) {
			to.Set(cutOf(v.Elem()))
		}
	case v.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			to.Index(i).Set(cutOf(v.Index(i)))
		}
	case v.Kind() == reflect.Struct:
		to.Set(v)
		for i := range v.NumField() {
			if field := to.Field(i); field.CanSet() && tells(field.Type()) {
				field.Set(cutOf(field))
			} else if v.Type().Field(i).Anonymous && field.Kind() == reflect.Struct && tells(field.Type()) {
				cutInside(field)
			}
		}
	default:
		to.Set(v)
	}
	return to
}

// cutInside cuts the instants of an embedded struct that is not exported itself.
func cutInside(v reflect.Value) {
	for i := range v.NumField() {
		if field := v.Field(i); field.CanSet() && tells(field.Type()) {
			field.Set(cutOf(field))
		} else if v.Type().Field(i).Anonymous && field.Kind() == reflect.Struct && tells(field.Type()) {
			cutInside(field)
		}
	}
}

// telling keeps the results of tells.
var telling sync.Map

// tells reports whether encoding/json writes instants of values of a type.
func tells(t reflect.Type) bool {
	known, ok := telling.Load(t)
	if !ok {
		known = tellsWithin(t, nil)
		telling.Store(t, known)
	}
	return known.(bool)
}

// tellsWithin is tells of a type within the types around it, which are already examined.
func tellsWithin(t reflect.Type, around []reflect.Type) bool {
	switch {
	case t == instant || t.Kind() == reflect.Interface:
		return true
	case t.Kind() == reflect.Pointer:
		return tellsWithin(t.Elem(), around)
	case slices.Contains(around, t) || t.Implements(reflect.TypeFor[json.Marshaler]()):
		return false
	}
	around = append(around, t)
	switch t.Kind() {
	case reflect.Slice:
		return tellsWithin(t.Elem(), around)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && tellsWithin(f.Type, around) {
				return true
			}
		}
	}
	return false
}
