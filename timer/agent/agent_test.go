//go:build unix

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/proc"
)

// TestOneProcessForMany: the process stays, is told line by line, and gets exactly the fields that are promised.
func TestOneProcessForMany(t *testing.T) {
	t.Parallel()
	b := newBench(t, still())
	script := `while read -r line; do echo "$$ $line" >> told; ` + ack + `; done`
	var pids []int
	for n := range 3 {
		c := b.call(script, fmt.Sprintf("a/%d", n+1))
		c.Started = func(i proc.Identity) { pids = append(pids, i.PID) }
		b.want(b.fire(c))
	}
	if len(pids) != 3 || pids[0] != pids[1] || pids[1] != pids[2] || b.pool.Live() != 1 {
		t.Errorf("processes %v, %d live", pids, b.pool.Live())
	}
	want := fmt.Sprintf(`%d {"jsonrpc":"2.0","method":"reminder.fire","params":{"reminder_id":"rem_a","title":"tea","description":null,`+
		`"due_date":"2026-11-23T09:00:00+01:00","project_id":null,"priority":"medium","occurrence_id":"a/1","origin":""}}`, pids[0])
	if got, _, _ := strings.Cut(b.file("told"), "\n"); got != want {
		t.Errorf("told  %s\nwant %s", got, want)
	}
	other := b.call(script, "a/4")
	other.Program.Env = append(other.Program.Env, "A=b")
	b.want(b.fire(other))
	if b.pool.Live() != 2 {
		t.Errorf("%d processes, with another environment", b.pool.Live())
	}
	b.close()
	if b.pool.Live() != 0 {
		t.Error("some live on")
	}
	if r := b.fire(b.call(script, "a/5")); r.Err != errClosed {
		t.Errorf("after the end: %+v", r)
	}
}

// TestRequestsHaveTheirOwnAnswers: with an id, no answer without it and none to another one counts.
func TestRequestsHaveTheirOwnAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t, still())
	script := `read -r line; ` + ack + `; echo '{"result":1,"id":"a/0.1"}'; echo '{"result":1,"id":7}'; echo '{"error":{"code":-5,"message":"no tea"},"id":"a/1.1"}'; cat > rest`
	c := b.call(script, "a/1")
	c.ID = "a/1.1"
	r := b.fire(c)
	if !r.Answered || r.Refused == nil || r.Refused.Code != -5 || r.Refused.Error() != "no tea (-5)" {
		t.Errorf("%+v", r)
	}
}

// TestFaults: whatever an agent does, the attempt ends, says why, and the next one gets what it needs.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		limit        time.Duration // 0: patience
		err          string        // part of the error
		good         bool
		ignored      int
		stderr       int64
		late         bool // it takes a time-out of the pool's own to see it
	}{
		{name: "says nothing", script: `exec cat > told`, limit: 50 * time.Millisecond},
		{name: "dies at once", script: `exit 3`, err: "it has ended (exit code 3)"},
		{name: "dies when told", script: `read -r line; kill -9 $$`, err: "it has ended (SIGKILL)"},
		{name: "dies with an answer", script: `read -r line; ` + ack, good: true},
		{name: "closes its output", script: `read -r line; exec 1>&-; exec sleep 100`, err: "it has closed its standard output", late: true},
		{name: "closes its input", script: `exec 0<&-; echo x > closed; sleep 100`, limit: 50 * time.Millisecond},
		{name: "talks nonsense", script: `read -r line; echo hello; echo 42; echo '{"level":"info"}'; echo; printf '\377\n'; ` + ack, good: true, ignored: 4},
		{name: "half of JSON-RPC", script: `read -r line; echo '{broken'; echo '[1]'; ` + ack + `; cat > told`, good: true, ignored: 2},
		{name: "a line of 10 MB", script: `read -r line; head -c 10000000 /dev/zero | tr '\0' x; echo; ` + ack, good: true, ignored: 1},
		{name: "an error", script: `read -r line; echo '{"jsonrpc":"2.0","error":{"code":1,"message":"busy"},"id":null}'`},
		{name: "much noise", script: `read -r line; head -c 3000000 /dev/zero | tr '\0' x >&2; ` + ack, good: true, stderr: 3000000},
		{name: "no such program", script: "", err: `program "no-such-agent" not found`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var awake clock.Clock = still()
			if c.late || c.limit > 0 {
				awake = clock.Awake
			}
			b := newBench(t, awake)
			call := b.call(c.script, "a/1")
			if c.script == "" {
				call.Program.Argv = []string{"no-such-agent"}
			}
			if c.name == "closes its input" { // or it would be told before that
				call.Started = func(proc.Identity) { b.eventually("it is closed", func() bool { return b.file("closed") != "" }) }
				c.err, c.limit = "broken pipe", 0
			}
			if c.limit > 0 {
				call.Timeout = c.limit
			}
			r := b.fire(call)
			switch {
			case c.good:
				b.want(r)
			case c.err != "":
				if r.Err == nil || !strings.Contains(r.Err.Error(), c.err) || r.Answered || r.TimedOut {
					t.Errorf("%+v", r)
				}
			case c.limit > 0:
				if !r.TimedOut || r.Err != nil {
					t.Errorf("%+v", r)
				}
			default:
				if r.Refused == nil || r.Refused.Message != "busy" {
					t.Errorf("%+v", r)
				}
			}
			if r.Ignored != c.ignored || c.stderr != 0 && r.Stderr != (Written{c.stderr, true}) {
				t.Errorf("%d lines ignored, %+v on standard error", r.Ignored, r.Stderr)
			}
			for _, name := range []string{"stdout", "stderr"} {
				if info, err := os.Stat(filepath.Join(b.dir, "out", name)); err == nil && info.Size() > maxHead+2*maxTail+maxLate {
					t.Errorf("%s takes %d bytes", name, info.Size())
				}
			}
		})
	}
}

