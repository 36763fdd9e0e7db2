package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/cmd/option"
	"github.com/ouro-timer/ouro-timer/cmd/schema"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// lackNothing makes a value one in which nothing is absent.
func lackNothing(v reflect.Value) {
	t := v.Type()
	switch {
	case t == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(clitest.Noon))
		return
	case t == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte("{}"))
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		lackNothing(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 2, 2))
		lackNothing(v.Index(0))
		lackNothing(v.Index(1))
	case reflect.Map:
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		lackNothing(key)
		lackNothing(value)
		v.Set(reflect.MakeMap(t))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.Anonymous || f.IsExported() && f.Tag.Get("json") != "" {
				lackNothing(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString("<x>")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		if t.NumMethod() == 0 {
			v.Set(reflect.ValueOf("x"))
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	}
}

// lackOptional takes away from a value that lacks nothing what answers may leave out, and gives fields with a closed list of values the first of
// them.
func lackOptional(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		lackOptional(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			lackOptional(v.Index(i))
		}
	case reflect.String:
		if l, ok := reflect.Zero(v.Type()).Interface().(schema.Enum); ok {
			v.SetString(l.Values()[0])
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.Anonymous && (!f.IsExported() || f.Tag.Get("json") == "") {
				continue
			}
			_, says := reflect.Zero(f.Type).Interface().(interface{ IsZero() bool })
			if strings.Contains(f.Tag.Get("json"), ",omit") && (!says || f.Type == reflect.TypeFor[time.Time]()) {
				v.Field(i).SetZero()
			} else if enum := strings.Fields(f.Tag.Get("enum")); len(enum) > 0 {
				reflect.Indirect(v.Field(i)).SetString(enum[0])
			} else {
				lackOptional(v.Field(i))
			}
		}
	}
}

// TestWholeAnswers: with --json=full each answer is written as encoding/json does, with every field of its schema, in the same order, be it absent
// or not.
func TestWholeAnswers(t *testing.T) {
	write := func(v any, form string) []byte {
		w, out, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
		c := cli.Command{Name: "answer", Options: option.Rows{cli.JSONFlag, cli.FieldsFlag}, Run: func(_ context.Context, s *cli.Call) error { s.Emit(v); return nil }}
		s := cli.NewCall(w)
		if code := cli.Conclude(s, clitest.Perform(t.Context(), s, c, form)); code != cli.ExitOK {
			t.Fatalf("exit %d: %s", code, out)
		}
		return out.Bytes()
	}
	seen := 0
	for _, c := range table.All() {
		for _, a := range c.Answers {
			seen++
			of := reflect.TypeOf(a.Of)
			v := reflect.New(of).Elem()
			lackNothing(v)
			if lean, full := write(v.Interface(), "--json"), write(v.Interface(), "--json=full"); !bytes.Equal(lean, full) {
				t.Errorf("%s: what lacks nothing is\n%s with every field, and else\n%s", a.Name, full, lean)
			}
			empty := reflect.Zero(of).Interface()
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(write(empty, "--json=full"), &fields); err != nil {
				t.Fatalf("%s: %v", a.Name, err)
			}
			s, err := schema.Of(a.Of)
			if err != nil {
				t.Fatal(err)
			}
			lackOptional(v)
			if err := holdsTo(string(write(v.Interface(), "--json=full")), []string{a.Name}, true); err != nil {
				t.Errorf("%s: what lacks all that it may lack does not fit its schema with every field: %v", a.Name, err)
			}
			for name := range s.Properties {
				if _, there := fields[name]; !there {
					t.Errorf("%s: with every field there is no %s", a.Name, name)
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("only %d answers", seen)
	}
}
