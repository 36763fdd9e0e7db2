package codec

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// withoutEmpty is a text of the library without tables that say nothing, which it writes all the same: it takes no number for empty.
func withoutEmpty(text string) string {
	for _, head := range []string{"\n[policy]\n", "[task.policy]\n"} {
		before, after, found := strings.Cut(text, head)
		if found && (after == "" || after[0] == '\n' || after[0] == '[') {
			text = before + after
		}
	}
	return text
}

// TestPlainTextIsTheLibrarys writes values of every type that is written without the library, filled at random, both ways: what writePlain
// writes is the library's text to the byte, but for tables that say nothing, and what readPlain reads of it is what the library reads.
func TestPlainTextIsTheLibrarys(t *testing.T) {
	clocktest.Alone(t)
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
	for _, of := range []any{state.Task{}, openRecord{}, noted{}, state.Tally{}, state.Dropped{}} {
		kind := reflect.TypeOf(of)
		if !layoutOf(kind).known {
			t.Fatalf("%v has a field of a type that is not written here", kind)
		}
		read := 0
		for range 2000 {
			v := reflect.New(kind).Elem()
			fill(v)
			got, ok := writePlain(v.Interface())
			want, err := encodeAny(v.Interface())
			if !ok || err != nil || string(got) != withoutEmpty(string(want)) {
				t.Fatalf("%+v is written as\n%s\nand the library writes\n%s\n%v", v, got, want, err)
			}
			mine, theirs := reflect.New(kind), reflect.New(kind)
			if !readPlain(got, mine.Interface()) {
				continue // an instant that is not in UTC
			}
			read++
			if _, err := decodeTOML(string(got), recordBounds, theirs.Interface()); err != nil || !reflect.DeepEqual(mine.Interface(), theirs.Interface()) {
				t.Fatalf("%s\nis read as\n%+v\nand the library reads\n%+v\n%v", got, mine, theirs, err)
			}
		}
		if read < 500 {
			t.Errorf("%v was read %d times of 2,000", kind, read)
		}
	}
}

// TestPlainTextLeavesTheRest gives types to the library that are not ours.
func TestPlainTextLeavesTheRest(t *testing.T) {
	for _, v := range []any{map[string]any{"a": 1}, struct {
		A float64 `toml:"a"`
	}{1}, struct{ A string }{"no name"}, struct {
		A []int `toml:"a"`
	}{}} {
		if text, ok := writePlain(v); ok {
			t.Errorf("%#v was written: %s", v, text)
		}
	}
	if err := quick.Check(func(line string) bool {
		data, err := Encode(state.Tally{Output: line})
		if err != nil {
			return true
		}
		var back state.Tally
		err = Decode(data, &back)
		return err == nil && back.Output == line
	}, nil); err != nil {
		t.Error(err)
	}
}
