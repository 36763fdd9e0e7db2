package files

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/quick"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestPlainTextIsTheLibrarys writes values of every type that is encoded, filled at random, both ways: what plainText writes is the library's
// text to the byte, and it writes all that needs no escape.
func TestPlainTextIsTheLibrarys(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 11))
	odd := []string{"", "", "plain", "Zażółć gęślą jaźń", "a = b # c", "[task.policy]", "üñ\u2028x", "two\nlines", `a "quoted" word`, `back\slash`, "tab\t", "\x7f", "\x01", "'"}
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		if random.IntN(3) == 0 {
			return
		}
		switch v.Kind() {
		case reflect.String:
			v.SetString(odd[random.IntN(len(odd))])
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int, reflect.Int64:
			v.SetInt(int64(random.IntN(2000) - 1000))
		case reflect.Uint64:
			v.SetUint(random.Uint64N(1 << 62))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), random.IntN(3), 3))
			for i := range v.Len() {
				fill(v.Index(i))
			}
		case reflect.Map:
			m := map[string]string{}
			for _, key := range []string{"HOME", "a-b", "with space", "", "quo\"te", "Z9"}[:random.IntN(7)] {
				m[key] = odd[random.IntN(len(odd))]
			}
			v.Set(reflect.ValueOf(m))
		case reflect.Struct:
			if v.Type() == reflect.TypeFor[time.Time]() {
				at := time.Unix(random.Int64N(4e9), random.Int64N(2)*random.Int64N(1e9))
				if random.IntN(8) > 0 {
					at = at.UTC()
				}
				v.Set(reflect.ValueOf(at))
				return
			}
			for i := range v.NumField() {
				if v.Field(i).CanSet() {
					fill(v.Field(i))
				}
			}
		}
	}
	for _, of := range []any{state.Task{}, openRecord{}, state.Tally{}, state.Dropped{}} {
		kind := reflect.TypeOf(of)
		if !fieldsOf(kind).known {
			t.Fatalf("%v has a field of a type that is not written here", kind)
		}
		mine := 0
		for range 2000 {
			v := reflect.New(kind).Elem()
			fill(v)
			got, ok := plainText(v.Interface())
			if !ok {
				continue
			}
			mine++
			want, err := encodeAny(v.Interface())
			if err != nil || string(got) != string(want) {
				t.Fatalf("%+v is written as\n%s\nand the library writes\n%s\n%v", v, got, want, err)
			}
		}
		if mine < 20 {
			t.Errorf("%v was written %d times of 2,000", kind, mine)
		}
	}
}

// TestPlainTextLeavesTheRest gives types and texts to the library that are not ours.
func TestPlainTextLeavesTheRest(t *testing.T) {
	for _, v := range []any{map[string]any{"a": 1}, struct {
		A float64 `toml:"a"`
	}{1}, struct{ A string }{"no name"}, struct {
		A []int `toml:"a"`
	}{}, state.Tally{Output: "a\nb"}, state.Tally{Output: `"`}} {
		if text, ok := plainText(v); ok {
			t.Errorf("%#v was written: %s", v, text)
		}
	}
	if err := quick.Check(func(line string) bool {
		data, err := encode(state.Tally{Output: line})
		if err != nil {
			return true
		}
		var back state.Tally
		_, err = decode(data, &back)
		return err == nil && back.Output == line
	}, nil); err != nil {
		t.Error(err)
	}
}

func BenchmarkEncodeRecord(b *testing.B) {
	r := state.Record{Task: state.Task{Format: 1, ID: "k7m2", Revision: 3, Created: time.Now().UTC(), When: state.Timing{Text: "10:00", Kind: "once", Zone: "UTC", Start: time.Now().UTC()},
		Run: state.Job{Shell: "true", Prog: "/bin/sh", Dir: "/tmp", Umask: 18, Env: map[string]string{"HOME": "/root", "PATH": "/bin", "LANG": "C"}}}, Due: time.Now().UTC(), Claimed: time.Now().UTC()}
	v := openRecord{state.Format, r}
	b.Run("ours", func(b *testing.B) {
		for range b.N {
			if _, ok := plainText(v); !ok {
				b.Fatal("it needs the library")
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		for range b.N {
			if _, err := encodeAny(v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
