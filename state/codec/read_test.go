package codec

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// holdToLibrary fails when a file is read in another way than the library reads it. It says whether it was read.
func holdToLibrary(t *testing.T, data []byte) bool {
	t.Helper()
	var got state.Task
	if !readPlainTask(data, &got) {
		return false
	}
	want, unknown, err := decodeAnyTask(data)
	if err != nil || len(unknown) > 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("read as %+v\nand the library says %+v, unknown keys %v, %v\n%s", got, want, unknown, err, data)
	}
	return true
}

// plainFiles are files as they are written, of tasks with every key among them.
func plainFiles(t testing.TB) (files [][]byte) {
	full := whole()
	full.Run.Argv = []string{"printf", "%s", "", "a, b", "[x]", "☕", "#", "="}
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) { // what whole does not fill
		for i := range v.NumField() {
			switch f := v.Field(i); f.Interface().(type) {
			case string:
				f.SetString(fmt.Sprint("text ", i))
			case int:
				f.SetInt(int64(i + 2))
			case bool:
				f.SetBool(true)
			case state.Timing, state.Job, state.Reminder, state.Policy, state.Wait:
				fill(f)
			}
		}
	}
	id := full.ID
	fill(reflect.ValueOf(&full).Elem())
	full.ID, full.Format, full.Run.Env = id, state.Format, map[string]string{"PATH": "/bin:/usr/bin", "LC_ALL": "C.UTF-8", "A-1": ""}
	least := once("n")
	least.ID, least.Format, least.Revision = state.ID(7), state.Format, 1
	for _, task := range []state.Task{full, least, {Format: 1, ID: state.ID(1), Revision: 1 << 60, Created: day0.Add(123456789),
		When: state.Timing{Text: "1h", Kind: "once", Start: day0.Add(time.Millisecond)}, Text: "message"}} {
		data, _, err := EncodeTask(task.UTC(), nil)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, data)
	}
	return files
}

// TestPlainReadsWhatIsWritten has no file of ours read by the library.
func TestPlainReadsWhatIsWritten(t *testing.T) {
	for _, data := range plainFiles(t) {
		if !holdToLibrary(t, data) {
			t.Errorf("left to the library:\n%s", data)
		}
	}
}

// TestPlainLeavesTheRest puts into a file what must be judged, or read, by the library.
func TestPlainLeavesTheRest(t *testing.T) {
	data := plainFiles(t)[0]
	for _, c := range []struct{ old, new string }{
		{"[when]\n", "[when]\nsurprise = 1\n"},
		{"[when]\n", "[when]\ntext = \"twice\"\n"},
		{"[when]\n", "[when]\n[when]\n"},
		{"[when]\n", "[[when]]\n"},
		{"[when]\n", "[ when ]\n"},
		{"[when]\n", "[when] # now\n"},
		{"format = 1\n", "format = 2\n"},
		{"format = 1\n", "format = 01\n"},
		{"format = 1\n", "format = +1\n"},
		{"format = 1\n", "format = 1 # one\n"},
		{"format = 1\n", "Format = 1\n"},
		{"format = 1\n", ""},
		{"format = 1\n", "format = 1\r\n"},
		{"revision = ", "revision = -0"},
		{"revision = ", "revision = 9999999999999999999"},
		{`task = "`, `task = "\u0009`},
		{`task = "`, `task = "\U00000009`},
		{`task = "`, `task = "\x09`},
		{`task = "`, `task = "\v`},
		{`task = "`, `task = "\u007F`},
		{`task = "`, `task = "\u0041`},
		{`task = "`, `task = "` + "\t"},
		{`task = "`, `task = "` + "\x7f"},
		{`task = "`, `task = "` + "\xff"},
		{`task = "`, `task = """`},
		{`task = "`, `task = '`},
		{`task = "`, `task="`},
		{`command = ["`, `command = [ "`},
		{`command = ["`, `command = [1, "`},
		{`command = ["`, `command = ["a",` + "\n" + `"`},
		{`, "[x]"`, `, ["x"]`},
		{"PATH = ", "A.PATH = "},
		{"PATH = ", `"PATH" = `},
		{"PATH = ", "PATH = \"\"\nPATH = "},
		{"given = true", "given = 1"},
		{"given = true", "given = True"},
		{"Z\n", "+01:00\n"},
		{"Z\n", "\n"},
		{"Z\n", "z\n"},
		{"T08:", "t08:"},
		{"T08:", " 08:"},
		{"T08:", "T25:"},
		{"# end\n", ""},
		{"# end\n", "# end\n\n"},
	} {
		odd := bytes.Replace(data, []byte(c.old), []byte(c.new), 1)
		if bytes.Equal(odd, data) {
			t.Errorf("%q is not in\n%s", c.old, data)
		}
		if holdToLibrary(t, odd) {
			t.Errorf("%q in the place of %q was read", c.new, c.old)
		}
	}
}

// TestPlainAgreesAboutDamage cuts, doubles and exchanges bytes and lines.
func TestPlainAgreesAboutDamage(t *testing.T) {
	clocktest.Alone(t)
	read := 0
	try := func(data []byte) {
		if holdToLibrary(t, data) {
			read++
		}
	}
	for _, data := range plainFiles(t) {
		for i := range data {
			for _, c := range "\"\\[]=,# \n1aZ.\x00\xff" {
				odd := bytes.Clone(data)
				odd[i] = byte(c)
				try(odd)
			}
			try(append(bytes.Clone(data[:i]), data[min(i+1, len(data)):]...))
		}
		lines := strings.SplitAfter(string(data), "\n")
		for i := range lines {
			for j := range lines {
				swapped := append([]string{}, lines...)
				swapped[i], swapped[j] = swapped[j], swapped[i]
				try([]byte(strings.Join(swapped, "")))
				doubled := append(append(append([]string{}, lines[:i]...), lines[j]), lines[i:]...)
				try([]byte(strings.Join(doubled, "")))
			}
		}
	}
	if read == 0 {
		t.Error("nothing was read")
	}
}

func FuzzPlain(f *testing.F) {
	for _, data := range plainFiles(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { holdToLibrary(t, data) })
}
