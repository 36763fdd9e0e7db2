package health

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// ledger is a Tasks with one task in it.
type ledger struct {
	mu      sync.Mutex
	state   TaskState
	err     error
	asked   int
	watched int
	changed chan struct{} // nil: nothing tells
	block   chan struct{} // nil: Outcome answers at once
}

func (l *ledger) Outcome(_ context.Context, id string) (TaskState, error) {
	l.mu.Lock()
	l.asked++
	state, err, block := l.state, l.err, l.block
	l.mu.Unlock()
	if block != nil {
		<-block
	}
	if id != "k7m2" && id != "k7m2/3" {
		return TaskState{}, nil
	}
	return state, err
}

func (l *ledger) Changed(context.Context) (<-chan struct{}, error) {
	l.watched++ // by one goroutine
	if l.changed == nil {
		return nil, errors.New("nothing to watch with")
	}
	return l.changed, nil
}

// count says how often Outcome was asked since it was last counted anew.
func (l *ledger) count(anew bool) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.asked
	if anew {
		l.asked = 0
	}
	return n
}

func (l *ledger) set(s TaskState) {
	l.mu.Lock()
	l.state = s
	l.mu.Unlock()
}

func TestTaskStates(t *testing.T) {
	ok := TaskState{Known: true, Ended: true, OK: true}
	failed := TaskState{Known: true, Ended: true, How: "failed, exit code 3"}
	for _, test := range []struct {
		name      string
		target    string
		tasks     Tasks
		invert    bool
		want      string
		permanent bool
	}{
		{"ended well", "task:k7m2", &ledger{state: ok}, false, "", false},
		{"an occurrence", "task:k7m2/3", &ledger{state: ok}, false, "", false},
		{"not ended", "task:k7m2", &ledger{state: TaskState{Known: true}}, false, "has not ended", false},
		{"failed", "task:k7m2", &ledger{state: failed}, false, "failed, exit code 3", true},
		{"failed in an ugly way", "task:k7m2", &ledger{state: TaskState{Known: true, Ended: true, How: "a\x1b[2J\nb"}}, false, "a [2J b", true},
		{"failed without a word", "task:k7m2", &ledger{state: TaskState{Known: true, Ended: true}}, false, "has failed", true},
		{"unknown", "task:zzzz", &ledger{state: ok}, false, "no such task", true},
		{"cannot be read", "task:k7m2", &ledger{err: errors.New("the state is busy")}, false, "the state is busy", false},
		{"nobody to ask", "task:k7m2", nil, false, "tasks cannot be looked at here", true},
		{"not ended, inverted", "task:k7m2", &ledger{state: TaskState{Known: true}}, true, "has not ended", false},
		{"failed, inverted", "task:k7m2", &ledger{state: failed}, true, "", false},
		{"ended well, inverted", "task:k7m2", &ledger{state: ok}, true, "has ended well", true},
		{"unknown, inverted", "task:zzzz", &ledger{state: ok}, true, "no such task", true},
		{"cannot be read, inverted", "task:k7m2", &ledger{err: errors.New("the state is busy")}, true, "the state is busy", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := once(t, Options{Tasks: test.tasks, Invert: test.invert}, test.target)
			if r.Last.String() != test.want || r.Permanent != test.permanent || r.Healthy != (test.want == "") {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// TestTaskIsNotPolled counts the questions while nothing happens, and after something has.
func TestTaskIsNotPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{state: TaskState{Known: true}, changed: make(chan struct{}, 1)}
		done := make(chan Result)
		go func() { done <- Wait(t.Context(), mustParse(t, "task:k7m2"), Options{Tasks: l}) }()
		time.Sleep(recheckEvery - time.Millisecond)
		synctest.Wait()
		if n := l.count(false); n != 1 {
			t.Errorf("asked %d times before anything changed", n)
		}
		l.changed <- struct{}{} // of another task
		synctest.Wait()
		if n := l.count(false); n != 2 {
			t.Errorf("asked %d times after one change", n)
		}
		time.Sleep(10*recheckEvery + time.Second) // in case nothing was told
		synctest.Wait()
		if n := l.count(false); n != 12 {
			t.Errorf("asked %d times in five minutes of silence", n)
		}
		l.set(TaskState{Known: true, Ended: true, OK: true})
		changed := time.Now()
		l.changed <- struct{}{}
		r := <-done
		if took := time.Since(changed); !r.Healthy || took != 0 {
			t.Errorf("noticed after %v: %+v", took, r)
		}
	})
}

// TestTasksShareAWatch: each change makes all of them looked at.
func TestTasksShareAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{state: TaskState{Known: true}, changed: make(chan struct{}, 1)}
		done := make(chan Result)
		go func() { done <- Wait(t.Context(), mustParse(t, "task:k7m2", "task:k7m2/3"), Options{Tasks: l}) }()
		for range 3 {
			time.Sleep(time.Second)
			synctest.Wait()
			if n := l.count(true); n != 2 {
				t.Errorf("asked %d times of 2 tasks", n)
			}
			l.changed <- struct{}{}
		}
		l.set(TaskState{Known: true, Ended: true, OK: true})
		l.changed <- struct{}{}
		if r := <-done; !r.Healthy || l.watched != 1 {
			t.Errorf("%d watches: %+v", l.watched, r)
		}
	})
}

