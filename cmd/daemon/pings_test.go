package daemon

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/notify"
	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/memory"
	"github.com/ouro-timer/ouro-timer/timer/notifier"
)

// watcher is a service of heartbeats. A start it answers when it may.
type watcher struct {
	*httptest.Server
	may chan struct{}

	mu  sync.Mutex
	got []string
}

func newWatcher(t *testing.T) *watcher {
	w := &watcher{may: make(chan struct{})}
	w.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.mu.Lock()
		w.got = append(w.got, strings.TrimPrefix(r.URL.Path, "/check"))
		w.mu.Unlock()
		if strings.HasSuffix(r.URL.Path, "/start") {
			<-w.may
		}
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *watcher) list() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.got, " ")
}

func courierTo(t *testing.T, url string, now time.Time) *sender {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte("[channels.hc]\ntype = \"heartbeat\"\nurl = \""+url+"/check\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return &sender{st: memory.New(), env: notify.Env{Now: time.Now}, clock: func() time.Time { return now }, dir: dir, starts: newStartPings()}
}

// TestStartComesFirst: no run waits for the ping of its start; that of its end does.
func TestStartComesFirst(t *testing.T) {
	w, now := newWatcher(t), time.Now()
	c := courierTo(t, w.URL, now)
	task := state.Task{ID: "k7m2", Policy: state.Policy{Notify: []string{"hc", "https://example.org/x", "nowhere"}}}
	c.pingStarts(state.Record{Task: task, Number: 3}, t.Logf) // it returns although nobody answers
	ended := make(chan error, 1)
	go func() {
		_, err := c.send(t.Context(), state.Notice{Line: state.Line{TaskID: "k7m2", Number: 3, Outcome: state.Failed, At: now}, Channel: "hc"})
		ended <- err
	}()
	for w.list() == "" {
		time.Sleep(time.Millisecond)
	}
	if got := w.list(); got != "/start" {
		t.Errorf("before the start is answered it gets %q", got)
	}
	close(w.may)
	if err := <-ended; err != nil || w.list() != "/start /fail" {
		t.Errorf("it gets %q, %v", w.list(), err)
	}
	c.starts.mu.Lock()
	defer c.starts.mu.Unlock()
	if n := len(c.starts.open); n > 0 {
		t.Errorf("%d are still known", n)
	}
}

// TestALaterRunSaysMore: what could not be told at once is left out once a later run has ended;
// what could is told.
func TestALaterRunSaysMore(t *testing.T) {
	w := newWatcher(t)
	end := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name     string
		attempts int
		after    time.Duration // since the end
		later    bool          // a later run has ended
		moot     bool
	}{
		{"at once", 0, time.Second, true, false},
		{"after a restart", 0, time.Hour, true, true},
		{"tried before", 1, 11 * time.Second, true, true},
		{"tried before, and still the last", 5, time.Hour, false, false},
	} {
		of := courierTo(t, w.URL, end.Add(c.after))
		tally := state.Tally{LastEnd: end}
		if c.later {
			tally.LastEnd = end.Add(5 * time.Second)
		}
		channel, err := notify.Find("hc", must(of.settings()).Channels)
		if err != nil {
			t.Fatal(err)
		}
		_, err = of.pingEnd(context.Background(), state.Notice{Line: state.Line{TaskID: "k7m2", Number: 3, Outcome: state.OK, At: end, Ended: &end}, Channel: "hc", Attempts: c.attempts}, channel, state.Task{}, tally)
		var told *notifier.SendError
		if moot := errors.As(err, &told) && told.Moot && told.Permanent; moot != c.moot || err != nil && !moot {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if w.list() != " " {
		t.Errorf("it gets %q", w.list())
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
