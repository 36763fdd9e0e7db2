// Package health waits until a service is healthy: a server (http, https, tcp, tls, unix), a name
// (dns), a file, a process (pid), the end of a task of ours (task), or whatever a command can check
// (exec). Inverted, it waits until they are gone.
//
// A Target is probed at once, then every 100 ms for the first 10 s, then less and less often, until
// it is healthy, it has a fault that waiting does not mend, or the time is up. The time includes
// name look-ups, TLS handshakes and slow bodies, and Wait returns within 100 ms of it whatever the
// peer does. The memory that a peer can make us hold is bounded as well. Durations run on the
// monotonic clock; the age of a file and the end of a certificate are measured by the wall clock.
//
// The end of a process and the end of a task are reported, and not polled for. An attempt is then
// made when something has changed, and every 30 s in case a change was not reported.
//
// The package reads no environment and no configuration. Being unhealthy is a Result, not an error.
package health

import (
	"context"
	"crypto/x509"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

// Defaults for Options that are zero.
const (
	DefaultInterval = 2 * time.Second
	DefaultAttempt  = 5 * time.Second
)

// grace is how long Wait, once it has decided, lets running probes close their connections and end
// their commands.
const grace = 50 * time.Millisecond

// Options says how to wait. The zero value waits for ever, until all targets are healthy.
type Options struct {
	Timeout time.Duration // bounds everything; 0 or less for no limit
	// the longest pause between attempts, unless changes are reported; 0 for DefaultInterval
	Interval time.Duration
	Attempt  time.Duration // bounds one attempt, within Timeout; 0 for DefaultAttempt

	Any        bool // one healthy target is enough
	KeepTrying bool // go on after a permanent fault

	// Invert waits for the opposite. A target is then healthy when a whole attempt finds that it is
	// not there, for any fault that waiting might mend. A faulty certificate and HTTP 401, 403 or
	// 407 show that somebody is still there.
	//
	// A target that cannot be probed at all (an unknown task, a command that the shell does not
	// find, a proxy that demands a password) stays a permanent fault. A fault that says nothing
	// about the target (no permission, a disk that hangs, a name server, network or proxy that is
	// down) is a passing one. So is a connection of tcp or unix that is neither made nor refused.
	// An http server or a command that does not answer within an attempt counts as gone.
	Invert bool

	// Successes and Stable demand proof: so many good answers in a row (0 means one), and for so
	// long, from the first good answer to the last. Both must hold, and a bad answer starts both
	// again.
	Successes int
	Stable    time.Duration

	Docker   string // where Docker listens, as in DOCKER_HOST; "" for its usual socket
	HTTP     HTTP
	Insecure bool           // accept any certificate
	CA       *x509.CertPool // trusted instead of the authorities of the system; nil for those
	// tls and https: how many more days the certificate must be valid; 0 for today
	MinDays int
	File    File // demanded of targets with scheme file
	// answers for targets with scheme task; when nil they have a permanent fault
	Tasks Tasks

	Env []string // the environment of commands with scheme exec; nil for that of this process

	// Observe, if set, is called after each attempt with the index of its target, from the
	// goroutine that called Wait.
	Observe func(i int, r TargetResult)

	// Tests replace these; nil for the real ones.
	probe  func(context.Context, Target) error
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	random func() float64
}

// HTTP is what is demanded of http and https targets. The zero value sends GET and accepts any 2xx.
type HTTP struct {
	Method string // "": GET

	// Header is sent with each request; Host replaces the host of the URL. Once a redirect leads to
	// another host or port, or from https to http, only Accept and User-Agent are sent, so that
	// nobody else gets a secret.
	Header http.Header

	// accepted answers; none for 200 to 299, after redirects; a redirect that is named here is not
	// followed
	Status []StatusRange
	Body   *regexp.Regexp // must match the first MiB of the body; nil for any body
	JSON   []JSONMatch    // must all hold for the body, which may be 1 MiB at most

	// Proxy chooses a proxy, as http.ProxyFromEnvironment does; nil for none. It is never called
	// for loopback addresses.
	Proxy func(*http.Request) (*url.URL, error)
}

// File is what is demanded of files. The zero value only demands that they exist.
type File struct {
	NonEmpty bool // it has at least one byte; a folder has none
	// it was changed after this file; waits while this file does not exist
	NewerThanFile string
	Since         time.Time // it was changed at that instant or later; zero for any
	// it was changed at most so long ago, by the wall clock; 0 for any
	Within time.Duration
}

// Tasks knows how tasks end.
type Tasks interface {
	// Outcome returns the state of a task, or of one occurrence of it (ID/N). An error is a passing
	// fault.
	Outcome(ctx context.Context, id string) (TaskState, error)
	// Changed returns a channel that signals when an Outcome may have changed. Many changes may
	// give one signal. It works until ctx ends. When the channel is closed, or on an error, nothing
	// reports changes, and Outcome is called now and then.
	Changed(ctx context.Context) (<-chan struct{}, error)
}

// TaskState is the state of a task.
type TaskState struct {
	Known bool   // the task exists
	Ended bool   // it will not run again
	OK    bool   // it ended well
	How   string // how it ended otherwise than well, in words for a person: "failed, exit code 3"
	// FromOne or OnlyOnce when there cannot be such an occurrence; Stranded with an error;
	// otherwise empty
	Why Kind
}

// StatusRange is an inclusive range of HTTP status codes.
type StatusRange struct{ From, To int }

// Reason says why a wait ended before the targets were healthy.
type Reason string

// The reasons. A healthy Result has none.
const (
	TimedOut  Reason = "timeout"   // Options.Timeout is over
	Permanent Reason = "permanent" // a fault that waiting does not mend
	Cancelled Reason = "cancelled" // the caller's context ended
)

// Result is how a wait ended.
type Result struct {
	Healthy  bool
	Waited   time.Duration
	Attempts int // of all targets together
	Reason   Reason
	Targets  []TargetResult // in the order in which they were given
}

// TargetResult is the result of one target.
type TargetResult struct {
	Target    string
	Healthy   bool
	Permanent bool // the last fault was permanent and ended the attempts
	Attempts  int
	Streak    int // good answers in a row, see Options.Successes
	// why the last whole attempt failed, or how much proof there is; zero when healthy or never
	// tried
	Last Cause
	// with Invert, what the last whole attempt found instead of the target, such as Refused; zero
	// when the target is there
	Seen    Cause
	Latency time.Duration // of the attempt that found it healthy; otherwise 0
}

// Wait probes the targets, all at the same time, until all are healthy (with Any: one), one has a
// permanent fault (with Any: all have), the time is up or ctx ends. A target that was healthy once
// is not probed again. Wait returns within 100 ms of the time-out or of the end of ctx.
func Wait(ctx context.Context, targets []Target, o Options) Result {
	start := time.Now()
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.Timeout > 0 {
		bounded, cancel = context.WithTimeout(bounded, o.Timeout)
		defer cancel()
	}

	w := newWaiter(targets, o)
	defer close(w.stopped)
	follow := sync.OnceFunc(func() { w.follow(bounded) })
	for i := range targets {
		go w.watch(bounded, i, follow)
	}
	for !w.decided() && w.running > 0 {
		select {
		case r := <-w.reports:
			w.take(r)
			continue
		case <-bounded.Done():
		}
		break
	}
	cancel()
	for late := time.After(grace); w.running > 0; {
		select {
		case r := <-w.reports:
			w.take(r)
			continue
		case <-late:
		}
		break
	}
	return w.result(ctx, time.Since(start))
}

// waiter is the state of one call of Wait. Its goroutines and the caller share only attempts and
// the channels.
type waiter struct {
	Options
	targets  []Target
	state    []TargetResult
	attempts []atomic.Int64        // attempts started
	changed  map[int]chan struct{} // of the targets that are tasks
	running  int                   // watch goroutines that have not sent done
	reports  chan report
	stopped  chan struct{} // closed when nobody reads reports any more
}

// report is what a watch goroutine sends after an attempt. The last one has done set.
type report struct {
	i       int
	attempt int
	latency time.Duration
	fault   *fault // nil for a good answer
	seen    Cause  // with Invert: why the answer is good
	streak  int    // good answers in a row
	proven  bool   // there are enough of them
	proof   Cause  // what is missing when the answer is good but not proven
	// the end of the wait cut the attempt short, so it says nothing about the target
	cutShort bool
	done     bool
}

func newWaiter(targets []Target, o Options) *waiter {
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	if o.Attempt <= 0 {
		o.Attempt = DefaultAttempt
	}
	if o.random == nil {
		o.random = rand.Float64
	}
	if o.lookup == nil {
		o.lookup = func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		}
	}
	w := &waiter{
		Options:  o,
		targets:  targets,
		state:    make([]TargetResult, len(targets)),
		attempts: make([]atomic.Int64, len(targets)),
		changed:  map[int]chan struct{}{},
		running:  len(targets),
		reports:  make(chan report),
		stopped:  make(chan struct{}),
	}
	for i, t := range targets {
		w.state[i].Target = t.String()
		if t.scheme == "task" {
			w.changed[i] = make(chan struct{}, 1)
		}
	}
	return w
}

