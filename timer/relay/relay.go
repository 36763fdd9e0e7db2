// Package relay copies what commands write, while they write it, to somebody who may read it
// slowly, or not at all.
//
// Commands write to files, and a Relay reads those: it holds up no command, and when nobody takes
// what it passes on, the files are what it is buffered in. They are kept small all the same. What
// is given up of them before it was read is left out, is counted, and is told in its place.
//
// What it passes on is whole lines, of one run after the other: see Piece.
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

// Piece is a line that a run has written, or a part of a long one, or what is told in the place of
// what was left out.
type Piece struct {
	Run    string // the occurrence
	Task   string
	Stream string // stdout or stderr
	From   int64  // where it begins in the stream
	// Text ends with the line feed of its line. Without one the line goes on with the stream's next
	// piece (More), or nobody ended it.
	Text []byte
	More bool
	// Lost is how many bytes are left out here; there is no text then. Without a Run they are all
	// that Runs runs had left when they ended.
	Lost int64
	Runs int
}

// Sink is what pieces go to, from one goroutine.
type Sink interface {
	// Append appends a piece as it is to be written.
	Append(to []byte, p Piece) []byte
	// Write writes some of them. It may block, which holds up the copying and nothing else. An
	// error ends the copying.
	Write(text []byte) error
}

const (
	// chunk is how much is read at once.
	chunk = 64 << 10
	// napLeast and napMost are between two looks at files that did not grow.
	napLeast, napMost = 2 * time.Millisecond, 100 * time.Millisecond
	// pauseMost is how long a line that is not whole is held back, such as a question.
	pauseMost = time.Second
)

// What of runs that have ended may wait to be read: beyond that it is left out.
const (
	// of a stream, to be kept in memory; what is longer stays in its file, which nobody writes anew
	restMost   = 256 << 10
	memoryMost = 4 << 20 // of all
	filesMost  = 16      // that are kept open
	endedMost  = 1024    // streams
)

// Relay passes on what runs write. All methods may be called on nil, which copies nothing, and from
// any goroutine.
type Relay struct {
	awake clock.Clock
	to    Sink
	over  func(error)

	poke chan struct{} // something has changed
	done chan struct{} // closed when nothing is passed on any more

	mu      sync.Mutex
	streams []*stream
	closing bool
	failed  bool
	ended   int   // streams of runs that have
	memory  int64 // of their rests
	files   int   // of theirs that are open
	lost    int64 // what was left of runs when they ended and found no room; it has to be told
	runs    int   // so many
}

// New makes a relay to a sink. over is called, once, with the error of the sink that ended the
// copying.
func New(awake clock.Clock, to Sink, over func(error)) *Relay {
	r := &Relay{awake: awake, to: to, over: over, poke: make(chan struct{}, 1), done: make(chan struct{})}
	go r.work()
	return r
}

// Run is a run that is copied. Nil is one that is not.
type Run struct {
	relay   *Relay
	streams []*stream
}

// Follow begins to copy what a run writes to its standard output and its standard error. With late,
// what it has written by now is left out, without a word.
func (r *Relay) Follow(ctx context.Context, task string, number int, stdout, stderr state.Stream, late bool) (*Run, error) {
	if r == nil {
		return nil, nil
	}
	run := &Run{relay: r}
	var errs error
	for i, from := range []state.Stream{stdout, stderr} {
		s := &stream{Piece: Piece{Run: state.OccurrenceID(task, number), Task: task, Stream: [...]string{"stdout", "stderr"}[i]}, end: -1}
		file, err := from.Open(ctx)
		if err == nil && late {
			s.at, err = file.Size()
			s.lines.from = s.at
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // nothing of it is kept
			continue
		case err != nil:
			errs = errors.Join(errs, err)
			continue
		}
		s.file = file
		run.streams = append(run.streams, s)
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
	r.look()
	return run, errs
}

// Bound calls give, which may give up what is between the first head bytes of the run's standard
// output, and of its standard error, and the places that it returns. Nothing of the run is read
// meanwhile, and nothing of that from then on.
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

// End says that the run has ended, and that its files may be trimmed, dropped or written anew. What
// was not read of them by then is read by the relay's own means.
func (run *Run) End() {
	if run == nil {
		return
	}
	var lost int64
	for _, s := range run.streams {
		lost += s.finish(run.relay)
	}
	run.relay.miss(lost)
	run.relay.look()
}

// miss takes in that so much of a run is left out.
func (r *Relay) miss(lost int64) {
	if lost == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost += lost
	r.runs++
}

// Close ends the copying when all that was written by now is passed on, or when ctx ends, and
// returns how many bytes were not.
func (r *Relay) Close(ctx context.Context) (left int64) {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	r.closing = true
	rest := slices.Clone(r.streams)
	r.mu.Unlock()
	for _, s := range rest { // those of runs that go on without us, too
		r.miss(s.finish(r))
	}
	r.look()
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

func (r *Relay) look() {
	select {
	case r.poke <- struct{}{}:
	default:
	}
}

// work passes on what comes until the relay is closed.
func (r *Relay) work() {
	defer close(r.done)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var (
		streams []*stream
		buf     = make([]byte, chunk)
		text    []byte
		napped  chan struct{} // nil: nobody naps
		nap     = napLeast
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
				r.forget(s)
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
			nap = napLeast
			continue
		case closing && len(streams) == 0:
			return
		case len(streams) == 0:
			nap = napLeast
			<-r.poke
			continue
		}
		if napped == nil {
			napped = make(chan struct{})
			go func(d time.Duration, over chan<- struct{}) {
				defer close(over)
				_ = r.awake.For(ctx, d) // an error is the end
			}(nap, napped)
		}
		select {
		case <-napped:
			for _, s := range streams {
				s.idle += nap
			}
			napped, nap = nil, min(2*nap, napMost)
		case <-r.poke:
		}
	}
}

// write passes text on; false: there is nobody to pass it on to any more.
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
		r.forget(s)
	}
	if err != nil && !cut {
		r.over(err)
	}
	return false
}

// tellDropped appends what is to be told of streams that were dropped. The caller holds mu.
func (r *Relay) tellDropped(text []byte) []byte {
	if r.runs > 0 {
		text = r.to.Append(text, Piece{Lost: r.lost, Runs: r.runs})
		r.lost, r.runs = 0, 0
	}
	return text
}

// forget has no more looks at a stream.
func (r *Relay) forget(s *stream) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.streams, s); i >= 0 {
		r.streams = slices.Delete(r.streams, i, i+1)
	}
}