// TestTheLogIsOfWhatWasToldLast: standard error up to the answer is in the file of the reminder, and so are a few late words.
func TestTheLogIsOfWhatWasToldLast(t *testing.T) {
	t.Parallel()
	b := newBench(t, still())
	script := `n=0; while read -r line; do n=$((n+1)); echo "before $n" >&2; echo "not JSON $n"; ` + ack + `; echo "late $n" >&2; echo x > said$n; done`
	for n := 1; n <= 2; n++ {
		c := b.call(script, fmt.Sprintf("a/%d", n))
		c.Stdout, c.Stderr = b.keeps(fmt.Sprint("out", n)), b.keeps(fmt.Sprint("err", n))
		if r := b.want(b.fire(c)); r.Stderr.Bytes < 9 || r.Ignored != 1 {
			t.Errorf("%+v", r)
		}
		b.eventually("late words", func() bool { return b.file(fmt.Sprint("err", n)) == fmt.Sprintf("before %d\nlate %d\n", n, n) })
		if got := b.file(fmt.Sprint("out", n)); got != fmt.Sprintf("not JSON %d\n", n) {
			t.Errorf("standard output %q", got)
		}
	}
}

// TestLateAnswers: an answer without an id that comes too late is not taken for another occurrence's: who owes one is started anew.
// A further attempt at the same occurrence is told to the same process.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t, clock.Awake)
	// It answers nothing until it was told twice, and then too much.
	script := `echo x >> started; read -r one; read -r two; ` + ack + `; ` + ack + `; while read -r line; do ` + ack + `; done`
	first := b.call(script, "a/1")
	first.Timeout = 50 * time.Millisecond
	if r := b.fire(first); !r.TimedOut {
		t.Fatalf("%+v", r)
	}
	if r := b.fire(b.call(script, "a/1")); !r.Answered || b.file("started") != "x\n" {
		t.Fatalf("%+v, starts %q", r, b.file("started"))
	}
	b = newBench(t, clock.Awake)
	first = b.call(script, "a/1")
	first.Timeout = 50 * time.Millisecond
	b.fire(first)
	b.eventually("it has started", func() bool { return b.file("started") == "x\n" })
	second := b.call(script, "a/2")
	second.Timeout = 50 * time.Millisecond
	if r := b.fire(second); !r.TimedOut {
		t.Errorf("%+v\n%s", r, b.log())
	}
	b.eventually("it has started anew", func() bool { return b.file("started") == "x\nx\n" })
}

// TestAsks: what an agent asks is done in turn and answered, also while nobody tells it anything, however much it is.
func TestAsks(t *testing.T) {
	t.Parallel()
	b := newBench(t, still())
	const many = 500
	script := fmt.Sprintf(`read -r line; echo '{"jsonrpc":"2.0","id":"a","method":"no.such"}'; echo '{"jsonrpc":"2.0","method":"quiet"}'; `+ack+`
		n=0; while [ $n -lt %d ]; do echo "{\"jsonrpc\":\"2.0\",\"id\":$n,\"method\":\"count\",\"params\":{\"n\":$n}}"; n=$((n+1)); done & cat > got`, many)
	c := b.call(script, "a/1")
	var mu sync.Mutex
	asked := []string{}
	c.Serve = func(_ context.Context, method string, params json.RawMessage) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, method+string(params))
		switch method {
		case "count":
			return params, nil
		case "quiet":
			return nil, fmt.Errorf("nobody hears it")
		}
		return nil, &Error{Code: CodeMethod, Message: "none"}
	}
	b.want(b.fire(c))
	b.eventually("all answers have come", func() bool { return strings.Count(b.file("got"), "\n") == many+1 })
	lines := strings.Split(b.file("got"), "\n")
	if lines[0] != `{"jsonrpc":"2.0","error":{"code":-32601,"message":"none"},"id":"a"}` {
		t.Errorf("first %s", lines[0])
	}
	for n := range many {
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","result":{"n":%d},"id":%d}`, n, n); lines[n+1] != want {
			t.Fatalf("answer %d is %s", n, lines[n+1])
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != many+2 || asked[1] != "quiet" {
		t.Errorf("asked %d: %v …", len(asked), asked[:2])
	}
}

