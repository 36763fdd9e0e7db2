package client

import (
	"errors"
	"maps"
	"reflect"
)

// errCannotEdit is the error of an edit that would change something else, or not what it should.
// Nothing is changed then.
var errCannotEdit = errors.New("it is written in a way that cannot be edited here")

// verify checks that two trees differ only in the entry, and that the entry of the second has the
// fields, and the other keys that it had before. If fields is nil, the second must have no entry.
func verify(before, after map[string]any, table string, fields []field) error {
	old, now := removeEntry(before, table), removeEntry(after, table)
	entry, _ := now.(map[string]any)
	if !reflect.DeepEqual(before, after) || (fields == nil) != (now == nil) {
		return errCannotEdit
	}
	for _, f := range fields {
		if got, has := entry[f.key]; has && !reflect.DeepEqual(got, f.value) || !has && f.key != kindKey {
			return errCannotEdit
		}
	}
	if old, ok := old.(map[string]any); ok && fields != nil {
		ours := func(key string, _ any) bool {
			for _, f := range fields {
				if f.key == key {
					return true
				}
			}
			return false
		}
		maps.DeleteFunc(old, ours)
		maps.DeleteFunc(entry, ours)
		if !reflect.DeepEqual(old, entry) {
			return errCannotEdit
		}
	}
	return nil
}

// removeEntry removes the entry from a tree, and the table if nothing else is in it. It returns the
// entry, or nil.
func removeEntry(tree map[string]any, table string) any {
	servers, _ := tree[table].(map[string]any)
	entry := servers[server]
	delete(servers, server)
	if servers != nil && len(servers) == 0 {
		delete(tree, table)
	}
	return entry
}
