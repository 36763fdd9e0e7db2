package handover

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
)

// TestRunnerLogIsBounded writes more than the log may hold, from several goroutines, with another
// process's handle beside it.
func TestRunnerLogIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs", "runner.log")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	w := cli.Real()
	w.Err, w.Getenv = open(), func(name string) string {
		return map[string]string{"OURO_HOME": filepath.Dir(filepath.Dir(path))}[name]
	}
	log := OpenRunnerLog(cli.NewCall(w))
	other := open()
	const writers, lines = 4, 8000
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			for i := range lines {
				fmt.Fprintf(log, "%d %06d %s\n", n, i, strings.Repeat("x", 90))
			}
		})
	}
	wg.Wait()
	fmt.Fprintln(log, "the last line")
	fmt.Fprintln(other, "another's line")
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path + ".1")
	if err != nil {
		t.Fatal(err)
	}
	if len(now) > maxLog+200 || len(old) > 2*maxLog || len(old) < maxLog {
		t.Errorf("the log has %d bytes, the one before %d", len(now), len(old))
	}
	if !bytes.HasSuffix(now, []byte("the last line\nanother's line\n")) {
		t.Errorf("the log ends with %q", now[max(0, len(now)-80):])
	}
	// Nothing is torn, and nothing lost between the two.
	seen := 0
	for line := range bytes.Lines(append(old, now...)) {
		var n, i int
		if _, err := fmt.Sscanf(string(line), "%d %d x", &n, &i); err == nil && len(line) == 2+7+90+1 {
			seen++
		} else if !strings.HasSuffix(string(line), "line\n") {
			t.Fatalf("torn: %q", line)
		}
	}
	if seen*100 != len(old)+len(now)-len("the last line\nanother's line\n") {
		t.Errorf("%d lines in %d bytes", seen, len(old)+len(now))
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 2 {
		t.Errorf("files are left: %v", files)
	}
}
