// Package relay copies what commands write, while they write it, to a reader that may be slow, or
// may not read at all.
//
// Commands write to files, and a Relay reads these. So it delays no command, and the files are the
// buffer when the reader does not read. They are kept small all the same. What is dropped from them
// before it was read is left out; the relay counts it and says so in its place.
//
// What it copies is whole lines, one run after the other: see Piece.
package relay

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/timer/clock"
)

// Piece is a line that a run has written, or a part of a long one, or a report of what was left
// out.
type Piece struct {
	Run    string // the occurrence
	Task   string
	Stream string // stdout or stderr
	From   int64  // where it begins in the stream
	// Text ends with the line feed of its line. Without one, the line goes on in the next piece of
	// the stream (More), or has no line feed.
	Text []byte
	More bool
	// Lost is how many bytes are left out here; then there is no text. Without a Run, it is the sum
	// for Runs runs that have ended.
	Lost int64
	Runs int
}

// Sink takes the pieces, from one goroutine.
type Sink interface {
	// Append appends a piece in the form in which it is written.
	Append(to []byte, p Piece) []byte
	// Write writes pieces. It may block, which delays only the copying. An error ends the copying.
	Write(text []byte) error
}

const (
	// chunk is how much is read at once.
	chunk = 64 << 10
	// minPoll and maxPoll bound the pause between two reads of files that do not grow.
	minPoll, maxPoll = 2 * time.Millisecond, 100 * time.Millisecond
	// maxHold is how long an incomplete line, such as a question, is kept back.
	maxHold = time.Second
)

// How much of ended runs may wait to be read. Beyond that, it is left out.
const (
	// of one stream, in memory; a longer rest stays in its file, which nobody writes again
	maxRest   = 256 << 10
	maxMemory = 4 << 20 // of all
	maxFiles  = 16      // that are kept open
	maxEnded  = 1024    // streams
)

// Relay copies what runs write. All methods may be called on nil, which copies nothing, and from
// any goroutine.
type Relay struct {
	awake clock.Clock
	to    Sink
	over  func(error)

	wake chan struct{} // something has changed
	done chan struct{} // closed when the copying has ended

	mu      sync.Mutex
	streams []*stream
	closing bool
	failed  bool
	ended   int   // streams of runs that have ended
	memory  int64 // bytes of their rests in memory
	files   int   // their files that are open
	lost    int64 // bytes of ended runs that were left out and not reported yet
	runs    int   // the number of these runs
}