// TestManyRingsAreFewQuestions: a store that changes all the time is not asked all the time.
func TestManyRingsAreFewQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{state: TaskState{Known: true}, changed: make(chan struct{})}
		go func() {
			for {
				select {
				case l.changed <- struct{}{}:
				case <-t.Context().Done():
					return
				}
				select { // the clock stands when the test has ended, so no sleep would
				case <-time.After(time.Millisecond):
				case <-t.Context().Done():
					return
				}
			}
		}()
		r := Wait(t.Context(), mustParse(t, "task:k7m2"), Options{Tasks: l, Timeout: time.Second})
		if r.Attempts != 10 { // each 100 ms
			t.Errorf("%d attempts", r.Attempts)
		}
	})
}

// TestTaskIsPolledWhenNothingTells has a store that cannot watch, one that ceases to, and one that cannot be read.
func TestTaskIsPolledWhenNothingTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := make(chan struct{})
		close(closed)
		for name, l := range map[string]*ledger{
			"cannot watch": {state: TaskState{Known: true}},
			"has ceased":   {state: TaskState{Known: true}, changed: closed},
			"an error":     {err: errors.New("the state is busy"), changed: make(chan struct{})},
		} {
			r := Wait(t.Context(), mustParse(t, "task:k7m2"), Options{Tasks: l, Timeout: 3 * time.Second})
			if r.Attempts < 10 || r.Attempts > 31 {
				t.Errorf("%s: %d attempts in 3 s", name, r.Attempts)
			}
		}
	})
}

// TestLookThatHangs: an attempt is bounded although what it does is not, and what hangs is not piled up.
func TestLookThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{state: TaskState{Known: true, Ended: true, OK: true}, block: make(chan struct{})}
		for _, invert := range []bool{false, true} {
			l.count(true)
			r := Wait(t.Context(), mustParse(t, "task:k7m2"), Options{Tasks: l, Invert: invert, Attempt: time.Second, Timeout: 10 * time.Second})
			if r.Reason != TimedOut || r.Waited != 10*time.Second || r.Targets[0].Last.String() != "no answer within 1s" {
				t.Errorf("inverted %v: %+v", invert, r)
			}
			if n := l.count(false); n != 1 || r.Attempts < 9 {
				t.Errorf("inverted %v: asked %d times in %d attempts", invert, n, r.Attempts)
			}
		}
		time.AfterFunc(2500*time.Millisecond, func() { close(l.block) })
		l.count(true)
		r := Wait(t.Context(), mustParse(t, "task:k7m2"), Options{Tasks: l, Attempt: time.Second, Timeout: 10 * time.Second})
		if n := l.count(false); !r.Healthy || n != 2 {
			t.Errorf("it answers again: asked %d times, %+v", n, r)
		}
	})
}