// take applies a report.
func (w *waiter) take(r report) {
	if r.done {
		w.running--
		return
	}
	s := &w.state[r.i]
	s.Attempts = r.attempt
	if r.cutShort {
		return
	}
	s.Healthy, s.Streak, s.Last, s.Seen, s.Latency, s.Permanent = r.proven, r.streak, Cause{}, r.seen, 0, false
	switch {
	case r.proven:
		s.Latency = r.latency
	case r.fault == nil:
		s.Last = r.proof
	default:
		s.Last = r.fault.Cause
		s.Permanent = r.fault.permanent && !w.KeepTrying
	}
	if w.Observe != nil {
		w.Observe(r.i, *s)
	}
}

// counts returns how many targets need no further attempt.
func (w *waiter) counts() (healthy, permanent int) {
	for _, s := range w.state {
		switch {
		case s.Healthy:
			healthy++
		case s.Permanent:
			permanent++
		}
	}
	return healthy, permanent
}

func (w *waiter) healthy() bool {
	healthy, _ := w.counts()
	if w.Any {
		return healthy > 0
	}
	return healthy == len(w.targets)
}

func (w *waiter) permanent() bool {
	_, permanent := w.counts()
	if w.Any {
		return permanent == len(w.targets)
	}
	return permanent > 0
}

func (w *waiter) decided() bool { return w.healthy() || w.permanent() }

// result returns the result. ctx is that of the caller, whose end is not the time-out.
func (w *waiter) result(ctx context.Context, waited time.Duration) Result {
	r := Result{Healthy: w.healthy(), Waited: waited, Targets: w.state}
	switch {
	case r.Healthy:
	case w.permanent():
		r.Reason = Permanent
	case ctx.Err() != nil:
		r.Reason = Cancelled
	default:
		r.Reason = TimedOut
	}
	for i := range w.state {
		s := &w.state[i]
		s.Attempts = int(w.attempts[i].Load())
		r.Attempts += s.Attempts
		if !s.Healthy && s.Last.IsZero() && r.Reason == TimedOut {
			// The first attempt has not reported yet that it ran out of time.
			s.Last = Cause{Kind: NoAnswer, Span: waited}
		}
	}
	return r
}
