// Package health waits until a service is there.
//
// A Target is probed at once, then every 100 ms for the first 10 s, then ever less often, until it is healthy, a fault
// shows that waiting cannot mend, or the time is up. The time is total: name look-ups, TLS handshakes and slow bodies
// are inside it, and Wait returns within 100 ms of it whatever the peer does. What a peer can make us hold in memory
// is bounded too. All durations run on the monotonic clock.
//
// The package reads no environment and no configuration. Being unhealthy is a Result, not an error.
package health

import (
	"context"
	"crypto/x509"
	"errors"
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

// grace is how long Wait, once decided, lets probes under way close their connections and end their commands.
const grace = 50 * time.Millisecond

// Options says how to wait. The zero value waits for ever, until all targets are healthy.
type Options struct {
	Timeout  time.Duration // bounds everything; 0 or less: for ever
	Interval time.Duration // the longest pause between attempts; 0: DefaultInterval
	Attempt  time.Duration // bounds one attempt, inside Timeout; 0: DefaultAttempt

	Any        bool // one healthy target is enough
	KeepTrying bool // treat faults that look permanent as passing ones

	// Invert waits for the opposite: a target is healthy when a whole attempt finds it not to be there, for any fault that
	// waiting might mend. A faulty certificate and HTTP 401, 403 or 407 show that somebody is still there. What cannot be
	// looked at at all (an unknown task, a command that the shell does not find) stays a permanent fault.
	Invert bool

	// Successes and Stable ask for proof: so many good answers in a row (0: one), and for so long, from the first good
	// answer to the last. Both must hold; a bad answer starts both anew.
	Successes int
	Stable    time.Duration

	HTTP     HTTP
	Insecure bool           // accept any certificate
	CA       *x509.CertPool // trusted instead of the system's authorities; nil: the system's
	MinDays  int            // tls and https: the certificate must be valid for so many days more; 0: today is enough
	File     File           // asked of targets of scheme file
	Tasks    Tasks          // answers for targets of scheme task; nil: they are refused as a permanent fault

	// Observe, if set, is called after each attempt with the index of its target, from the goroutine that called Wait.
	Observe func(i int, r TargetResult)

	// Replaced by tests; nil means the real thing.
	probe  func(context.Context, Target) error
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	random func() float64
}

// HTTP is what is asked of http and https targets. The zero value sends GET and is content with any 2xx.
type HTTP struct {
	Method string         // "": GET
	Header http.Header    // sent with each request; Host replaces the URL's
	Status []StatusRange  // accepted answers; none: 200 to 299, after redirects. A redirect named here is not followed
	Body   *regexp.Regexp // must match the first MiB of the body; nil: the body is not read

	// Proxy chooses a proxy, as http.ProxyFromEnvironment does; nil: none. It is never asked about loopback addresses.
	Proxy func(*http.Request) (*url.URL, error)
}

// File is what is asked of files. The zero value asks only that they exist.
type File struct {
	NonEmpty      bool          // it has at least one byte; a folder has none
	NewerThanFile string        // it was changed after that file; one that is not there is waited for
	Since         time.Time     // it was changed at that instant or later; zero: not asked
	Within        time.Duration // it was changed so long ago or less, by the wall clock; 0: not asked
}

// Tasks knows how tasks end.
type Tasks interface {
	// Outcome says how a task, or one occurrence of it (ID/N), stands. An error is a passing fault.
	Outcome(ctx context.Context, id string) (TaskState, error)
	// Changed gives a channel that signals when an Outcome may have changed; many changes may be one signal. It serves
	// until ctx ends. A channel that is closed, or an error, means that nothing tells: then Outcome is asked now and then.
	Changed(ctx context.Context) (<-chan struct{}, error)
}

// TaskState is how a task stands.
type TaskState struct {
	Known bool   // there is such a task
	Ended bool   // and it will not run again
	OK    bool   // and it ended well
	How   string // how it ended, or stands, in words for a person: "failed, exit code 3"
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
	Streak    int           // good answers in a row so far, see Options.Successes
	LastError string        // why the last whole attempt failed: short, printable; "" when healthy or never tried
	Latency   time.Duration // of the attempt that found it healthy; 0 otherwise
}

// Wait probes the targets, all at the same time, until all are healthy (with Any: one), one has a permanent fault
// (with Any: all have), the time is up or ctx ends. A target once found healthy is not asked again. It returns within
// 100 ms of the time-out or the end of ctx.
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

// waiter is the state of one call of Wait. Only its watch goroutines and the caller's share begun and the channels.
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
	fault   *fault // nil: healthy
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
	if w.probe == nil {
		w.probe = (&prober{o}).probe
	}
	for i, t := range targets {
		w.state[i].Target = t.String()
	}
	return w
}

// watch probes one target until it is healthy, permanently faulty or ctx ends.
func (w *waiter) watch(ctx context.Context, i int) {
	r := report{i: i}
	say := func() {
		select {
		case w.reports <- r:
		case <-w.gone:
		}
	}
	defer func() { r = report{i: i, last: true}; say() }()

	p := pace{longest: w.Interval, random: w.random}
	begin := time.Now()
	due := begin // when the attempt should start: how late it does is not to add up
	for known := false; !over(ctx); known = true {
		w.begun[i].Add(1)
		r.attempt++
		started := time.Now()
		r.fault = w.try(ctx, w.targets[i])
		r.latency = time.Since(started)
		// An attempt that the end of the wait cut short knows less than the one before it.
		r.cut = r.fault != nil && r.fault.late && over(ctx) && (known || errors.Is(ctx.Err(), context.Canceled))
		say()
		if r.fault == nil || r.fault.permanent && !w.KeepTrying {
			return
		}
		now := time.Now()
		pause := max(p.after(due.Sub(begin), now.Sub(due)), r.fault.retryAfter)
		due = now.Add(pause)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// over reports whether ctx has ended, or is about to: a dialler looks at the deadline and may notice before ctx does.
func over(ctx context.Context) bool {
	end, bounded := ctx.Deadline()
	return ctx.Err() != nil || bounded && !time.Now().Before(end)
}

// try makes one attempt. A fault that came of running out of time says how much there was.
func (w *waiter) try(ctx context.Context, t Target) *fault {
	attempt, cancel := context.WithTimeout(ctx, w.Attempt)
	defer cancel()
	began := time.Now()
	end, _ := attempt.Deadline()
	had := end.Sub(began)
	err := w.probe(attempt, t)
	if err == nil {
		return nil
	}
	f := explain(err, answering)
	if f.late {
		if attempt.Err() == nil { // a limit of the system's own, such as the resolver's
			had = time.Since(began)
		}
		f = &fault{text: f.text + " within " + short(had), late: true, rank: f.rank}
	}
	return f
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
	s.Healthy, s.LastError, s.Latency, s.Permanent = r.fault == nil, "", 0, false
	if r.fault == nil {
		s.Latency = r.latency
	} else {
		s.LastError = r.fault.text
		s.Permanent = r.fault.permanent && !w.KeepTrying
	}
	if w.Observe != nil {
		w.Observe(r.i, *s)
	}
}

// tally counts the targets that need no further attempt.
func (w *waiter) tally() (healthy, permanent int) {
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
	healthy, _ := w.tally()
	if w.Any {
		return healthy > 0
	}
	return healthy == len(w.targets)
}

func (w *waiter) permanent() bool {
	_, permanent := w.tally()
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
		if !s.Healthy && s.LastError == "" && r.Reason == TimedOut {
			// The probe is stuck in a system call that cannot be interrupted, such as one on a dead network disk.
			s.LastError = "no answer within " + short(waited)
		}
	}
	return r
}
