package files

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ouro-timer/ouro-timer/state"
)

// plainTask reads a task's file of the very form that encodeTask gives to almost all: on each line a key that is known and its
// value, strings without escapes, instants in UTC. It takes a tenth of the time that the library takes, which is most of
// the time of a list of thousands. It is no judge: false is its answer to everything else, right or wrong, and the library
// reads that. What it reads, the library reads as the same task.
func plainTask(data []byte) (t state.Task, ok bool) {
	text, whole := strings.CutSuffix(string(data), "\n"+endLine)
	if !whole || !utf8.ValidString(text) {
		return t, false
	}
	into := reflect.ValueOf(&t).Elem()
	tables := plainTables()
	table := tables[""]
	var seen plainSeen
	lines := 0
	for line := range strings.SplitSeq(text, "\n") {
		switch lines++; {
		case lines > plainLines:
			return t, false
		case line == "":
		case line[0] == '[':
			table, ok = tables[line]
			if !ok || !seen.first(table.bit) {
				return t, false
			}
			if table.free {
				t.Run.Env = map[string]string{}
			}
		default:
			name, value, ok := strings.Cut(line, " = ")
			if ok && table.free {
				ok = plainVariable(t.Run.Env, name, value)
			} else if ok {
				var key plainKey
				if key, ok = table.keys[name]; ok {
					ok = seen.first(key.bit) && plainValue(into.FieldByIndex(key.index).Addr().Interface(), value)
				}
			}
			if !ok {
				return t, false
			}
		}
	}
	return t, t.Format == state.Format && fitTask(&t) == nil
}

// plainLines and plainName are how many lines and how long a name of a variable are read here: far below taskBounds, so that those need not be
// looked at.
const (
	plainLines = 1_000
	plainName  = 500
)

// plainSeen is a set of tables and keys that were seen: TOML has everything once.
type plainSeen [2]uint64

// first puts a number into the set, and reports whether it was not there. Those that have no room in it never are.
func (s *plainSeen) first(n int) bool {
	if n >= 64*len(s) || s[n/64]&(1<<(n%64)) != 0 {
		return false
	}
	s[n/64] |= 1 << (n % 64)
	return true
}

// plainTable is a table of a task's file.
type plainTable struct {
	bit  int // its number in a plainSeen
	keys map[string]plainKey
	free bool // its keys are the user's
}

// plainKey is a key in a table.
type plainKey struct {
	bit   int   // its number in a plainSeen
	index []int // of its field
}

// plainTables are the tables by the line that begins them. They follow from the types, as the library's reading does.
var plainTables = sync.OnceValue(func() map[string]plainTable {
	tables := map[string]plainTable{}
	bits := 0
	bit := func() int { bits++; return bits - 1 }
	var walk func(path string, of reflect.Type, index []int)
	walk = func(path string, of reflect.Type, index []int) {
		table := plainTable{bit: bit(), keys: map[string]plainKey{}}
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
			at := append(append([]int{}, index...), i)
			below := strings.TrimPrefix(path+"."+name, ".")
			switch f.Type {
			case reflect.TypeFor[map[string]string]():
				tables["["+below+"]"] = plainTable{bit: bit(), free: true}
			case reflect.TypeFor[state.Timing](), reflect.TypeFor[state.Job](), reflect.TypeFor[state.Reminder](), reflect.TypeFor[state.Policy](),
				reflect.TypeFor[state.Wait]():
				walk(below, f.Type, at)
			default:
				if b := bit(); name != "" && name != "-" {
					table.keys[name] = plainKey{b, at}
				}
			}
		}
		if path != "" {
			path = "[" + path + "]"
		}
		tables[path] = table
	}
	walk("", reflect.TypeFor[state.Task](), nil)
	return tables
})

// plainVariable reads one of the user's keys.
func plainVariable(env map[string]string, name, value string) bool {
	if len(name) > plainName {
		return false
	}
	for _, c := range []byte(name) {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	text, rest, ok := plainString(value)
	if _, twice := env[name]; !ok || rest != "" || twice || name == "" {
		return false
	}
	env[name] = text
	return true
}

// plainValue reads a value into a field of its type.
func plainValue(field any, value string) bool {
	switch field := field.(type) {
	case *string:
		text, rest, ok := plainString(value)
		*field = text
		return ok && rest == ""
	case *bool:
		*field = value == "true"
		return *field || value == "false"
	case *int:
		n, ok := plainNumber(value)
		*field = int(n)
		return ok && int64(*field) == n
	case *int64:
		n, ok := plainNumber(value)
		*field = n
		return ok
	case *time.Time:
		if n := len(value); n < 20 || value[n-1] != 'Z' || n > 20 && value[19] != '.' {
			return false
		}
		t, err := time.Parse(time.RFC3339Nano, value)
		*field = t
		return err == nil
	case *[]string:
		rest, ok := strings.CutPrefix(value, "[")
		for ok {
			var text string
			if text, rest, ok = plainString(rest); !ok {
				break
			}
			*field = append(*field, text)
			if rest == "]" {
				return true
			}
			rest, ok = strings.CutPrefix(rest, ", ")
		}
	}
	return false
}

// plainString reads a string at the beginning of text, and returns what follows it.
func plainString(text string) (value, rest string, ok bool) {
	if text == "" || text[0] != '"' {
		return "", "", false
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return text[1:i], text[i+1:], true
		case c == '\\' || c < ' ' || c == 0x7f:
			return "", "", false
		}
	}
	return "", "", false
}

// plainNumber reads a number as strconv writes it.
func plainNumber(value string) (int64, bool) {
	n, err := strconv.ParseInt(value, 10, 64)
	return n, err == nil && value[0] != '+' && (value[0] != '0' || value == "0") && !strings.HasPrefix(value, "-0")
}
