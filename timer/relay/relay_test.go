package relay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
)

// page is a stream in memory.
type page struct {
	state.Stream
	mu   sync.Mutex
	text []byte
}

func (p *page) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = append(p.text, text...)
}

// empty has it written anew.
func (p *page) empty() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = nil
}

// giveUp reads as zeros from then on.
func (p *page) giveUp(from, to int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.text[from:to])
}

func (p *page) Open(context.Context) (state.StreamReader, error) { return opened{page: p}, nil }

type opened struct {
	io.Reader
	*page
}

func (o opened) ReadAt(to []byte, at int64) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if at >= int64(len(o.text)) {
		return 0, io.EOF
	}
	return copy(to, o.text[at:]), nil
}

func (o opened) Size() (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return int64(len(o.text)), nil
}

func (opened) Close() error { return nil }

// nothing is a stream of which nothing is kept.
type nothing struct{ state.Stream }

func (nothing) Open(context.Context) (state.StreamReader, error) { return nil, fs.ErrNotExist }

// reader is a sink that somebody reads, or does not.
type reader struct {
	stuck chan struct{} // until it is closed, nothing is taken; nil: all is

	mu    sync.Mutex
	text  bytes.Buffer
	wrong error
}

func (r *reader) Append(to []byte, p Piece) []byte {
	switch {
	case p.Run == "":
		return fmt.Appendf(to, "%d bytes of %d runs lost\n", p.Lost, p.Runs)
	case p.Lost > 0:
		return fmt.Appendf(to, "%s %s at %d: %d bytes lost\n", p.Run, p.Stream, p.From, p.Lost)
	case p.More:
		return fmt.Appendf(to, "%s %s+%s\n", p.Run, p.Stream, p.Text)
	}
	return fmt.Appendf(to, "%s %s:%s\n", p.Run, p.Stream, bytes.TrimSuffix(p.Text, []byte("\n")))
}

func (r *reader) Write(text []byte) error {
	if r.stuck != nil {
		<-r.stuck
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text.Write(text)
	return r.wrong
}

func (r *reader) read() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

func (r *reader) wants(t *testing.T, lines ...string) {
	t.Helper()
	want := strings.Join(lines, "\n") + "\n"
	if len(lines) == 0 {
		want = ""
	}
	if got := r.read(); got != want {
		t.Errorf("it reads\n%swant\n%s", got, want)
	}
	r.mu.Lock()
	r.text.Reset()
	r.mu.Unlock()
}

// begin makes a relay in a bubble.
func begin(t *testing.T, to Sink) *Relay {
	return New(clocktest.Bubble{}, to, func(err error) { t.Errorf("it was ended by %v", err) })
}

func follow(t *testing.T, r *Relay, number int, stdout, stderr state.Stream) *Run {
	t.Helper()
	run, err := r.Follow(t.Context(), "k7m2", number, stdout, stderr, false)
	if err != nil {
		t.Error(err)
	}
	return run
}

// soon lets the relay have as many looks as it needs.
func soon() { time.Sleep(2 * maxPoll); synctest.Wait() }

func TestWhatRunsWriteIsPassedOnAsItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var to reader
		r := begin(t, &to)
		out, errs, other := new(page), new(page), new(page)
		one, two := follow(t, r, 1, out, errs), follow(t, r, 2, other, nothing{})
		soon()
		to.wants(t)
		out.write("one\ntwo\nthr")
		errs.write("oh\n")
		other.write("beside it\n")
		soon()
		to.wants(t, "k7m2/1 stdout:one", "k7m2/1 stdout:two", "k7m2/1 stderr:oh", "k7m2/2 stdout:beside it")
		out.write("ee\n")
		soon()
		to.wants(t, "k7m2/1 stdout:three")
		out.write("name? ")
		soon()
		to.wants(t) // it may go on
		time.Sleep(2 * maxHold)
		synctest.Wait()
		to.wants(t, "k7m2/1 stdout+name? ")
		out.write("Ann\nlast")
		one.End()
		two.End()
		synctest.Wait() // without another look at a file
		to.wants(t, "k7m2/1 stdout:Ann", "k7m2/1 stdout:last")
		out.write("too late\n")
		soon()
		to.wants(t)
		r.Close(t.Context())
		if r.ended != 0 || r.memory != 0 || r.files != 0 || len(r.streams) != 0 {
			t.Errorf("room is taken for nothing: %d streams, %d bytes, %d files, %d in all", r.ended, r.memory, r.files, len(r.streams))
		}
	})
}

