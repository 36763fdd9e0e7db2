// Package files keeps the state in a folder that a person can read and mend. It has one TOML file
// per task whose name says when it is due, an open record per claim, and an append-only ledger.
// docs/state.md describes every file.
//
// A writer holds the state lock and applies what the writer before it may have left. It makes its
// change durable with one record in a write-ahead log (commits.go), and only then writes, renames
// and removes. So a change has happened exactly if its record is whole. The rules of package state
// decide what may follow what; this package knows files.
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

// lockWait is how long to wait for the state lock unless Options say otherwise.
const lockWait = 5 * time.Second

// Options are the settings of a Store. The zero value is right for the program.
type Options struct {
	// LockWait is how long to wait for the state lock before state.ErrBusy. 0 means 5 s.
	LockWait time.Duration
	// Report gets what was found broken and mended on the way, such as a torn last line of the
	// ledger. It may be called from any goroutine while the state lock is held, so it must not call
	// the Store. Nil means that nobody is told.
	Report func(state.Problem)

	// Waiting is called once in each wait for the state lock that has lasted lock.Patience, with
	// who has the lock and how long the wait may last. It is called by the goroutine that waits,
	// and must not call the Store. Nil means that nobody is told.
	Waiting func(who *lock.BusyError, most time.Duration)

	// Inspect opens a folder that may be unsafe or damaged, to look at it. Readers then read all
	// that can be read, and go on without the lock if they cannot get it. Methods that write return
	// state.ErrUnusable. The Store is for one goroutine.
	Inspect bool

	// Check says what is wrong with a task besides its form, such as a schedule that cannot be
	// read. A store that watches calls it with files that are edited by hand, and reports the
	// answer. Nil means no check.
	Check func(state.Task) error

	// Limits returns the limits for one change. It is called before each change that they could
	// forbid, and must not call the Store. Nil means no limits.
	Limits func() (state.Limits, error)

	// PartMost is how many bytes the ledger has before the next change begins a new file. 0 means 8
	// MiB.
	PartMost int64

	// changes the folder; tests replace it by one that fails
	disk disk
	// describes file systems; tests replace it by one that lies
	volume func(dir string) (guard.Volume, error)
	// names this boot of the machine; tests reboot with it
	boot func() string
}

// Store is a state.Store in a folder. Between calls it keeps no file open, except for leases and
// watches.
type Store struct {
	state.Transactions
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

	later int64 // the size at which a failed rotation is tried again; under the state lock

	followed atomic.Bool // somebody follows the queue, or has followed it
	opened   time.Time   // guarded, as Open has set it

	mu      sync.Mutex  // of those below
	guarded time.Time   // when guard last found no fault
	whole   bool        // every folder was there then
	led     os.FileInfo // the runner lock that this process took last, or nil
}

var _ state.Store = (*Store)(nil)

// Open returns the store in dir. The first call that writes makes the folder. Open refuses, with
// state.ErrUnusable, a folder that other users can write to, own or replace. Every later call
// checks the folder again.
func Open(dir string, o Options) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fail("the state folder", err)
	}
	s := &Store{dir: dir, report: o.Report, disk: o.disk, volume: o.volume, boot: o.boot, check: o.Check, limits: o.Limits, inspect: o.Inspect,
		partMost: o.PartMost, commitsMost: commitsMost}
	s.Transactions = s.inBatches
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
	if !s.inspect { // once: it checks each folder up to /
		if err := guard.Above(s.dir); err != nil {
			return nil, fail("looking at the folders above the state", err)
		}
	}
	if err := s.guard(); err != nil {
		return nil, err
	}
	s.opened = s.guarded
	return s, nil
}

// Dir is the folder with the state.
func (s *Store) Dir() string { return s.dir }

// Volume describes the file system that the state is on or, before the first task, will be on.
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

	lockFile       = "timers/.lock"
	ledgerFile     = runsDir + "/" + ledger.Name
	leadFile       = "runs/runner.lock"
	leaderFile     = "runs/runner.toml"
	troubleFile    = "runs/trouble.toml"
	droppedFile    = "runs/dropped.toml"
	clockShiftFile = "runs/clock.toml"
	goneFile       = "runs/forgotten.toml"
)

// folders are all folders of the state, parents first.
var folders = []string{queueDir, endedDir, removedDir, pausedDir, keysDir, originsDir, corruptDir, runsDir, openDir, tallyDir, outputDir, inboxDir, outboxDir,
	waitsDir}

// path is a place of the state as a path of this system.
func (s *Store) path(place string) string {
	return s.dir + string(filepath.Separator) + filepath.FromSlash(place)
}

// Output returns the files with a run's output. Claim has made their folder.
func (s *Store) Output(taskID string, number int) (stdout, stderr state.Stream) {
	base := filepath.Join(s.path(outputDir), taskID, fmt.Sprint(number))
	return stream{output.File(base + ".out"), s}, stream{output.File(base + ".err"), s}
}

// stream is a file with a run's output.
type stream struct {
	output.File
	s *Store
}

// Create opens the file, and makes the folders of the state that are missing.
func (o stream) Create(ctx context.Context) (*os.File, error) {
	if err := o.s.stillLed(); err != nil {
		return nil, err
	}
	f, err := o.File.Create(ctx)
	if missing(err) {
		if err = o.s.ready(); err == nil {
			f, err = o.File.Create(ctx)
		}
	}
	return f, err
}

// fail returns the error that the state cannot be used, with the reason. Errors that a caller
// decides on are returned unchanged.
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

// missing reports whether an error says that a path does not exist.
func missing(err error) bool { return errors.Is(err, os.ErrNotExist) }

// readOnly reports whether an error says that a file system cannot be changed.
func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
