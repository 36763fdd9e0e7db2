package relay

import (
	"io"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// stream is one of the two that a run writes to.
type stream struct {
	Piece // what its pieces have in common

	idle time.Duration // for how long nothing has come; the relay's own goroutine alone uses it

	mu         sync.Mutex
	file       state.StreamReader // nil once it is closed
	rest       rest               // is read in place of the file then
	held       int64              // room of the relay's memory that it takes
	at         int64              // what was read
	head, gone int64              // what is between them was given up
	end        int64              // where it ended; below zero: it goes on
	over       bool
	lines      lines
}

// rest is the end of a stream, in memory.
type rest struct {
	text []byte
	from int64
}

func (r rest) ReadAt(to []byte, at int64) (int, error) {
	if at -= r.from; at < 0 || at >= int64(len(r.text)) {
		return 0, io.EOF
	}
	return copy(to, r.text[at:]), nil
}

// step reads what has come, and appends the pieces of it. It is over when no more can come.
func (s *stream) step(r *Relay, buf, to []byte) (text []byte, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return to, true
	}
	give := func(from int64, text []byte, more bool) {
		p := s.Piece
		p.From, p.Text, p.More = from, text, more
		to = r.to.Append(to, p)
	}
	skip := func(upTo int64) {
		s.lines.end(upTo, give)
		p := s.Piece
		p.From, p.Lost = s.at, upTo-s.at
		to = r.to.Append(to, p)
		s.at = upTo
	}
	size := s.end
	if size < 0 {
		var err error
		if size, err = s.file.Size(); err != nil {
			return to, false // it may be told again
		}
	}
	if size < s.at { // it was emptied, and what comes is its beginning
		s.lines.end(0, give)
		s.at, s.gone = 0, 0
	}
	if s.at >= s.head && s.at < s.gone {
		skip(s.gone)
	}
	most := min(int64(len(buf)), size-s.at)
	if s.at < s.head && s.head < s.gone {
		most = min(most, s.head-s.at)
	}
	n := 0
	if most > 0 {
		n, _ = s.reader().ReadAt(buf[:most], s.at) // what cannot be read does not come
	}
	if n > 0 {
		s.lines.add(buf[:n], give)
		s.at += int64(n)
		s.idle = 0
	}
	switch {
	case s.end >= 0 && (n == 0 || s.at == s.end):
		if s.at < s.end {
			skip(s.end)
		}
		s.lines.end(s.end, give)
		s.release(r)
	case n == 0 && s.idle >= pauseMost:
		s.lines.tear(give)
		s.idle = 0
	}
	return to, s.over
}

func (s *stream) reader() io.ReaderAt {
	if s.file == nil {
		return s.rest
	}
	return s.file
}

// finish takes in that the run has ended, and returns how much of it is left out for want of room.
// From then on its file is read only where it is so long that nobody writes to it again.
func (s *stream) finish(r *Relay) (lost int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.end >= 0 {
		return 0
	}
	s.end = s.at
	if size, err := s.file.Size(); err == nil {
		s.end = max(size, s.at)
	}
	left := s.end - s.at
	switch r.admit(left) {
	case inMemory:
		text := make([]byte, left)
		n, _ := s.file.ReadAt(text, s.at) // what cannot be read is left out
		s.rest, s.held = rest{text[:n], s.at}, left
		s.file.Close()
		s.file = nil
	case nowhere:
		lost = left + int64(len(s.lines.part))
		s.file.Close()
		s.file, s.over = nil, true
		r.forget(s)
	}
	return lost
}

// drop has no more of it passed on, and returns how much is left out.
func (s *stream) drop(r *Relay) (lost int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return 0
	}
	size := s.end
	if size < 0 {
		size, _ = s.file.Size() // none: it is not told
	}
	s.release(r)
	return max(size-s.at, 0) + int64(len(s.lines.part))
}

// release gives back what it takes. It is over.
func (s *stream) release(r *Relay) {
	if s.end >= 0 {
		r.dismiss(s.held, s.file != nil)
	}
	if s.file != nil {
		s.file.Close()
	}
	s.file, s.rest, s.over = nil, rest{}, true
}

// place is where the rest of a stream that has ended waits to be read.
type place int

const (
	nowhere place = iota
	inMemory
	inFile
)

// admit finds room for the rest of a stream that has ended.
func (r *Relay) admit(left int64) place {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended == endedMost:
	case left <= restMost && r.memory+left <= memoryMost:
		r.ended++
		r.memory += left
		return inMemory
	case left > restMost && r.files < filesMost:
		r.ended++
		r.files++
		return inFile
	}
	return nowhere
}

// dismiss gives back the room.
func (r *Relay) dismiss(memory int64, file bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended--
	r.memory -= memory
	if file {
		r.files--
	}
}
