// Package health waits until a service is there: a server (http, https, tcp, tls, unix), a name
// (dns), a file, a process (pid), the end of a task of ours (task), or whatever a command can tell
// (exec). Inverted, it waits until they are gone.
//
// A Target is probed at once, then every 100 ms for the first 10 s, then ever less often, until it
// is healthy, a fault shows that waiting cannot mend, or the time is up. The time is total: name
// look-ups, TLS handshakes and slow bodies are inside it, and Wait returns within 100 ms of it
// whatever the peer does. What a peer can make us hold in memory is bounded too. Durations run on
// the monotonic clock; the age of a file and the end of a certificate are of the wall clock.
//
// What is told is not polled for: the end of a process, and the end of a task. Then an attempt is
// made when something has changed, and every 30 s in case something was not told.
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
	"sync/atomic"
	"time"
)

// Defaults for Options left zero.
const (
	DefaultInterval = 2 * time.Second
	DefaultAttempt  = 5 * time.Second
)

// grace is how long Wait, once decided, lets probes under way close their connections and end their
// commands.
const grace = 50 * time.Millisecond

// Options says how to wait. The zero value waits for ever, until all targets are healthy.
type Options struct {
	Timeout time.Duration // bounds everything; 0 or less: for ever
	// the longest pause between attempts that nothing tells; 0: DefaultInterval
	Interval time.Duration
	Attempt  time.Duration // bounds one attempt, inside Timeout; 0: DefaultAttempt

	Any        bool // one healthy target is enough
	KeepTrying bool // treat faults that look permanent as passing ones

	// Invert waits for the opposite: a target is healthy when a whole attempt finds it not to be
	// there, for any fault that waiting might mend. A faulty certificate and HTTP 401, 403 or 407
	// show that somebody is still there. What cannot be looked at at all (an unknown task, a
	// command that the shell does not find, a proxy that wants a password) stays a permanent fault,
	// and one that says nothing about the target (no permission, a disk that hangs, a name server,
	// a network or a proxy that is down) a passing one. So does, of tcp and unix, a connection that
	// neither comes about nor is refused; an http server or a command that gives no answer in the
	// time of an attempt is gone.
	Invert bool

	// Successes and Stable ask for proof: so many good answers in a row (0: one), and for so long,
	// from the first good answer to the last. Both must hold; a bad answer starts both anew.
	Successes int
	Stable    time.Duration

	Docker   string // where Docker listens, as DOCKER_HOST has it; "": at its usual socket
	HTTP     HTTP
	Insecure bool           // accept any certificate
	CA       *x509.CertPool // trusted instead of the system's authorities; nil: the system's
	// tls and https: the certificate must be valid for so many days more; 0: today is enough
	MinDays int
	File    File // asked of targets of scheme file
	// answers for targets of scheme task; nil: they are refused as a permanent fault
	Tasks Tasks

	Env []string // of the commands of scheme exec; nil: that of this process

	// Observe, if set, is called after each attempt with the index of its target, from the
	// goroutine that called Wait.
	Observe func(i int, r TargetResult)

	// Replaced by tests; nil means the real thing.
	probe  func(context.Context, Target) error
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	random func() float64
}

// HTTP is what is asked of http and https targets. The zero value sends GET and is content with any
// 2xx.
type HTTP struct {
	Method string // "": GET

	// Header is sent with each request; Host replaces the URL's. Once a redirect leads to another
	// host or port, or from https to http, only Accept and User-Agent are sent, so that no secret
	// gets to whoever is there.
	Header http.Header

	// accepted answers; none: 200 to 299, after redirects. A redirect named here is not followed
	Status []StatusRange
	Body   *regexp.Regexp // must match the first MiB of the body; nil: it is not read for that
	JSON   []JSONMatch    // must all hold for the body, of a MiB at most

	// Proxy chooses a proxy, as http.ProxyFromEnvironment does; nil: none. It is never asked about
	// loopback addresses.
	Proxy func(*http.Request) (*url.URL, error)
}

// File is what is asked of files. The zero value asks only that they exist.
type File struct {
	NonEmpty bool // it has at least one byte; a folder has none
	// it was changed after that file; one that is not there is waited for
	NewerThanFile string
	Since         time.Time // it was changed at that instant or later; zero: not asked
	// it was changed so long ago or less, by the wall clock; 0: not asked
	Within time.Duration
}

