package option

import (
	"maps"
	"slices"
)

// Values are the options that a call has. The zero value has none. Values never change: With,
// Without and Over return new ones.
type Values struct {
	// given has the values by the first name of the option: a string, int, bool or []string,
	// depending on its kind.
	given map[string]any
	typed map[string]string // the name by which an option was given, if that is not its first
	empty []string          // see Empty
}

// Has reports whether an option was given, whatever its value.
func (v Values) Has(name string) bool { _, ok := v.given[name]; return ok }

// Value returns the value of an option in the type of its kind; nil when it was not given.
func (v Values) Value(name string) any { return v.given[name] }

// Text is the value of an option that takes a text; empty when it was not given.
func (v Values) Text(name string) string { text, _ := v.given[name].(string); return text }

// Int is the value of an option that takes a whole number; 0 when it was not given.
func (v Values) Int(name string) int { n, _ := v.given[name].(int); return n }

// Bool reports whether an option that takes no value was given. One of its choices counts as given,
// and false does not.
func (v Values) Bool(name string) bool {
	switch value := v.given[name].(type) {
	case bool:
		return value
	case string:
		return true
	}
	return false
}

// Empty returns the options that an object has with an empty text, list or object, in its order.
// They are read as not given; a null and the words that stand for one are not among them.
func (v Values) Empty() []string { return v.empty }

// List returns the values of an option that may be given more than once.
func (v Values) List(name string) []string { list, _ := v.given[name].([]string); return list }

// Typed returns the names by which options were given, if those are not their first.
func (v Values) Typed() map[string]string { return v.typed }

// Names returns the options that were given, in alphabetical order.
func (v Values) Names() []string { return slices.Sorted(maps.Keys(v.given)) }

// With returns the values with one more, which has the type of its kind.
func (v Values) With(name string, value any) Values {
	v.given = maps.Clone(v.given)
	if v.given == nil {
		v.given = map[string]any{}
	}
	v.given[name] = value
	return v
}

// Without returns the values without some.
func (v Values) Without(names ...string) Values {
	v.given = maps.Clone(v.given)
	for _, name := range names {
		delete(v.given, name)
	}
	return v
}

// Over returns the values, with those of others for the options that they lack. Lists are joined.
func (v Values) Over(others Values) Values {
	if len(others.given) == 0 {
		return v
	}
	both := maps.Clone(others.given)
	for name, value := range v.given {
		if list, ok := value.([]string); ok {
			value = slices.Concat(others.List(name), list)
		}
		both[name] = value
	}
	v.given = both
	return v
}

// Size is how many bytes the texts among the values have.
func (v Values) Size() (n int) {
	for _, value := range v.given {
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