// New makes a relay to a sink. over is called once, with the error of the sink that ended the
// copying.
func New(awake clock.Clock, to Sink, over func(error)) *Relay {
	r := &Relay{awake: awake, to: to, over: over, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go r.work()
	return r
}

// Run is a run that is copied. Nil is one that is not copied.
type Run struct {
	relay   *Relay
	streams []*stream
}

// Follow begins to copy the standard output and the standard error of a run. With late, what it has
// written before is left out silently. With an error, it copies the stream that could be opened, if
// any.
func (r *Relay) Follow(ctx context.Context, task string, number int, stdout, stderr state.Stream, late bool) (*Run, error) {
	if r == nil {
		return nil, nil
	}
	run := &Run{relay: r}
	var errs error
	for i, from := range []state.Stream{stdout, stderr} {
		file, err := from.Open(ctx)
		if errors.Is(err, fs.ErrNotExist) { // nothing of it is kept
			continue
		}
		var at int64
		if err == nil && late {
			if at, err = file.Size(); err != nil {
				file.Close()
			}
		}
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		about := Piece{Run: state.OccurrenceID(task, number), Task: task, Stream: [...]string{"stdout", "stderr"}[i]}
		run.streams = append(run.streams, &stream{Piece: about, file: file, at: at, end: -1, lines: lines{from: at}})
	}
	r.mu.Lock()
	if r.failed || r.closing {
		r.mu.Unlock()
		for _, s := range run.streams {
			s.file.Close()
		}
		return nil, nil
	}
	r.streams = append(r.streams, run.streams...)
	r.mu.Unlock()
	r.signal()
	return run, errs
}

// Bound calls give, which may drop what lies between the first head bytes of an output of the run
// and the position that it returns for it. Nothing of the run is read meanwhile, and nothing of
// that part afterwards.
func (run *Run) Bound(head int64, give func() (upTo [2]int64)) {
	if run == nil {
		give()
		return
	}
	for _, s := range run.streams {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	upTo := give()
	for _, s := range run.streams {
		s.head, s.gone = head, upTo[0]
		if s.Stream == "stderr" {
			s.gone = upTo[1]
		}
	}
}

// End says that the run has ended. Its files may then be trimmed, removed or written again: the
// relay has kept what it had not read.
func (run *Run) End() {
	if run == nil {
		return
	}
	var lost int64
	for _, s := range run.streams {
		lost += s.finish(run.relay)
	}
	run.relay.countLost(lost)
	run.relay.signal()
}

// countLost counts a run of which so many bytes are left out; 0: none.
func (r *Relay) countLost(lost int64) {
	if lost == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost += lost
	r.runs++
}

// Close ends the copying when all that was written so far is copied, or when ctx ends. It returns
// how many bytes were not copied.
func (r *Relay) Close(ctx context.Context) (left int64) {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	r.closing = true
	rest := slices.Clone(r.streams)
	r.mu.Unlock()
	lost := map[string]int64{} // by run
	for _, s := range rest {   // including runs that go on without this runner
		lost[s.Run] += s.finish(r)
	}
	for _, n := range lost {
		r.countLost(n)
	}
	r.signal()
	select {
	case <-r.done:
	case <-ctx.Done():
		r.mu.Lock()
		left = r.lost
		r.failed = true
		rest = slices.Clone(r.streams)
		r.mu.Unlock()
		for _, s := range rest {
			left += s.drop(r)
		}
	}
	return left
}

func (r *Relay) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// work copies until the relay is closed.
func (r *Relay) work() {
	defer close(r.done)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var (
		streams []*stream
		buf     = make([]byte, chunk)
		text    []byte
		napped  chan struct{} // nil when no pause is running
		nap     = minPoll
	)
	for {
		r.mu.Lock()
		streams = append(streams[:0], r.streams...)
		text = r.tellDropped(text[:0])
		closing := r.closing
		r.mu.Unlock()
		moved, over := len(text) > 0, false
		if moved && !r.write(text) {
			return
		}
		for _, s := range streams {
			text, over = s.step(r, buf, text[:0])
			if over {
				r.remove(s)
			}
			if len(text) > 0 {
				moved = true
				if !r.write(text) {
					return
				}
			}
		}
		switch {
		case moved:
			nap = minPoll
			continue
		case closing && len(streams) == 0:
			return
		case len(streams) == 0:
			nap = minPoll
			<-r.wake
			continue
		}
		if napped == nil {
			napped = make(chan struct{})
			go func(d time.Duration, over chan<- struct{}) {
				defer close(over)
				_ = r.awake.For(ctx, d) // an error is the end as well
			}(nap, napped)
		}
		select {
		case <-napped:
			for _, s := range streams {
				s.idle += nap
			}
			napped, nap = nil, min(2*nap, maxPoll)
		case <-r.wake:
		}
	}
}

// write writes text to the sink. It reports false when the copying has ended.
func (r *Relay) write(text []byte) bool {
	err := r.to.Write(text)
	r.mu.Lock()
	cut := r.failed // by Close
	r.failed = r.failed || err != nil
	rest := slices.Clone(r.streams)
	r.mu.Unlock()
	if err == nil && !cut {
		return true
	}
	for _, s := range rest {
		s.drop(r)
		r.remove(s)
	}
	if err != nil && !cut {
		r.over(err)
	}
	return false
}

// tellDropped appends the report of streams that were dropped. The caller holds mu.
func (r *Relay) tellDropped(text []byte) []byte {
	if r.runs > 0 {
		text = r.to.Append(text, Piece{Lost: r.lost, Runs: r.runs})
		r.lost, r.runs = 0, 0
	}
	return text
}

// remove stops reading a stream.
func (r *Relay) remove(s *stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.streams, s); i >= 0 {
		r.streams = slices.Delete(r.streams, i, i+1)
	}
}
