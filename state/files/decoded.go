package files

import (
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// decoded are tasks as a handle that watches has read them last. It reads one that is due several times: to find it, again for as long as there
// is no room for it, and to claim it.
//
// What was read counts for as long as the file looks the same to the system, its time of change included, which nobody can set. Like git's index
// it does not trust a file that has changed only just: another change within the same tick of the file system's clock would not show.
type decoded struct {
	mu    sync.Mutex
	tasks map[string]decodedTask // by place
	tick  time.Duration          // decodedTick, but for tests
}

type decodedTask struct {
	is   plainfile.Mark
	task state.Task
}

const (
	// decodedMost bounds how many are kept: a few times as many as run at once.
	decodedMost = 256
	// decodedTick is longer than any file system's clock ticks.
	decodedTick = 2 * time.Second
)

// decodedAt returns how the file at a place looks now, and the task that was read when it looked the same. It needs no lock; steady is false where
// nothing may be kept, and then the file is to be read.
func (s *Store) decodedAt(place string) (t state.Task, is plainfile.Mark, steady, found bool) {
	if !s.live.watching() {
		return t, is, false, false
	}
	is, steady = plainfile.MarkOf(s.path(place))
	if !steady || time.Since(is.Changed()) <= s.decoded.tick {
		return t, is, false, false
	}
	s.decoded.mu.Lock()
	defer s.decoded.mu.Unlock()
	d, found := s.decoded.tasks[place]
	if !found || d.is != is {
		return t, is, true, false
	}
	return d.task.Clone(), is, true, true
}

// keep keeps a task of a file that looked so before it was read.
func (d *decoded) keep(place string, is plainfile.Mark, t state.Task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tasks == nil || len(d.tasks) >= decodedMost {
		d.tasks = make(map[string]decodedTask, decodedMost)
	}
	d.tasks[place] = decodedTask{is, t.Clone()}
}
