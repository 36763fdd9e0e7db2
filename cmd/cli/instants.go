package cli

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state/plain"
)

// Instants in JSON are truncated to the millisecond and not rounded, so that no answer shows an
// instant before it has come. Texts from which a call continues (continue, a cursor, --start) and
// export keep instants in full. A nil list is written as [] and not as null: schemas promise one.

// Encode returns a value as a line of JSON, as answers are written.
func Encode(v any) []byte {
	text, _ := plain.JSON(written(v)) // every answer can be encoded
	return append(text, '\n')
}

// written returns a copy of a value with its instants truncated and its nil lists empty. It changes
// nothing that the value shares with others.
func written(v any) any {
	from := reflect.ValueOf(v)
	if !from.IsValid() || !changes(from.Type()) {
		return v
	}
	return copied(from).Interface()
}

var instant = reflect.TypeFor[time.Time]()

// copied copies a value of a type that changes. The copy of a nil list is an empty one.
func copied(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
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
		to.Elem().Set(copied(v.Elem()))
	case v.Kind() == reflect.Interface:
		if to.Set(v); changes(v.Elem().Type()) {
			to.Set(copied(v.Elem()))
		}
	case v.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			to.Index(i).Set(copied(v.Index(i)))
		}
	case v.Kind() == reflect.Struct:
		to.Set(v)
		copyFields(to)
	default:
		to.Set(v)
	}
	return to
}

// copyFields puts copies into the fields of a struct, and of those embedded in it whose types are
// not exported.
func copyFields(v reflect.Value) {
	for i := range v.NumField() {
		field, of := v.Field(i), v.Type().Field(i)
		switch {
		case !changes(field.Type()):
		case field.Kind() == reflect.Slice && field.IsNil() && strings.Contains(of.Tag.Get("json"), ",omit"):
		case field.CanSet():
			field.Set(copied(field))
		case of.Anonymous && field.Kind() == reflect.Struct:
			copyFields(field)
		}
	}
}

// changing caches the results of changes.
var changing sync.Map

// changes reports whether encoding/json writes instants or lists for values of a type.
func changes(t reflect.Type) bool {
	known, ok := changing.Load(t)
	if !ok {
		known = changesWithin(t, nil)
		changing.Store(t, known)
	}
	return known.(bool)
}

// changesWithin is changes for a type that is nested in others, which are already being examined.
func changesWithin(t reflect.Type, around []reflect.Type) bool {
	switch {
	case t == instant || t.Kind() == reflect.Interface:
		return true
	case t.Kind() == reflect.Pointer:
		return changesWithin(t.Elem(), around)
	case slices.Contains(around, t) || t.Implements(reflect.TypeFor[json.Marshaler]()):
		return false
	}
	around = append(around, t)
	switch t.Kind() {
	case reflect.Slice:
		return t.Elem().Kind() != reflect.Uint8 // bytes are a text
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && changesWithin(f.Type, around) {
				return true
			}
		}
	}
	return false
}