// TestLastWords: what was asked before the end of the standard input, or of the process, is done all the same.
func TestLastWords(t *testing.T) {
	t.Parallel()
	b := newBench(t, still())
	c := b.call(`read -r line; `+ack+`; read -r more; echo '{"id":1,"method":"last"}'`, "a/1")
	asked := make(chan string, 2)
	c.Serve = func(_ context.Context, method string, _ json.RawMessage) (any, error) {
		asked <- method
		return nil, nil
	}
	b.want(b.fire(c))
	b.close()
	if len(asked) != 1 {
		t.Errorf("%d requests were answered", len(asked))
	}
}

// TestNobodyReads: an agent that asks without end and reads no answer is ended, and holds up nobody for longer.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	awake := picky{still(), 0, minIdle}
	b := newBench(t, awake)
	// It is told before it answers, or that would not be an answer.
	c := b.call(`read -r line; `+ack+`; until [ -e go ]; do sleep 0.01; done; while :; do echo '{"id":1,"method":"x"}'; done`, "a/1")
	c.Timeout = 0
	answer := strings.Repeat("x", 1<<20) // the first is more than a pipe takes
	c.Serve = func(context.Context, string, json.RawMessage) (any, error) {
		said := answer
		answer = ""
		return said, nil
	}
	b.want(b.fire(c))
	b.written(c.Program)
	if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.eventually("it is gone", func() bool {
		awake.Advance(time.Second)
		return b.pool.Live() == 0
	})
	if !strings.Contains(b.log(), "it does not read its standard input") {
		t.Error(b.log())
	}
}

// TestPauses: a program that ends without an answer is started again after 1 s, 2 s, and so on up to a minute.
func TestPauses(t *testing.T) {
	t.Parallel()
	awake := still()
	b := newBench(t, awake)
	want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute}
	s := b.pool.slot(b.program("exit 1"))
	for n, pause := range want {
		s.cur = &process{}
		b.pool.vacate(s)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if err := awake.BlockUntil(ctx, 1); err != nil {
			t.Fatal(err)
		}
		cancel()
		awake.Advance(pause - 1)
		if awake.Waiting() != 1 { // the end of a wait shows here at once, and at s.rest a little later
			t.Errorf("start %d comes too early", n+1)
		}
		awake.Advance(1)
		select {
		case <-s.rest:
		case <-time.After(patience):
			t.Fatalf("start %d is not made after %v", n+1, pause)
		}
	}
	s.cur = &process{acked: true}
	if b.pool.vacate(s); s.rest != nil || s.fails != 0 {
		t.Error("one that has answered has the next one wait")
	}
}

