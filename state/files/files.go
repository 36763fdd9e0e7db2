// Package files keeps the state in a folder that a person can read and mend: one TOML file per task whose name says when
// it is due, an open record per claim, and a ledger that is only appended to. docs/state.md describes every file.
//
// How nothing is lost: whoever changes the state holds the state lock, applies what the writer before it may have left, and makes its change
// durable with one record in a write-ahead log (commits.go); only then it writes, renames and removes. A change whose record is whole has
// happened; one whose record is not has not. What may follow what is decided by the rules of package state; this package knows files.
package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
	"github.com/ouro-timer/ouro-timer/state/files/ledger"
	"github.com/ouro-timer/ouro-timer/state/guard"
	"github.com/ouro-timer/ouro-timer/state/lock"
	"github.com/ouro-timer/ouro-timer/state/output"
	"github.com/ouro-timer/ouro-timer/state/plainfile"
)

// lockWait bounds the waiting for the state lock unless Options say otherwise.
const lockWait = 5 * time.Second

// Options are the settings of a Store. The zero value is right for the program.
type Options struct {
	// LockWait bounds the waiting for the state lock; after it, state.ErrBusy. 0 means 5 s.
	LockWait time.Duration
	// Report is told what was found broken and mended on the way, such as a torn last line of the ledger. It may be
	// called from any goroutine, with the state lock held: it must not call the Store. Nil means nobody is told.
	Report func(state.Problem)

	// Waiting is told, once a wait, that the state lock has been waited for in vain for a second, who has it, and how long the wait may
	// be. It is called by who waits, and must not call the Store. Nil means nobody is told.
	Waiting func(who *lock.BusyError, most time.Duration)

	// Inspect is for a look at a folder that may be unsafe or damaged. Readers then refuse nothing that can be read, and go on
	// without the lock when it cannot be had; methods that write refuse with state.ErrUnusable. For one goroutine.
	Inspect bool

	// Check says what is wrong with a task beyond its form, such as a schedule that cannot be read. A store that watches asks it
	// about files that are edited by hand, and reports what it says. Nil means nothing is.
	Check func(state.Task) error

	// Limits are asked for before each change that they could forbid, and hold for it. They must not call the Store. Nil: there are none.
	Limits func() (state.Limits, error)

	// PartMost is how large the ledger becomes, in bytes, before the next change begins a new file. 0 means 8 MiB.
	PartMost int64

	disk   disk                                   // what changes the folder; tests put one here that fails
	volume func(dir string) (guard.Volume, error) // what tells of file systems; tests put one here that lies
	boot   func() string                          // what names this boot of the machine; tests start it anew
}

// Store is a state.Store in a folder. It holds no descriptor open between calls, but for leases and watches.
type Store struct {
	state.Verbs

	dir    string
	lock   *lock.Lock // the state lock
	ledger ledger.Dir // runs/
	report func(state.Problem)
	disk   disk
	volume func(dir string) (guard.Volume, error)
	boot   func() string

	limits func() (state.Limits, error) // or nil

	check func(state.Task) error

	inspect bool // only looks, and at anything

	partMost    int64
	commitsMost int64

	mu    sync.Mutex
	later int64 // how large the ledger is to become before rotation is tried again, after it failed

	followed atomic.Bool // somebody follows the queue

	sound, written, furnished time.Time // when guard, guardWriter and furnish last found nothing
	opened                    time.Time // when the store was opened, and its folders looked at
}

var _ state.Store = (*Store)(nil)

// Open returns the store in dir, which is made by the first call that writes. It refuses, with state.ErrUnusable, a
// folder that others may write to or own, or could put another one in the place of; every later call looks at the folder again.
func Open(dir string, o Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fail("the state folder", err)
	}
	s := &Store{dir: dir, report: o.Report, disk: o.disk, volume: o.volume, boot: o.boot, check: o.Check, limits: o.Limits, inspect: o.Inspect,
		partMost: o.PartMost, commitsMost: commitsMost}
	s.Verbs = state.Verbs{Changer: s}
	if o.LockWait <= 0 {
		o.LockWait = lockWait
	}
	s.ledger = ledger.Dir(s.path(runsDir))
	s.lock = lock.New(s.path(lockFile), o.LockWait, o.Waiting)
	if s.partMost <= 0 {
		s.partMost = partMost
	}
	if s.report == nil {
		s.report = func(state.Problem) {}
	}
	if s.disk == nil {
		s.disk = osDisk{}
	}
	if s.volume == nil {
		s.volume = guard.VolumeOf
	}
	if s.boot == nil {
		s.boot = plainfile.Boot
	}
	if !s.inspect { // once: it is a look at each folder up to /
		if err := guard.Above(s.dir); err != nil {
			return nil, fail("looking at the folders above the state", err)
		}
	}
	if err := s.guard(); err != nil {
		return nil, err
	}
	s.opened = time.Now()
	s.sound, s.written = s.opened, s.opened
	return s, nil
}

// Dir is the folder the state is in.
func (s *Store) Dir() string { return s.dir }

// Volume looks at the file system the state is on or, before the first task, will be on.
func (s *Store) Volume() (guard.Volume, error) {
	v, err := s.volume(s.dir)
	return v, fail("looking at the file system", err)
}

// The places in the folder. docs/state.md says what is in each.
const (
	queueDir   = "timers"
	endedDir   = "timers/ended"
	removedDir = "timers/removed"
	corruptDir = "timers/corrupt"
	pausedDir  = "timers/paused"
	keysDir    = "timers/keys"
	originsDir = "timers/origins"
	runsDir    = "runs"
	openDir    = "runs/open"
	tallyDir   = "runs/tally"
	outputDir  = "runs/output"
	inboxDir   = "runs/inbox"
	outboxDir  = "runs/outbox"
	waitsDir   = "runs/waits"

	lockFile    = "timers/.lock"
	ledgerFile  = runsDir + "/" + ledger.Name
	leadFile    = "runs/runner.lock"
	leaderFile  = "runs/runner.toml"
	troubleFile = "runs/trouble.toml"
	droppedFile = "runs/dropped.toml"
	setbackFile = "runs/clock.toml"
	goneFile    = "runs/forgotten.toml"
)

// folders are all of ours, parents first.
var folders = []string{queueDir, endedDir, removedDir, pausedDir, keysDir, originsDir, corruptDir, runsDir, openDir, tallyDir, outputDir, inboxDir, outboxDir,
	waitsDir}

// path is where a place of ours is on this system.
func (s *Store) path(place string) string {
	return s.dir + string(filepath.Separator) + filepath.FromSlash(place)
}

// Output is the files that a run's output is kept in. Claim has made the folder they are in.
func (s *Store) Output(taskID string, number int) (stdout, stderr state.Stream) {
	base := filepath.Join(s.path(outputDir), taskID, fmt.Sprint(number))
	return output.File(base + ".out"), output.File(base + ".err")
}

// fail says that the state cannot be used, and why; errors a caller decides on pass through as they are.
func fail(doing string, err error) error {
	if err == nil {
		return nil
	}
	for _, known := range []error{state.ErrUnusable, state.ErrBusy, state.ErrNewer, state.ErrInvalid, state.ErrNotFound,
		state.ErrEnded, state.ErrTaken, state.ErrLed, state.ErrKept, state.ErrConflict, state.ErrLimit, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, known) {
			return err
		}
	}
	return fmt.Errorf("%w: %s: %w", state.ErrUnusable, doing, err)
}

// missing reports whether a path is simply not there.
func missing(err error) bool { return errors.Is(err, os.ErrNotExist) }

// readOnly reports whether an error says that a file system takes no changes.
func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
