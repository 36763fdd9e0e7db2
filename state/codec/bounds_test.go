package codec

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// Heavy are small files that took any amount of time and memory, by what makes them so.
func Heavy(n int) map[string]string {
	parts := func(n int) string { return strings.Repeat("a.", n-1) + "a" }
	return map[string]string{
		"a table's name":             "[" + parts(n) + "]\n",
		"a list of tables' name":     "[[" + parts(n) + "]]\n",
		"a dotted key":               parts(n) + " = 1\n",
		"dotted keys of a table":     "[" + parts(8) + "]\n" + parts(n) + " = 1\n",
		"quoted parts":               "[" + strings.TrimSuffix(strings.Repeat(`"a]" . 'b"' . `, n/2), " . ") + "]\n",
		"lists in lists":             "a = " + strings.Repeat("[", n) + strings.Repeat("]", n) + "\n",
		"lists in lists, not closed": "a = " + strings.Repeat("[\n#]\n", n) + "\n",
		"tables in tables":           "a = " + strings.Repeat("{a=", n) + "1" + strings.Repeat("}", n) + "\n",
		"tables in lists":            "a = " + strings.Repeat("[{a=", n) + "1" + strings.Repeat("}]", n) + "\n",
		"very many keys":             strings.Repeat("[a]\n", 1) + manyKeys(5*n),
		"very many tables":           strings.Repeat("[[a]]\n", 10*n),
		"very many lists":            "a = [" + strings.Repeat("[],", 20*n) + "]\n",
		"a long name for many":       "[" + strings.Repeat("a", 10*n) + "]\n" + manyKeys(n),
		"behind a long text":         "a = '''\n[b\n'''\n[" + parts(n) + "]\n",
		"behind quotes":              "a = \"\"\"\"\"\"\n[" + parts(n) + "]\n",
		"behind five quotes":         "a = \"\"\"b\"\"\"\"\"\n[" + parts(n) + "]\n",
		"behind an escape":           "a = \"\"\"\\\\\"\"\"\n[" + parts(n) + "]\n",
		"behind a mark":              "\ufeff[" + parts(n) + "]\n",
		"behind returns":             "a = 1\r\n# b\r\n[" + parts(n) + "]\r\n",
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	return b.String()
}

// Allocated is how much memory f asks for, all in all.
func Allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestTOMLThatIsNotHeavy reads what looks heavy and is not: brackets, dots and quotes in texts and comments.
func TestTOMLThatIsNotHeavy(t *testing.T) {
	script := strings.Repeat("[a.b.c] {x=1} 'it' \"is\" a.b = [[[[ # no\n", 5_000)
	task := state.Task{Format: 1, ID: "b42p", Revision: 1, Created: day2, When: state.Timing{Text: "1m", Kind: "once", Zone: "UTC", Start: day2},
		Run: state.Job{Script: script, Shell: "'''" + `"""\` + script, Argv: []string{script, `\`, `"`, "'''", `"""`}, Prog: "/bin/sh", Env: map[string]string{}}}
	for i := range 2_000 {
		task.Run.Env[fmt.Sprintf("V%d", i)] = "[[[a.b]]]\n"
	}
	task.Run.Env["a.b c\n\"'"] = "1"
	data, _, err := EncodeTask(task, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := DecodeTask(data); err != nil || got.Run.Script != script || len(got.Run.Env) != len(task.Run.Env) {
		t.Error(err)
	}
	for name, text := range map[string]string{
		"long texts":         "a = '''\n" + script + "'''\n",
		"escapes":            `a = """` + strings.Repeat(`\"""[[[`, 10_000) + "\\\\\"\"\"\nb = 1\n",
		"quotes at the end":  strings.Repeat("a", 900) + ` = """x"""""` + "\nb = '''y'''''\n",
		"comments":           strings.Repeat("# [a.b.c] = {{{ ''' \"\"\"\n", 10_000) + "a = 1 # [[[\n",
		"a list of scalars":  "a = [" + strings.Repeat("1.5, 2020-01-01T00:00:00Z, true, 'x', # [[\n", 10_000) + "]\n",
		"all kinds of value": "a = -1.5e3\nb = 0xff\nc = +inf\nd = 2020-01-01 10:00:00.5\ne = {x.y = [1, {z = 'a'}], 'q r' = \"\",}\n[ a2 . \"b\" . 'c' ]\n[[ l ]]\n",
	} {
		var all map[string]any
		if _, err := decodeTOML(text, taskBounds, &all); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAcceptedTaskHasARecord claims the largest tasks that are taken: whatever a task's file may have, its record has, too.
func TestAcceptedTaskHasARecord(t *testing.T) {
	clocktest.Alone(t)
	fits := func(env map[string]string) bool {
		task := state.Task{Format: 1, ID: "b42p", Revision: 1, Created: day2, Key: "k", When: state.Timing{Text: "1m", Kind: "once", Zone: "UTC", Start: day2},
			Run: state.Job{Argv: []string{"true"}, Dir: "/", Env: env}}
		if _, _, err := EncodeTask(task, nil); err != nil {
			if !errors.Is(err, state.ErrInvalid) {
				t.Fatal(err)
			}
			return false
		}
		data, err := EncodeRecord(state.Record{Task: task, Due: day2, Claimed: day2, Number: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeRecord(data); err != nil {
			t.Errorf("a task is taken whose record cannot be read: %v", err)
		}
		return true
	}
	most := func(limit int, env func(n int) map[string]string) {
		t.Helper()
		least := 0
		for limit > least+1 { // the largest that fits
			if n := (least + limit) / 2; fits(env(n)) {
				least = n
			} else {
				limit = n
			}
		}
		if least < 900 {
			t.Errorf("only %d fit", least)
		}
	}
	most(20_000, func(n int) map[string]string {
		env := map[string]string{}
		for i := range n {
			env[fmt.Sprint("V", i)] = ""
		}
		return env
	})
	most(5_000, func(n int) map[string]string { return map[string]string{strings.Repeat("V", n): ""} })
	most(5_000, func(n int) map[string]string { return map[string]string{strings.Repeat("V", n-1) + ".": ""} })
}

// FuzzTOMLBounds holds decodeTOML against the library: what the library reads is refused for no other reason than a bound, and what is let
// through has no more structure than was counted, and takes no more memory than its size lets expect.
func FuzzTOMLBounds(f *testing.F) {
	for _, text := range Heavy(20) {
		f.Add(text)
	}
	for _, text := range []string{"a.b = 1\n[c]\nd = {e = [1, [2]], 'f.g' = \"h\\\"\"}\n", "a = \"\"\"\\\n  b\"\"\"\"\n", "a = 1979-05-27 07:32:00 # c\r\nb = '''\r\n'''\r\n",
		"a = {b = 1, # c\n d = 2,\n}\n", "[[a.b]]\nc = 1\n[[a.b]]\n[a.b.d]\n", "a = [1 2]\n", "a = \"b\n", "a = truefalse\n", "é = 1\n", "a = 1 b = 2\n", "\ufeffa = .5\n", "\xff\xfea.b = 1\n", "\xfe\xff",
		"a = \"\x01\"\n[b.c.d]\n", "a = \"\"\"\"\"\"\"\"\"\n", "[a]]\n", "a = [{}, {b = {}}]\n", "a = \"\"\"x\\\"\"\"\"\"\"\n"} {
		f.Add(text)
	}
	small := Bounds{Depth: 8, Keys: 60, Path: 100}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4<<10 {
			return
		}
		var want, got map[string]any
		md, wantErr := toml.Decode(text, &want)
		s := tomlScan{text: withoutBOM(text), bounds: Bounds{1 << 30, 1 << 30, 1 << 30}}
		s.file()
		if wantErr == nil {
			if s.stop() {
				t.Fatalf("the library reads it, and it is lost at %d", s.at)
			}
			if n := len(md.Keys()); n > s.keys {
				t.Errorf("%d keys, counted %d", n, s.keys)
			}
			for _, k := range md.Keys() {
				if len(k) > s.deep {
					t.Errorf("%v is deeper than the %d counted", k, s.deep)
				}
			}
			if d := depthOf(want); d > s.deep {
				t.Errorf("%d deep, counted %d", d, s.deep)
			}
		}
		var err error
		took := Allocated(func() { _, err = decodeTOML(text, small, &got) })
		var bound *SyntaxError
		switch {
		case errors.As(err, &bound):
			if wantErr == nil && (s.keys <= small.Keys && s.deep <= small.Depth && len(text) <= small.Path) {
				t.Errorf("refused without a reason: %v", err)
			}
		case (err == nil) != (wantErr == nil):
			t.Errorf("the library says %v, and here it is %v", wantErr, err)
		}
		if most := uint64(4<<20 + 4<<10*len(text)); took > most {
			t.Errorf("%d bytes took %d of memory", len(text), took)
		}
	})
}

// depthOf is how deep tables and lists are within each other.
func depthOf(v any) (deep int) {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			deep = max(deep, depthOf(below)+1)
		}
	case []any:
		deep = 1
		for _, below := range v {
			deep = max(deep, depthOf(below)+1)
		}
	case []map[string]any:
		for _, below := range v {
			deep = max(deep, depthOf(below))
		}
	}
	return deep
}

// TestHeaviestTOMLThatPasses reads the worst that the bounds let through, of the largest size.
func TestHeaviestTOMLThatPasses(t *testing.T) {
	clocktest.Alone(t)
	b := taskBounds
	fill := func(one func(i int) string) string {
		var w strings.Builder
		for i := 0; ; i++ {
			line := one(i)
			if i%50 == 0 {
				s := tomlScan{text: w.String() + line, bounds: Bounds{b.Depth, b.Keys - 51*b.Depth, b.Path}}
				if s.file(); s.stop() || w.Len()+len(line) > state.TaskLimit-1000 {
					return w.String()
				}
			}
			w.WriteString(line)
		}
	}
	long := strings.Repeat("x", 50)
	head := "[" + strings.TrimSuffix(strings.Repeat(long+".", 15), ".") + "]\n"
	for name, text := range map[string]string{
		"dotted keys": fill(func(i int) string { return fmt.Sprintf("%s%d = 1\n", strings.Repeat(long+".", b.Depth-1), i) }),
		"deep keys":   head + fill(func(i int) string { return fmt.Sprintf("k%d = 1\n", i) }),
		"deep tables": fill(func(i int) string { return fmt.Sprintf("[%s%d]\n", strings.Repeat(long+".", b.Depth-1), i) }),
		"lists": fill(func(i int) string {
			return fmt.Sprintf("k%d = %s%s\n", i, strings.Repeat("[", b.Depth-1), strings.Repeat("]", b.Depth-1))
		}),
		"a long list": "a = [" + strings.Repeat("'',", state.TaskLimit/3-100) + "]\n",
		"instants":    "a = [" + strings.Repeat("10:00,", state.TaskLimit/6-100) + "]\n",
	} {
		began := time.Now()
		var err error
		took := Allocated(func() { _, _, err = DecodeTask([]byte("format = 1\n" + text + endLine)) })
		t.Logf("%s: %d bytes, %d MiB asked for, %v, %v", name, len(text), took>>20, time.Since(began).Round(time.Millisecond), err)
		if took > 256<<20 {
			t.Errorf("%s: %d MiB", name, took>>20)
		}
	}
}
