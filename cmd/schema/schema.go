// Package schema makes JSON Schemas (2020-12) of the Go types of answers. A schema is made only
// when a call asks for it, which takes a fraction of a millisecond.
package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema" // types to schemas
)

// Draft is the dialect of the schemas.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Absent is implemented by lists that are null when they are empty. All other lists are never null.
type Absent interface{ Absent() }

// Enum is implemented by text types with a closed list of values.
type Enum interface{ Values() []string }

// Of returns the schema of the JSON that encoding/json writes for values of v's type. A field
// without omitempty or omitzero is required. A pointer may be null, and so may optional texts,
// instants and maps. An instant is a date-time.
// Unnamed fields are allowed, because later versions add fields to answers. A field's tag
// jsonschema is its description, and its tag enum has the closed list of its values, separated by
// spaces.
func Of(v any) (*jsonschema.Schema, error) {
	t := reflect.TypeOf(v)
	if t == nil {
		return nil, fmt.Errorf("no type to make a schema of")
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():       {Type: "string", Format: "date-time"},
		reflect.TypeFor[json.RawMessage](): {},
	}})
	if err != nil {
		return nil, err
	}
	complete(t, s)
	return s, nil
}

// Page returns the schema as a document of its own, indented, with a title.
func Page(title, description string, v any) ([]byte, error) {
	s, err := Of(v)
	if err != nil {
		return nil, err
	}
	s.Schema, s.Title, s.Description = Draft, title, description
	b, err := json.MarshalIndent(s, "", "  ")
	return append(b, '\n'), err
}

// nullable reports whether optional fields of the type are null with --json=full: texts, instants
// and maps, but for texts that say themselves which value answers leave out.
func nullable(t reflect.Type) bool {
	_, says := reflect.Zero(t).Interface().(interface{ IsZero() bool })
	return t == reflect.TypeFor[time.Time]() || (t.Kind() == reflect.String || t.Kind() == reflect.Map) && !says
}

// complete adds to the schema of a type what the library does not know about answers.
func complete(t reflect.Type, s *jsonschema.Schema) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		if l, ok := reflect.Zero(t).Interface().(Enum); ok {
			for _, value := range l.Values() {
				s.Enum = append(s.Enum, value)
			}
		}
	case reflect.Slice:
		if !t.Implements(reflect.TypeFor[Absent]()) && s.Items != nil {
			s.Type, s.Types = "array", nil
		}
		if s.Items != nil {
			complete(t.Elem(), s.Items)
		}
	case reflect.Map:
		if s.AdditionalProperties != nil {
			complete(t.Elem(), s.AdditionalProperties)
		}
	case reflect.Struct:
		if s.Properties == nil {
			return
		}
		s.AdditionalProperties = nil // the library forbids unnamed fields
		for _, f := range reflect.VisibleFields(t) {
			name, rules, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := s.Properties[name]
			if p == nil || f.Anonymous {
				continue
			}
			complete(f.Type, p)
			if strings.HasPrefix(rules, "omit") && p.Type != "" && nullable(f.Type) {
				p.Type, p.Types = "", []string{"null", p.Type}
			}
			for _, value := range strings.Fields(f.Tag.Get("enum")) {
				p.Enum = append(p.Enum, value)
			}
			if p.Enum != nil && slices.Contains(p.Types, "null") {
				p.Enum = append(p.Enum, nil)
			}
		}
	}
}
