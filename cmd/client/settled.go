package client

import (
	"errors"
	"maps"
	"reflect"
)

// errOther is the error of an edit that would change something else, or not what it should. Nothing
// is changed then.
var errOther = errors.New("it is written in a way that cannot be edited here")

// settled verifies that two trees differ only in the entry, and that the second has the entry with
// the fields and with what it had before. With nil the second has no entry.
func settled(was, is map[string]any, table string, fields []field) error {
	ours, there := take(was, table), take(is, table)
	entry, _ := there.(map[string]any)
	if !reflect.DeepEqual(was, is) || (fields == nil) != (there == nil) {
		return errOther
	}
	for _, f := range fields {
		if got, has := entry[f.key]; has && !reflect.DeepEqual(got, f.value) || !has && f.key != kind {
			return errOther
		}
	}
	if old, ok := ours.(map[string]any); ok && fields != nil {
		fixed := func(key string, _ any) bool {
			for _, f := range fields {
				if f.key == key {
					return true
				}
			}
			return false
		}
		maps.DeleteFunc(old, fixed)
		maps.DeleteFunc(entry, fixed)
		if !reflect.DeepEqual(old, entry) {
			return errOther
		}
	}
	return nil
}

// take removes the entry from a tree, and the table if nothing else is in it.
func take(tree map[string]any, table string) any {
	servers, _ := tree[table].(map[string]any)
	ours := servers[server]
	delete(servers, server)
	if servers != nil && len(servers) == 0 {
		delete(tree, table)
	}
	return ours
}
