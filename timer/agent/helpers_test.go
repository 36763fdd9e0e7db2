//go:build unix

package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ouro-timer/ouro-timer/state/output"
	"github.com/ouro-timer/ouro-timer/timer/clock"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// patience is how long a test waits for something that is certain to happen.
const patience = 60 * time.Second

// bench is a pool with what it said.
type bench struct {
	*testing.T
	pool *Pool
	dir  string

	mu   sync.Mutex
	said []string
}

// still is a clock that stands still: what goes well on it depends on no time-out.
func still() *clocktest.Manual { return clocktest.NewManual(time.Now()) }

// picky is a clock that is moved by hand and ends only waits of at least so long, and of less than most. The others last until
// their contexts end.
type picky struct {
	*clocktest.Manual
	least, most time.Duration
}

func (p picky) For(ctx context.Context, d time.Duration) error {
	if p.least <= d && d < p.most {
		return p.Manual.For(ctx, d)
	}
	<-ctx.Done()
	return ctx.Err()
}

// newBench makes a pool whose pauses are of the given clock.
func newBench(t *testing.T, awake clock.Clock) *bench {
	t.Helper()
	b := &bench{T: t, dir: t.TempDir()}
	say := func(format string, a ...any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.said = append(b.said, fmt.Sprintf(format, a...))
	}
	b.pool = NewPool(Options{Clock: still(), Awake: awake, Say: say, Warn: say})
	kill := make(chan struct{})
	close(kill)
	t.Cleanup(func() {
		over := make(chan struct{})
		go func() { defer close(over); b.pool.Close(kill) }()
		select {
		case <-over:
		case <-time.After(3 * patience): // longer than fire takes to give up
			b.Errorf("they live on when they are killed: %s", b.log())
		}
	})
	return b
}

func (b *bench) log() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.said, "\n")
}

// program is a shell script as an agent.
func (b *bench) program(script string) Program {
	return Program{Argv: []string{"/bin/sh", "-c", script}, Dir: b.dir, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, Umask: 0o077}
}

// keeps makes a file for what a program writes.
func (b *bench) keeps(name string) func() (*os.File, error) {
	return func() (*os.File, error) { return output.File(filepath.Join(b.dir, name)).Create(b.Context()) }
}

// call is an attempt at telling it of an occurrence.
func (b *bench) call(script, occurrence string) Call {
	return Call{Program: b.program(script), Reminder: Reminder{ID: "rem_a", Title: "tea", Due: "2026-11-23T09:00:00+01:00", Priority: "medium", Occurrence: occurrence},
		Timeout: patience, Stdout: b.keeps("out/stdout"), Stderr: b.keeps("out/stderr")}
}

// fire makes the attempt. One that has no end by itself is given up, so that the test can say what is wrong.
func (b *bench) fire(c Call) Result {
	if c.Halt == nil {
		halt := make(chan struct{})
		c.Halt = halt
		defer time.AfterFunc(2*patience, func() { close(halt) }).Stop() // the test gives it up
	}
	return b.pool.Fire(context.Background(), c)
}

// begin is fire for who does something meanwhile.
func (b *bench) begin(c Call) <-chan Result {
	over := make(chan Result, 1)
	go func() { over <- b.fire(c) }()
	return over
}

// close gives the agents the time that they need for their end, within reason.
func (b *bench) close() {
	b.Helper()
	kill := make(chan struct{})
	defer time.AfterFunc(patience, func() {
		b.Errorf("they have not ended after %v: %s", patience, b.log())
		close(kill)
	}).Stop()
	b.pool.Close(kill)
}

// written returns when nothing is being written to the agent, so that moving the clock cannot say that it does not read that.
func (b *bench) written(p Program) {
	s := b.pool.slot(p)
	s.lock <- struct{}{}
	s.cur.writing <- struct{}{}
	<-s.cur.writing
	<-s.lock
}

// next moves the clock to the end of the next wait, when there is one.
func (b *bench) next(m *clocktest.Manual) {
	b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if m.BlockUntil(ctx, 1) != nil {
		b.Fatalf("nobody waits after %v: %s", patience, b.log())
	}
	m.Next()
}

// want fails when the attempt did not go well.
func (b *bench) want(r Result) Result {
	b.Helper()
	if !r.Answered || r.Refused != nil || r.Err != nil || r.TimedOut || r.Sent.IsZero() || r.Ended.IsZero() {
		b.Fatalf("%+v\n%s", r, b.log())
	}
	return r
}

// eventually waits until what is so.
func (b *bench) eventually(what string, so func() bool) {
	b.Helper()
	for start := time.Now(); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Since(start) > patience {
			b.Fatalf("not so after %v: %s\n%s", patience, what, b.log())
		}
	}
}

func (b *bench) file(name string) string {
	text, _ := os.ReadFile(filepath.Join(b.dir, name))
	return string(text)
}

const ack = `echo '{"jsonrpc":"2.0","result":"ok","id":null}'`
