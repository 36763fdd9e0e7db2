package state

import (
	"reflect"
	"testing"
)

// TestCloneSharesNothing fills every list and map of a task, also those that are not there yet, and
// changes them in a clone.
func TestCloneSharesNothing(t *testing.T) {
	var task Task
	lists := 0
	var walk func(v reflect.Value, do func(reflect.Value))
	walk = func(v reflect.Value, do func(reflect.Value)) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				if v.Type().Field(i).IsExported() {
					walk(v.Field(i), do)
				}
			}
		case reflect.Slice, reflect.Map, reflect.Pointer:
			do(v)
		}
	}
	walk(reflect.ValueOf(&task).Elem(), func(v reflect.Value) {
		lists++
		switch v.Kind() {
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
		default:
			t.Fatalf("a %s: Clone does not know of it", v.Type())
		}
	})
	clone := task.Clone()
	if lists == 0 || !reflect.DeepEqual(clone, task) {
		t.Fatalf("of %d lists: %+v is not %+v", lists, clone, task)
	}
	walk(reflect.ValueOf(&clone).Elem(), func(v reflect.Value) {
		if v.Kind() == reflect.Slice {
			v.Index(0).SetString("changed")
		} else {
			v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.ValueOf("changed"))
		}
	})
	walk(reflect.ValueOf(&task).Elem(), func(v reflect.Value) {
		at := v
		if v.Kind() == reflect.Slice {
			at = v.Index(0)
		} else {
			at = v.MapIndex(reflect.Zero(v.Type().Key()))
		}
		if at.String() != "" {
			t.Errorf("a %s is shared", v.Type())
		}
	})
}
