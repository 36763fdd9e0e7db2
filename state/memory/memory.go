// Package memory is a state.Store without a disk. It is for tests of code that uses a Store, and
// for simulations. It keeps every promise of state.Store but two: its content ends with the
// process, and WatchLog does not tell of what runs write.
//
// It does no input or output, except that of Output and Scratch, and leaves no goroutine behind, so
// it can be used in a bubble of testing/synctest.
package memory

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/output"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// Store is a state.Store in memory. New makes it. Several runners may share one.
type Store struct {
	state.NoFiles
	state.Transactions
	state.Verbs

	// Folder is an existing folder for the output of runs. If it is empty, no output is kept.
	Folder string
	// Limits, unless it is nil, returns the limits that hold for a change. Each change calls it.
	Limits func() (state.Limits, error)

	mu        sync.Mutex
	made      uint64               // how many IDs were given out
	tasks     map[string]state.Doc // by ID
	creations map[string][]time.Time
	ledger    []state.Line // oldest first

	inbox   []state.Item // in the order in which they came
	newest  string       // the cursor of the last that came
	outbox  []state.Notice
	posted  int // how many versions of notices there were
	dropped state.Dropped

	leases     map[string]*lease // of the leaders, by node
	waiting    map[string]int    // how many callers of Announce wait, by task ID
	clockShift state.ClockShift
	trouble    state.Trouble
	agents     []state.Agents
	spool      map[string]string // by name

	followers []*follower

	watchers, mailWatchers, logWatchers signals
}

var _ state.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	s := &Store{
		tasks: map[string]state.Doc{}, creations: map[string][]time.Time{}, leases: map[string]*lease{},
		waiting: map[string]int{}, spool: map[string]string{},
		watchers: signals{}, mailWatchers: signals{}, logWatchers: signals{},
	}
	s.Transactions = s.each
	s.Verbs = state.Verbs{Changer: s}
	return s
}

// do calls f with the store locked, unless ctx has ended.
func (s *Store) do(ctx context.Context, f func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	return nil
}

// signals are the channels of all watchers of one thing.
type signals map[chan struct{}]bool

// send puts a signal into every channel that does not contain one yet.
func (w signals) send() {
	for c := range w {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// watch returns a channel that is one of w until ctx ends.
func (s *Store) watch(ctx context.Context, w signals) (<-chan struct{}, error) {
	signal := make(chan struct{}, 1)
	err := s.do(ctx, func() { w[signal] = true })
	context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(w, signal)
	})
	return signal, err
}

// ClockShift returns what SetClockShift noted.
func (s *Store) ClockShift(ctx context.Context) (b state.ClockShift, err error) {
	err = s.do(ctx, func() { b = s.clockShift })
	return b, err
}

// SetClockShift notes that the clock was set back.
func (s *Store) SetClockShift(ctx context.Context, b state.ClockShift) error {
	return s.do(ctx, func() { s.clockShift = b })
}

// Trouble returns what SetTrouble noted.
func (s *Store) Trouble(ctx context.Context) (t state.Trouble, err error) {
	err = s.do(ctx, func() { t = s.trouble })
	return t, err
}

// SetTrouble notes what hinders the runner.
func (s *Store) SetTrouble(t state.Trouble) error {
	t.At = state.UTC(t.At)
	return s.do(context.Background(), func() { s.trouble = t })
}

// NoteAgents notes the agent processes of a runner. It replaces what was noted of that runner.
func (s *Store) NoteAgents(ctx context.Context, a state.Agents) error {
	return s.do(ctx, func() {
		s.agents = slices.DeleteFunc(s.agents, func(o state.Agents) bool { return o.Runner == a.Runner })
		if len(a.Processes) > 0 {
			a.Processes = slices.Clone(a.Processes)
			s.agents = append(s.agents, a)
		}
	})
}

// Agents returns the agent processes of all runners.
func (s *Store) Agents(ctx context.Context) (all []state.Agents, err error) {
	err = s.do(ctx, func() {
		for _, a := range s.agents {
			a.Processes = slices.Clone(a.Processes)
			all = append(all, a)
		}
	})
	return all, err
}

// Output returns streams of files in Folder.
func (s *Store) Output(taskID string, number int) (stdout, stderr state.Stream) {
	if s.Folder == "" {
		return output.None{}, output.None{}
	}
	base := filepath.Join(s.Folder, taskID+"."+strconv.Itoa(number))
	return output.File(base + ".out"), output.File(base + ".err")
}

// Scratch returns a file without a name that contains text. It is in the system's folder for
// temporary files.
func (s *Store) Scratch(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "ouro-timer-")
	if err != nil {
		return nil, err
	}
	return f, plainfile.Unname(f, text)
}

// Prune removes old tasks and items. The ledger stays complete, and files in Folder stay.
func (s *Store) Prune(ctx context.Context, keep state.Keep, now time.Time) (p state.Pruned, err error) {
	err = s.do(ctx, func() {
		for id, d := range s.tasks {
			if keep.Ended > 0 && d.Over() && d.OverSince().Before(now.Add(-keep.Ended)) {
				delete(s.tasks, id)
				p.Tasks++
			}
		}
		old := keep.Surplus(s.inbox, func(id string) bool { return s.tasks[id].Task.ID != "" }, now)
		s.inbox = slices.DeleteFunc(s.inbox, func(i state.Item) bool { return old[i.Cursor] })
		p.Items = len(old)
		s.dropped.Count(p.Items, now)
	})
	return p, err
}
