package option

import (
	"maps"
	"slices"
)

// Values are the options that a call has. The zero value has none. Values never change: adding
// makes new ones.
type Values struct {
	// by the first name; a string, int, bool or []string, depending on the kind
	said  map[string]any
	typed map[string]string // the name by which an option was given, if that is not its first
}

// Has reports whether an option was given, whatever its value.
func (v Values) Has(name string) bool { _, ok := v.said[name]; return ok }

// Value returns the value of an option in the type of its kind; nil when it was not given.
func (v Values) Value(name string) any { return v.said[name] }

// Text is the value of an option that takes a text; empty when it was not given.
func (v Values) Text(name string) string { text, _ := v.said[name].(string); return text }

// Int is the value of an option that takes a whole number; 0 when it was not given.
func (v Values) Int(name string) int { n, _ := v.said[name].(int); return n }

// Bool reports whether an option that takes no value was given, or one of its choices; false when
// it was not given.
func (v Values) Bool(name string) bool {
	switch said := v.said[name].(type) {
	case bool:
		return said
	case string:
		return true
	}
	return false
}

// List returns the values of an option that may be given more than once.
func (v Values) List(name string) []string { list, _ := v.said[name].([]string); return list }

// Typed returns the names by which options were given, if those are not their first.
func (v Values) Typed() map[string]string { return v.typed }

// Names returns the options that were given, in alphabetical order.
func (v Values) Names() []string { return slices.Sorted(maps.Keys(v.said)) }

// With returns the values with one more, which has the type of its kind.
func (v Values) With(name string, value any) Values {
	v.said = maps.Clone(v.said)
	if v.said == nil {
		v.said = map[string]any{}
	}
	v.said[name] = value
	return v
}

// Without returns the values without some.
func (v Values) Without(names ...string) Values {
	v.said = maps.Clone(v.said)
	for _, name := range names {
		delete(v.said, name)
	}
	return v
}

// Over returns the values, and the others' values of options that they do not have. Lists are
// joined.
func (v Values) Over(others Values) Values {
	if len(others.said) == 0 {
		return v
	}
	both := maps.Clone(others.said)
	for name, value := range v.said {
		if list, ok := value.([]string); ok {
			value = slices.Concat(others.List(name), list)
		}
		both[name] = value
	}
	v.said = both
	return v
}

// Size is how many bytes the texts have.
func (v Values) Size() (n int) {
	for _, value := range v.said {
		switch value := value.(type) {
		case string:
			n += len(value)
		case []string:
			for _, text := range value {
				n += len(text)
			}
		}
	}
	return n
}