// Tasks knows how tasks end.
type Tasks interface {
	// Outcome says how a task, or one occurrence of it (ID/N), stands. An error is a passing fault.
	Outcome(ctx context.Context, id string) (TaskState, error)
	// Changed gives a channel that signals when an Outcome may have changed; many changes may be
	// one signal. It serves until ctx ends. A channel that is closed, or an error, means that
	// nothing tells: then Outcome is asked now and then.
	Changed(ctx context.Context) (<-chan struct{}, error)
}

// TaskState is how a task stands.
type TaskState struct {
	Known bool   // there is such a task
	Ended bool   // and it will not run again
	OK    bool   // and it ended well
	How   string // how it ended, or stands, in words for a person: "failed, exit code 3"
	// FromOne or OnlyOnce: it is not an occurrence that could come; Stranded beside an error; else
	// empty
	Why Kind
}

// StatusRange is an inclusive range of HTTP status codes.
type StatusRange struct{ From, To int }

// Reason says why a wait ended without health.
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
	Targets  []TargetResult // in the order given
}

// TargetResult is one target's part.
type TargetResult struct {
	Target    string
	Healthy   bool
	Permanent bool // the last fault was permanent and ended the attempts
	Attempts  int
	Streak    int // good answers in a row so far, see Options.Successes
	// why the last whole attempt failed, or how much proof is there; zero when healthy or never
	// tried
	Last Cause
	// with Invert, what the last whole attempt found instead of the target: Refused; zero when it
	// is there
	Seen    Cause
	Latency time.Duration // of the attempt that found it healthy; 0 otherwise
}

// Wait probes the targets, all at the same time, until all are healthy (with Any: one), one has a
// permanent fault (with Any: all have), the time is up or ctx ends. A target once found healthy is
// not asked again. It returns within 100 ms of the time-out or the end of ctx.
func Wait(ctx context.Context, targets []Target, o Options) Result {
	start := time.Now()
	bounded, cancel := context.WithCancel(ctx)
	defer cancel()
	if o.Timeout > 0 {
		bounded, cancel = context.WithTimeout(bounded, o.Timeout)
		defer cancel()
	}

	w := newWaiter(targets, o)
	defer close(w.gone)
	for i := range targets {
		go w.watch(bounded, i)
	}
	for !w.settled() && w.running > 0 {
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

// waiter is the state of one call of Wait. Only its watch goroutines and the caller's share begun
// and the channels.
type waiter struct {
	Options
	targets []Target
	state   []TargetResult
	begun   []atomic.Int64 // attempts started
	running int            // watch goroutines that have not said goodbye
	reports chan report
	gone    chan struct{} // closed when nobody reads reports any more
}

// report is what a watch goroutine says after an attempt. One with last set is its goodbye.
type report struct {
	i       int
	attempt int
	latency time.Duration
	fault   *fault // nil: a good answer
	seen    Cause  // with Invert: what makes the answer good
	streak  int    // good answers in a row
	proven  bool   // enough of them
	proof   Cause  // what is still missing, when the answer is good but not proven
	cut     bool   // ended by the end of the wait: says nothing about the target
	last    bool
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
		Options: o,
		targets: targets,
		state:   make([]TargetResult, len(targets)),
		begun:   make([]atomic.Int64, len(targets)),
		running: len(targets),
		reports: make(chan report),
		gone:    make(chan struct{}),
	}
	for i, t := range targets {
		w.state[i].Target = t.String()
	}
	return w
}

// take applies a report.
func (w *waiter) take(r report) {
	if r.last {
		w.running--
		return
	}
	s := &w.state[r.i]
	s.Attempts = r.attempt
	if r.cut {
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

// counts counts the targets that need no further attempt.
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

func (w *waiter) settled() bool { return w.healthy() || w.permanent() }

// result sums up. ctx is the caller's: its end is told apart from the time-out.
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
		s.Attempts = int(w.begun[i].Load())
		r.Attempts += s.Attempts
		if !s.Healthy && s.Last.IsZero() && r.Reason == TimedOut {
			// The first attempt has not even said that it ran out of time.
			s.Last = Cause{Kind: NoAnswer, Span: waited}
		}
	}
	return r
}
