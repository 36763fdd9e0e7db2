package health

import (
	"context"
	"time"

	"github.com/ouro-timer/ouro-timer/timer/proc"
)

const (
	// unasked is how often a target is looked at although nothing tells of a change.
	unasked = 30 * time.Second
	// leastCalm is the time between attempts that a bell asks for, and mostCalm what it grows to for a bell that rings all
	// the time, as that of a growing log does.
	leastCalm = 20 * time.Millisecond
	mostCalm  = 500 * time.Millisecond
)

// looker makes the attempts on one target, one at a time, and knows what makes the next one worth it. All but close is
// for one goroutine.
type looker struct {
	prober
	target Target
	life   context.Context // of the whole wait

	bell  <-chan struct{} // rings when the answer may have changed; nil: nothing tells
	told  bool            // the last answer will not change without the bell
	turns time.Time       // but then at the latest, by the passing of time alone; zero: never

	watch *folders      // file and unix: what rings the bell; nil where nothing can
	id    proc.Identity // pid: the process that the number meant when it was first seen
	asked bool          // task: somebody was asked to tell of changes
	stuck <-chan view   // a look that has outlasted its attempt
}

// view is what a look found, and what it learnt about the next one.
type view struct {
	err   error
	told  bool
	turns time.Time
	bell  <-chan struct{} // nil: the same as before
}

func newLooker(ctx context.Context, o Options, t Target) *looker {
	l := &looker{prober: prober{o}, target: t, life: ctx}
	if o.probe == nil && (t.scheme == "file" || t.scheme == "unix") {
		paths := []string{t.arg}
		if t.scheme == "file" && o.File.NewerThanFile != "" {
			paths = append(paths, o.File.NewerThanFile)
		}
		if l.watch = newFolders(paths, o.File != File{} && t.scheme == "file"); l.watch != nil {
			l.bell = l.watch.bell
		}
	}
	return l
}

// look makes one attempt.
func (l *looker) look(ctx context.Context) error {
	l.told, l.turns = false, time.Time{}
	switch {
	case l.Options.probe != nil:
		return l.Options.probe(ctx, l.target)
	case l.target.scheme == "file":
		return l.detached(ctx, l.file)
	case l.target.scheme == "unix":
		return l.detached(ctx, func() view { return l.socket(ctx) })
	case l.target.scheme == "task":
		first := !l.asked
		l.asked = true
		return l.detached(ctx, func() view { return l.task(ctx, first) })
	case l.target.scheme == "pid":
		return l.process()
	}
	return l.probe(ctx, l.target)
}

// patience is how long an answer that the bell will tell of may be taken for granted.
func (l *looker) patience(now time.Time) time.Duration {
	if l.turns.IsZero() {
		return unasked
	}
	return min(max(l.turns.Sub(now), leastCalm), unasked)
}

// detached makes a look that cannot be interrupted, such as one at a disk that hangs. While one hangs no other is made:
// it may hold a thread.
func (l *looker) detached(ctx context.Context, look func() view) error {
	late := func() error { return &fault{text: answering.missing(), late: true, unseen: true, rank: silent} }
	if l.stuck != nil {
		select {
		case v := <-l.stuck:
			l.stuck = nil
			l.learn(v)
		case <-ctx.Done():
			return late()
		}
	}
	done := make(chan view, 1)
	go func() { done <- look() }()
	select {
	case v := <-done:
		l.learn(v)
		l.told, l.turns = v.told, v.turns
		return v.err
	case <-ctx.Done():
		l.stuck = done
		return late()
	}
}

func (l *looker) learn(v view) {
	if v.bell != nil {
		l.bell = v.bell
	}
}

// close gives back what the looker holds, in a while: the kernel takes its time to end a watch, and a look may hang.
func (l *looker) close() {
	if l.watch == nil {
		return
	}
	go func() {
		if l.stuck != nil {
			<-l.stuck
		}
		l.watch.close()
	}()
}