// TestNearly: where an answer was nearly there, the result says what is wrong with it.
func TestNearly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, id, want string }{
		{`read -r line; printf '{"jsonrpc":"2.0","result":"ok","id":null}'; exec sleep 100`, "", "it wrote 41 bytes without a line feed"},
		{`while read -r line; do echo '{"result":"ok","id":"bogus"}'; done`, "", `it answered with the id "bogus", not null`},
		{`while read -r line; do ` + ack + `; done`, "a/1.1", `it answered with no id, not "a/1.1"`},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, clock.Awake)
			call := b.call(c.script, "a/1")
			call.Timeout, call.ID = 50*time.Millisecond, c.id
			var r Result
			b.eventually("it says so", func() bool { r = b.fire(call); return r.Nearly != "" || !r.TimedOut })
			if r.Nearly != c.want || !r.TimedOut {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestRefused: what is refused is noted where people look, and an agent that does not leave off is ended.
func TestRefused(t *testing.T) {
	t.Parallel()
	awake := picky{still(), 0, writeTimeout}
	b := newBench(t, awake)
	c := b.call(`read -r line; `+ack+`; echo '{broken'; echo '["x"]'; echo '{"jsonrpc":"2.0",'
		while read -r line; do echo '{"jsonrpc":"2.0","id":2,"method":"no.such"}'; done`, "a/1")
	b.want(b.fire(c))
	b.eventually("it is gone", func() bool { awake.Advance(time.Second); return b.pool.Live() == 0 })
	const note = "no.such is refused: there is no method no.such (-32601)"
	if n := strings.Count(b.log(), note); n != maxRefused {
		t.Errorf("%d refusals in the log", n)
	}
	if !strings.Contains(b.log(), "it asked more than 100 times within a minute for what is refused") {
		t.Error(b.log())
	}
	errs := b.file("out/stderr")
	if !strings.HasPrefix(errs, "[ouro-timer: what it asked is refused: the line is not JSON (-32700)]\n[ouro-timer: "+note+"]\n") {
		t.Errorf("standard error: %.300s", errs)
	}
}

// TestStart: the time-out of the first reminder does not begin before the process reads, as long as that takes less than maxStart.
func TestStart(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("it cannot be told here whether somebody reads")
	}
	for _, answered := range []bool{true, false} {
		awake := picky{still(), 0, endWait}
		b := newBench(t, awake)
		call := b.call(`until [ -e go ]; do sleep 0.01; done; read -r line; `+ack+`; cat`, "a/1")
		call.Timeout = endWait / 2
		spent := maxStart + call.Timeout
		if answered {
			spent = maxStart / 2
		}
		over := b.begin(call)
		for begin := awake.Boot(); awake.Boot()-begin < spent; {
			b.next(awake.Manual)
		}
		if answered {
			if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if r := <-over; r.Answered != answered || r.TimedOut == answered {
			t.Errorf("after %v: %+v", spent, r)
		}
	}
}

// TestIdle: a process that nobody needs any more is ended after 5 minutes, one that somebody needs is not.
func TestIdle(t *testing.T) {
	t.Parallel()
	awake := picky{still(), minIdle, maxIdle + 1} // not the grace of its end
	b := newBench(t, awake)
	var mu sync.Mutex
	needed, looks := true, 0
	b.pool.Needed = func(context.Context, Program) bool {
		mu.Lock()
		defer mu.Unlock()
		looks++
		return needed
	}
	c := b.call(`while read -r line; do `+ack+`; done; echo x > ended`, "a/1")
	c.Timeout = 0
	b.want(b.fire(c))
	b.eventually("somebody was asked", func() bool {
		awake.Next()
		mu.Lock()
		defer mu.Unlock()
		return looks > 2
	})
	if b.pool.Live() != 1 {
		t.Fatal("it was needed, and is gone")
	}
	mu.Lock()
	needed = false
	mu.Unlock()
	b.eventually("it is gone", func() bool {
		awake.Next()
		return b.pool.Live() == 0
	})
	if b.file("ended") != "x\n" {
		t.Errorf("it was not left to end: %s", b.log())
	}
}

// TestHalt: ending an attempt ends the process, and the next attempt starts another one.
func TestHalt(t *testing.T) {
	t.Parallel()
	b := newBench(t, still())
	halt := make(chan struct{})
	c := b.call(`trap '' TERM; read -r line; echo x >> told; while :; do sleep 1; done`, "a/1")
	c.Halt = halt
	over := b.begin(c)
	b.eventually("it is told", func() bool { return b.file("told") != "" })
	close(halt)
	if r := <-over; !r.Halted {
		t.Errorf("%+v", r)
	}
	b.eventually("it is gone", func() bool { return b.pool.Live() == 0 })
	// And one that waits for its turn.
	c.Halt = nil
	ctx, cancel := context.WithCancel(context.Background())
	b.pool.slot(c.Program).lock <- struct{}{}
	cancel()
	if r := b.pool.Fire(ctx, c); r.Err != context.Canceled || !r.Sent.IsZero() {
		t.Errorf("%+v", r)
	}
	<-b.pool.slot(c.Program).lock
}

// TestClose: one that takes no notice of the end of its input, nor of TERM, is killed, with what it has started.
func TestClose(t *testing.T) {
	t.Parallel()
	awake := picky{still(), 0, writeTimeout}
	b := newBench(t, awake)
	c := b.call(`trap '' TERM; sleep 1000 & read -r line; `+ack+`; wait; wait; sleep 1000`, "a/1")
	c.Timeout = 0
	b.want(b.fire(c))
	closed := make(chan struct{})
	go func() { defer close(closed); b.close() }()
	b.eventually("it is gone", func() bool { awake.Advance(time.Second); return isClosed(closed) })
}

// TestDue: never Z, never more than milliseconds.
func TestDue(t *testing.T) {
	warsaw := time.FixedZone("CET", 3600)
	for _, c := range []struct{ at, want string }{
		{"2026-11-23T08:00:00Z", "2026-11-23T09:00:00+01:00"},
		{"2026-11-23T08:00:00.000999Z", "2026-11-23T09:00:00+01:00"},
		{"2026-11-23T08:00:00.5019Z", "2026-11-23T09:00:00.501+01:00"},
	} {
		at, err := time.Parse(time.RFC3339Nano, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := Due(at.In(warsaw)); got != c.want {
			t.Errorf("%s is written %s", c.at, got)
		}
		if got := Due(at.UTC()); !strings.HasSuffix(got, "+00:00") {
			t.Errorf("in UTC %s", got)
		}
	}
}