// A run that another runner has begun is passed on from where it stands, and one that is written anew from its beginning.
func TestWhereTheCopyBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var to reader
		r := begin(t, &to)
		out := new(page)
		out.write("before\n")
		if _, err := r.Follow(t.Context(), "k7m2", 1, out, nothing{}, true); err != nil {
			t.Error(err)
		}
		soon()
		out.write("after\n")
		soon()
		to.wants(t, "k7m2/1 stdout:after")
		out.write("half")
		soon()
		out.empty()
		out.write("anew\n")
		soon()
		to.wants(t, "k7m2/1 stdout:half", "k7m2/1 stdout:anew")
		out.write("and so ")
		r.Close(t.Context()) // it goes on without us
		to.wants(t, "k7m2/1 stdout:and so ")
		if run, err := r.Follow(t.Context(), "k7m2", 2, out, nothing{}, false); run != nil || err != nil {
			t.Errorf("after its end %v is followed: %v", run, err)
		}
	})
}

func TestNilCopiesNothing(t *testing.T) {
	var r *Relay
	run, err := r.Follow(t.Context(), "k7m2", 1, nothing{}, nothing{}, false)
	bounded := false
	run.Bound(1, func() [2]int64 { bounded = true; return [2]int64{} })
	run.End()
	if left := r.Close(t.Context()); run != nil || err != nil || left != 0 || !bounded {
		t.Error(run, err, left, bounded)
	}
}

// What is given up before it was read is counted, in its place; zeros are never passed on.
func TestWhatIsGivenUpIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := reader{stuck: make(chan struct{})}
		r := begin(t, &to)
		out := new(page)
		run := follow(t, r, 1, out, nothing{})
		line := strings.Repeat("x", 99) + "\n"
		out.write(line)
		soon() // it is stuck with the first line
		out.write(strings.Repeat(line, 9999))
		const head, upTo = 300, 900_050
		run.Bound(head, func() [2]int64 { out.giveUp(head, upTo); return [2]int64{upTo, 0} })
		close(to.stuck)
		soon()
		got := strings.Split(strings.TrimSuffix(to.read(), "\n"), "\n")
		if want := "k7m2/1 stdout at 300: 899750 bytes lost"; len(got) < 5 || got[3] != want || got[4] != "k7m2/1 stdout:"+line[50:99] {
			t.Errorf("%d lines, the first %.300q, want %q", len(got), got[:min(5, len(got))], want)
		}
		if len(got) != 4+1000 || strings.Contains(to.read(), "\x00") {
			t.Errorf("%d lines", len(got))
		}
		run.End()
		r.Close(t.Context())
	})
}

// A reader that takes nothing holds up nobody, and what waits for it is bounded. What is left out is said.
func TestAStuckReaderHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := reader{stuck: make(chan struct{})}
		r := begin(t, &to)
		first := new(page)
		first.write("first\n")
		follow(t, r, 1, first, nothing{}).End()
		soon()
		began := time.Now()
		text := strings.Repeat(strings.Repeat("y", 999)+"\n", 200)
		const runs = 50
		for i := range runs {
			out, errs := new(page), new(page)
			out.write(text)
			errs.write(text + text) // too long for the memory: it stays in its file
			follow(t, r, 2+i, out, errs).End()
		}
		if time.Since(began) != 0 {
			t.Errorf("the runs waited for %v", time.Since(began))
		}
		if r.memory > maxMemory || r.files > maxFiles {
			t.Errorf("%d bytes and %d files wait", r.memory, r.files)
		}
		close(to.stuck)
		if left := r.Close(t.Context()); left != 0 {
			t.Errorf("%d bytes are left", left)
		}
		got := to.read()
		kept, files := maxMemory/len(text), maxFiles
		if n := strings.Count(got, "stdout:y"); n != 200*kept {
			t.Errorf("%d lines of standard output, want %d", n, 200*kept)
		}
		if n := strings.Count(got, "stderr:y"); n != 400*files {
			t.Errorf("%d lines of standard error, want %d", n, 400*files)
		}
		lost := (runs-kept)*len(text) + (runs-files)*2*len(text)
		if want := fmt.Sprintf("%d bytes of %d runs lost\n", lost, runs-files); strings.Count(got, "lost") != 1 || !strings.Contains(got, want) {
			t.Errorf("it does not say %q", want)
		}
		if r.ended != 0 || r.memory != 0 || r.files != 0 {
			t.Errorf("room is taken for nothing: %d streams, %d bytes, %d files", r.ended, r.memory, r.files)
		}
	})
}

// Streams that had nothing to say are not gathered without bound, either.
func TestAStuckReaderAndManyQuietRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := reader{stuck: make(chan struct{})}
		r := begin(t, &to)
		out := new(page)
		out.write("first\n")
		follow(t, r, 1, out, nothing{})
		soon()
		for i := range 2 * maxEnded {
			follow(t, r, 2+i, new(page), new(page)).End()
		}
		if len(r.streams) > maxEnded+1 {
			t.Errorf("%d streams wait", len(r.streams))
		}
		close(to.stuck)
		r.Close(t.Context())
		to.wants(t, "k7m2/1 stdout:first")
	})
}

