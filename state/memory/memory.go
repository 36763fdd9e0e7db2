// Package memory is a Store without a disk: for tests of what is built on a Store, where nothing may wait for the outside,
// and for playing out what would happen. It keeps every promise of state.Store but the one about the end of the process,
// and the one that WatchLog tells of what runs write.
//
// It does no input or output and leaves no goroutine behind, so that it can be used in a bubble of testing/synctest.
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

// Store is a state.Store in memory, as New makes it. Several runners may share one.
type Store struct {
	state.NoFiles
	state.Transactions
	state.Verbs

	// Folder is an existing folder for the output of runs. When it is empty, none is kept.
	Folder string
	// Limits, unless it is nil, is asked for before each change that they could forbid.
	Limits func() (state.Limits, error)

	mu        sync.Mutex
	made      uint64               // how many IDs were given out
	tasks     map[string]state.Doc // by ID
	creations map[string][]time.Time
	ledger    []state.Line // oldest first

	inbox   []state.Item // in the order in which they came
	newest  string       // the cursor of the last that came
	outbox  []state.Notice
	posted  int // how often a notice was written
	dropped state.Dropped

	leases     map[string]*lease // of who leads, by node
	waiting    map[string]int    // how many wait for a task, by ID
	clockShift state.ClockShift
	trouble    state.Trouble
	agents     []state.Agents
	spool      map[string]string // what is kept for others

	followers                       []*follower
	watchers, mailWatch, logWatches signals
}

var _ state.Store = (*Store)(nil)

// New returns an empty store.
func New() *Store {
	s := &Store{tasks: map[string]state.Doc{}, creations: map[string][]time.Time{}, leases: map[string]*lease{},
		waiting: map[string]int{}, spool: map[string]string{}, watchers: signals{}, mailWatch: signals{}, logWatches: signals{}}
	s.Transactions = s.each
	s.Verbs = state.Verbs{Changer: s}
	return s
}

// do calls f, which nobody else changes the store beside. No call is begun after ctx has ended.
func (s *Store) do(ctx context.Context, f func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	return nil
}

// signals are the channels of those who watch something.
type signals map[chan struct{}]bool

// send puts a signal into every channel unless one is waiting there.
func (w signals) send() {
	for c := range w {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// watch makes a channel that is among the watchers until ctx ends.
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

// ClockShift is what was noted of a clock that is back.
func (s *Store) ClockShift(ctx context.Context) (b state.ClockShift, err error) {
	err = s.do(ctx, func() { b = s.clockShift })
	return b, err
}

// SetClockShift notes it.
func (s *Store) SetClockShift(ctx context.Context, b state.ClockShift) error {
	return s.do(ctx, func() { s.clockShift = b })
}

// Trouble is what a runner noted.
func (s *Store) Trouble(ctx context.Context) (t state.Trouble, err error) {
	err = s.do(ctx, func() { t = s.trouble })
	return t, err
}

// SetTrouble notes it.
func (s *Store) SetTrouble(t state.Trouble) error {
	t.At = state.UTC(t.At)
	return s.do(context.Background(), func() { s.trouble = t })
}

// NoteAgents notes the agent processes that a runner keeps.
func (s *Store) NoteAgents(ctx context.Context, a state.Agents) error {
	return s.do(ctx, func() {
		s.agents = slices.DeleteFunc(s.agents, func(o state.Agents) bool { return o.Runner == a.Runner })
		if len(a.Processes) > 0 {
			a.Processes = slices.Clone(a.Processes)
			s.agents = append(s.agents, a)
		}
	})
}

// Agents are all notes of agent processes.
func (s *Store) Agents(ctx context.Context) (all []state.Agents, err error) {
	err = s.do(ctx, func() {
		for _, a := range s.agents {
			a.Processes = slices.Clone(a.Processes)
			all = append(all, a)
		}
	})
	return all, err
}

// Output is files in Folder.
func (s *Store) Output(taskID string, number int) (stdout, stderr state.Stream) {
	if s.Folder == "" {
		return output.None{}, output.None{}
	}
	base := filepath.Join(s.Folder, taskID+"."+strconv.Itoa(number))
	return output.File(base + ".out"), output.File(base + ".err")
}

// Scratch is a file of the system's folder for such.
func (s *Store) Scratch(text string) (*os.File, error) {
	f, err := os.CreateTemp("", "ouro-timer-")
	if err != nil {
		return nil, err
	}
	return f, plainfile.Unname(f, text)
}

// Prune forgets tasks and items. There are no parts of the ledger, and whatever is in Folder is the caller's.
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
