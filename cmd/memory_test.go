package cmd

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// scales are a context, and what an answer is written to: they look how much memory is in use each time that a command has asked so often
// whether it is to end, and when it begins to answer.
type scales struct {
	context.Context
	mu      sync.Mutex
	asked   int
	written int64
	most    int64
}

func (s *scales) weigh() {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	s.most = max(s.most, int64(m.HeapAlloc))
}

func (s *scales) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked++; s.asked%4000 == 0 {
		s.weigh()
	}
	return s.Context.Err()
}

func (s *scales) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.written == 0 {
		s.weigh()
	}
	s.written += int64(len(p))
	return len(p), nil
}

// manyTasks makes a home with n tasks that are due from tomorrow on, a minute apart: copies of one that was added.
func manyTasks(t *testing.T, n int) cli.World {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	w := cli.Real()
	w.Out, w.Err = &bytes.Buffer{}, &bytes.Buffer{}
	w.Getenv = func(name string) string {
		return map[string]string{"OURO_HOME": home, "HOME": filepath.Dir(home), "TZ": "UTC", "OURO_AUTOSTART": "0", "PATH": os.Getenv("PATH")}[name]
	}
	if code := Main([]string{"ouro-timer", "at", "1h", "-q", "--description", "copy what is in the project to the other machine", "--", "true", "first", "second"}, w); code != 0 {
		t.Fatal(code, w.Err)
	}
	queue := filepath.Join(home, "timers")
	found, err := filepath.Glob(filepath.Join(queue, "*.toml"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	like, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	id := strings.Split(filepath.Base(found[0]), ".")[2]
	due := time.Now().UTC().Truncate(time.Second).AddDate(0, 0, 1)
	for i := range n {
		other := state.ID(uint64(i + 1))
		file := due.Add(time.Duration(i)*time.Minute).Format("20060102T150405.000000000Z") + "." + other + ".toml"
		if err := os.WriteFile(filepath.Join(queue, file), bytes.Replace(like, []byte(`"`+id+`"`), []byte(`"`+other+`"`), 1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// TestMemoryOfManyTasks looks how much memory commands have in use at a time that only pass on what they read. What ls answers is held until it
// is known how many tasks there are.
func TestMemoryOfManyTasks(t *testing.T) {
	n := 20_000
	if clocktest.Raced {
		n = 4_000
	}
	w := manyTasks(t, n)
	for _, c := range []struct {
		words   []string
		answers bool  // with all tasks
		most    int64 // bytes for each task, beside those of the answer
	}{
		{[]string{"ls"}, true, 250},
		{[]string{"ls", "--json"}, true, 250},
		{[]string{"ls", "--json", "--all"}, true, 250},
		{[]string{"ls", "--before", "2100-01-01", "--limit", "10"}, false, 250},
		{[]string{"doctor"}, false, 250},
	} {
		var before scales
		before.weigh()
		on := &scales{Context: context.Background()}
		w.Out = on
		s := cli.NewCall(w)
		s.Table = table
		err := dispatch(s, append([]string{"ouro-timer"}, c.words...), func(*cli.Call) (context.Context, func()) { return on, func() {} })
		code := cli.Conclude(s, err)
		took, bound := on.most-before.most, int64(n)*c.most+2<<20
		if c.answers {
			bound += on.written * 5 / 4
		}
		if code > cli.ExitFailed || // doctor misses a runner
			on.asked < n || c.answers && on.written < int64(n)*20 {
			t.Errorf("%v: exit code %d, %d bytes written, asked %d times: %v", c.words, code, on.written, on.asked, w.Err)
		}
		if took > bound {
			t.Errorf("%v: %d bytes are in use for %d tasks, want %d at the most", c.words, took, n, bound)
		}
	}
}
