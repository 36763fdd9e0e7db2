package cmd

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// atWorld is a world with a state of its own and no runner.
func atWorld(t *testing.T, in io.Reader, out, errs io.Writer) cli.World {
	w := cli.Real()
	home := filepath.Join(t.TempDir(), "home")
	w.In, w.Out, w.Err = in, out, errs
	w.Getenv = func(name string) string {
		return map[string]string{"OURO_HOME": home, "OURO_AUTOSTART": "0", "TZ": "Europe/Warsaw", "PATH": os.Getenv("PATH")}[name]
	}
	w.Environ = func() []string { return nil }
	return w
}

// TestTextTooLong refuses what no task can hold, from wherever it comes, and without repeating it.
func TestTextTooLong(t *testing.T) {
	clocktest.Alone(t)
	long := strings.Repeat("x", 100<<20)
	for _, c := range []struct {
		name string
		in   string
		args []string
	}{
		{"task", "", []string{"1h", "--task", long}},
		{"description", "", []string{"1h", "--task", "x", "--description", long}},
		{"time", "", []string{long, "--task", "x"}},
		{"shell", "", []string{"1h", "-c", long}},
		{"command", "", []string{"1h", "--", "true", long}},
		{"env", "", []string{"1h", "--env", "A=" + long, "--", "true"}},
		{"script", long, []string{"1h", "-f", "-"}},
		{"object", `{"when":"1h","task":"` + long + `"}`, []string{"--stdin", "json"}},
		{"line of objects", `{"when":"1h","task":"` + long + `"}`, []string{"--stdin", "jsonl"}},
		{"line", "echo " + long, []string{"1h", "--stdin", "lines"}},
		{"two within the limit and together not", `{"when":"1h","task":"` + long[:700<<10] + `","env":["A=` + long[:200<<10] + `"],"shell":"true","description":"` + strings.Repeat(`\"`, 100<<10) + `"}`, []string{"--stdin", "jsonl"}},
	} {
		var out, errs bytes.Buffer
		code := Main(append([]string{"ouro-timer", "at", "--json"}, c.args...), atWorld(t, strings.NewReader(c.in), &out, &errs))
		if code != cli.ExitUsage || !strings.Contains(out.String(), `"code":"limit"`) || out.Len() > 2000 || errs.Len() > 0 {
			t.Errorf("%s: exit %d: %.300q %.300q", c.name, code, out.String(), errs.String())
		}
	}
}

// TestAnsweredAsTheyCome has a producer that waits for each answer before it says the next line.
func TestAnsweredAsTheyCome(t *testing.T) {
	in, lines := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan int)
	var errs bytes.Buffer
	w := atWorld(t, in, out, &errs)
	go func() { done <- Main([]string{"ouro-timer", "at", "--stdin", "jsonl", "--json"}, w) }()
	r := bufio.NewReader(answers)
	for i := 1; i <= 5; i++ {
		fmt.Fprintf(lines, "{\"when\":\"1h\",\"task\":\"%d\"}\n", i)
		answer, err := r.ReadString('\n')
		if err != nil || !strings.HasPrefix(answer, fmt.Sprintf(`{"line":%d,`, i)) || !strings.Contains(answer, fmt.Sprintf(`"task":"%d"`, i)) {
			t.Fatalf("%q, %v, %s", answer, err, errs.String())
		}
	}
	lines.Close()
	if code := <-done; code != cli.ExitOK {
		t.Errorf("exit %d", code)
	}
}

// TestWorstExit ends with the highest code of all lines.
func TestWorstExit(t *testing.T) {
	var out, errs bytes.Buffer
	w := atWorld(t, strings.NewReader("{\"when\":\"1h\",\"task\":\"a\"}\nnonsense\n{\"when\":\"1h\",\"task\":\"b\"}\n"), &out, &errs)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(filepath.Join(file), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code := Main([]string{"ouro-timer", "at", "--stdin", "jsonl", "-q"}, w); code != cli.ExitUsage {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("%d IDs", n)
	}
	// A state that cannot be used at all.
	out.Reset()
	getenv := w.Getenv
	w.In = strings.NewReader("{\"when\":\"1h\",\"task\":\"a\"}\n")
	w.Getenv = func(name string) string {
		if name == "OURO_HOME" {
			return file
		}
		return getenv(name)
	}
	if code := Main([]string{"ouro-timer", "at", "--stdin", "jsonl", "-q"}, w); code != cli.ExitState || out.Len() > 0 {
		t.Errorf("exit %d: %s", code, out.String())
	}
}

// TestTimeFirst tells of a time that is none before it tells that there is nothing to do.
func TestTimeFirst(t *testing.T) {
	for in, want := range map[string]string{
		`{"when":"bogus"}`:            `line 1: could not understand the time expression "bogus"`,
		`{"when":"1h"}`:               "line 1: nothing to do at that time",
		`{"when":"bogus","task":"x"}`: `line 1: could not understand the time expression "bogus"`,
	} {
		var out, errs bytes.Buffer
		code := Main([]string{"ouro-timer", "at", "--stdin", "jsonl"}, atWorld(t, strings.NewReader(in), &out, &errs))
		if code != cli.ExitUsage || !strings.HasPrefix(errs.String(), "ouro-timer: "+want) {
			t.Errorf("%s: exit %d: %s", in, code, errs.String())
		}
	}
}