// A reader that has gone ends the copying, and is told of once.
func TestAReaderThatHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := reader{wrong: errors.New("broken pipe")}
		told := 0
		r := New(clocktest.Bubble{}, &to, func(err error) {
			if told++; err != to.wrong {
				t.Error(err)
			}
		})
		out := new(page)
		run := follow(t, r, 1, out, new(page))
		out.write("one\n")
		soon()
		out.write("two\n")
		run.Bound(1, func() [2]int64 { return [2]int64{} })
		run.End()
		if again := follow(t, r, 2, out, out); again != nil {
			t.Error("another one is followed")
		}
		if left := r.Close(t.Context()); left != 0 || told != 1 || strings.Contains(to.read(), "two") {
			t.Errorf("%d bytes are left, told %d times: %s", left, told, to.read())
		}
	})
}

// A relay that may not wait any longer says how much was not passed on.
func TestCloseDoesNotWaitForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := reader{stuck: make(chan struct{})}
		r := begin(t, &to)
		out := new(page)
		out.write("one\n")
		run := follow(t, r, 1, out, nothing{})
		soon()
		out.write("two\nthree")
		run.End()
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		if left := r.Close(ctx); left != int64(len("two\nthree")) {
			t.Errorf("%d bytes are left", left)
		}
		close(to.stuck)
		<-r.done
		to.wants(t, "k7m2/1 stdout:one")
	})
}

// Real files, many runs and a reader that takes its time: every line comes, whole, in the order of its stream.
func TestEveryLineOfManyRuns(t *testing.T) {
	var to reader
	r := New(clocktest.Bubble{}, &to, func(err error) { t.Error(err) })
	dir := t.TempDir()
	var all sync.WaitGroup
	const runs, lines = 8, 2000
	for n := range runs {
		all.Go(func() {
			path := fmt.Sprint(dir, "/", n)
			f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			run := follow(t, r, n, file(path), nothing{})
			for i := range lines {
				fmt.Fprintf(f, "line %d of ", i)
				fmt.Fprintf(f, "%d\n", n)
			}
			run.End()
			if err := os.Truncate(path, 0); err != nil { // as the next attempt does
				t.Error(err)
			}
		})
	}
	all.Wait()
	r.Close(t.Context())
	got := to.read()
	if n := strings.Count(got, "\n"); n != runs*lines {
		t.Errorf("%d lines", n)
	}
	next := map[string]int{}
	for line := range strings.Lines(got) {
		var i, n, run int
		if _, err := fmt.Sscanf(line, "k7m2/%d stdout:line %d of %d\n", &run, &i, &n); err != nil || run != n || next[fmt.Sprint(n)] != i {
			t.Fatalf("%q: %v", line, err)
		}
		next[fmt.Sprint(n)]++
	}
}

// A run whose two streams are both left out is one run.
func TestCloseCountsRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := reader{stuck: make(chan struct{})}
		r := begin(t, &to)
		out, errs := new(page), new(page)
		follow(t, r, 1, out, errs)
		out.write("one\n")
		soon() // the reader is stuck
		out.write("two\n")
		errs.write("three\n")
		r.mu.Lock()
		r.ended = maxEnded // no room for the rest of either
		r.mu.Unlock()
		go func() { time.Sleep(time.Second); close(to.stuck) }()
		r.Close(t.Context())
		to.wants(t, "k7m2/1 stdout:one", "10 bytes of 1 runs lost")
	})
}

// odd is a stream whose size nobody can tell.
type odd struct {
	page
	closed int
}

func (o *odd) Open(context.Context) (state.StreamReader, error) { return oddReader{odd: o}, nil }

type oddReader struct {
	state.StreamReader
	*odd
}

func (oddReader) Size() (int64, error) { return 0, errors.New("no size") }
func (o oddReader) Close() error       { o.closed++; return nil }

func TestWhatCannotBeFollowedIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := begin(t, new(reader))
		defer r.Close(t.Context())
		of := new(odd)
		if _, err := r.Follow(t.Context(), "k7m2", 1, of, nothing{}, true); err == nil || of.closed != 1 {
			t.Errorf("%v, closed %d times", err, of.closed)
		}
	})
}

// file is a stream in a file.
type file string

func (f file) Create(context.Context) (*os.File, error)                 { panic("not here") }
func (f file) Append(context.Context, string) error                     { panic("not here") }
func (f file) Bound(_, _, from int64) (int64, error)                    { return from, nil }
func (f file) Trim(context.Context, int64, int64) (state.Output, error) { panic("not here") }
func (f file) Own(context.Context, *os.File, int64) (bool, error)       { panic("not here") }
func (f file) Drop(context.Context) error                               { panic("not here") }
func (f file) Where() string                                            { return string(f) }

func (f file) Open(context.Context) (state.StreamReader, error) {
	o, err := os.Open(string(f))
	return sized{o}, err
}

type sized struct{ *os.File }

func (s sized) Size() (int64, error) {
	info, err := s.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
