package relay

import (
	"io"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// stream is one of the two outputs of a run.
type stream struct {
	Piece // the fields that its pieces share

	idle time.Duration // how long nothing has been written; only the goroutine of the relay uses it

	mu         sync.Mutex         // for all below; the relay's may be locked while it is held
	file       state.StreamReader // nil once it is closed
	rest       rest               // read instead of the file
	reserved   int64              // how much of the memory of the relay it uses
	at         int64              // how far it was read
	head, gone int64              // what lies between these places was dropped from the file
	end        int64              // where it ended; below zero while it goes on
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

// step reads what was written and appends its pieces. over says that the stream has ended.
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
			return to, false // the next step asks again
		}
	}
	if size < s.at { // the file was emptied and begins again
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
		n, _ = s.reader().ReadAt(buf[:most], s.at) // what cannot be read is skipped
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
	case n == 0 && s.idle >= maxHold:
		s.lines.splitLine(give)
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

// finish marks the run as ended, and returns how many bytes are left out for lack of room. From
// then on its file is read only if it is so long that nobody writes to it again.
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
	switch r.reserve(left) {
	case inMemory:
		text := make([]byte, left)
		n, _ := s.file.ReadAt(text, s.at) // what cannot be read is left out
		s.rest, s.reserved = rest{text[:n], s.at}, left
		s.file.Close()
		s.file = nil
	case nowhere:
		lost = left + int64(len(s.lines.partial))
		s.file.Close()
		s.file, s.over = nil, true
		r.remove(s)
	}
	return lost
}

// drop stops copying the stream and returns how many bytes are left out.
func (s *stream) drop(r *Relay) (lost int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return 0
	}
	size := s.end
	if size < 0 {
		size, _ = s.file.Size() // without a size it is not reported
	}
	s.release(r)
	return max(size-s.at, 0) + int64(len(s.lines.partial))
}

// release frees what the stream uses. It has ended.
func (s *stream) release(r *Relay) {
	if s.end >= 0 {
		r.free(s.reserved, s.file != nil)
	}
	if s.file != nil {
		s.file.Close()
	}
	s.file, s.rest, s.over = nil, rest{}, true
}

// restPlace is where the rest of an ended stream waits to be read.
type restPlace int

const (
	nowhere restPlace = iota
	inMemory
	inFile
)

// reserve reserves room for the rest of an ended stream.
func (r *Relay) reserve(left int64) restPlace {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended == maxEnded:
	case left <= maxRest && r.memory+left <= maxMemory:
		r.ended++
		r.memory += left
		return inMemory
	case left > maxRest && r.files < maxFiles:
		r.ended++
		r.files++
		return inFile
	}
	return nowhere
}

// free frees the room.
func (r *Relay) free(memory int64, file bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended--
	r.memory -= memory
	if file {
		r.files--
	}
}
