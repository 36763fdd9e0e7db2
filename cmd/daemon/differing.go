package daemon

import (
	"reflect"
	"slices"
	"strings"
)

// differing returns the keys of the settings that differ, as config.toml writes them, in order. A
// channel has its name as its key.
func differing(a, b any) (keys []string) {
	return differingIn("", reflect.ValueOf(a), reflect.ValueOf(b))
}

func differingIn(key string, a, b reflect.Value) (keys []string) {
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return nil
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			name, _, _ := strings.Cut(a.Type().Field(i).Tag.Get("toml"), ",")
			keys = append(keys, differingIn(key+"."+name, a.Field(i), b.Field(i))...)
		}
		return keys
	case reflect.Map:
		for _, m := range []reflect.Value{a, b} {
			for _, name := range m.MapKeys() {
				x, y := a.MapIndex(name), b.MapIndex(name)
				if one := key + "." + name.String(); !slices.Contains(keys, one) &&
					(!x.IsValid() || !y.IsValid() || !reflect.DeepEqual(x.Interface(), y.Interface())) {
					keys = append(keys, one)
				}
			}
		}
		for i := range keys {
			keys[i] = strings.TrimPrefix(keys[i], ".")
		}
		slices.Sort(keys)
		return keys
	}
	return []string{strings.TrimPrefix(key, ".")}
}
