package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// KV is what the store needs from servers that agree with each other: keys whose revisions only
// grow, and commits that change several keys or none. A key is words with dots between them. A
// prefix that ends with a dot means all keys that begin so; any other means one key. The writes of
// one commit have revisions in the order of its operations.
//
// A request that is not answered in time has an error of its own, and may have happened all the
// same.
type KV interface {
	// Get returns the cell of a key, as the deciding server has it. The zero Cell means that there
	// is none.
	Get(ctx context.Context, key string) (Cell, error)

	// Peek returns the cells of keys, in any order, as some server has them: the last changes may
	// be missing. It costs the servers far less than Get, and is one request for many keys.
	Peek(ctx context.Context, keys ...string) ([]Cell, error)

	// Prefix yields what is kept below a prefix with a revision after one, oldest first. Of a key
	// that is replaced, it yields the last cell and perhaps one before, and it yields keys without
	// data that were dropped recently. It includes all that was committed before the call, and
	// returns the last revision of that.
	Prefix(ctx context.Context, prefix string, after uint64, yield func(Cell) bool) (last uint64, err error)

	// Backward yields what is kept below a prefix, newest first. It returns the newest revision
	// below within.
	Backward(ctx context.Context, prefix, within string, yield func(Cell) bool) (last uint64, err error)

	// Commit does all operations or none. ErrMoved means that a key is not as expected any more,
	// ErrMoving that another change of a key is on its way, and ErrTooLarge that the commit can
	// never succeed; in these cases nothing has happened. After any other error it is unknown
	// whether it has.
	Commit(ctx context.Context, ops []Op) error

	// Watch calls tell for what is written below prefixes from the call on or, when after is not
	// Now, after that revision: in order, each once, one call at a time, until ctx ends. It works
	// from when Watch returns, and continues by itself after the servers were away.
	Watch(ctx context.Context, after uint64, tell func(Cell), prefixes ...string) error

	// Purge drops what is below a prefix, up to a revision; 0 drops all.
	Purge(ctx context.Context, prefix string, to uint64) error

	// Keep keeps a text under a key in a place of its own, which drops the oldest when there are
	// too many. Kept returns it, or nil when it is not there.
	Keep(ctx context.Context, key string, text []byte) error
	Kept(ctx context.Context, key string) ([]byte, error)

	// Number returns the first of n numbers that nobody was given before.
	Number(ctx context.Context, n int) (uint64, error)
}

// Now is the argument of Watch for what is written from now on.
const Now = ^uint64(0)

// Cell is the content of a key. A key without data was dropped.
type Cell struct {
	Key  string
	Rev  uint64 // 0 when nothing is there
	Data []byte
	// when the servers wrote it, by their clock; only Get sets it
	At     time.Time
	Nonces string // of the last commits that wrote it, newest first, separated by blanks
}

// with returns the operation that replaces a cell as it was read; nil drops it.
func (c Cell) with(data []byte) Op {
	c.Data = data
	return Op{Cell: c}
}

// Any is the Expect of an Op when the key may have any revision.
const Any = ^uint64(0)

// Op is one operation of a commit.
type Op struct {
	Cell                 // what is written; Rev is the expected revision, or Any
	Append bool          // in addition to what the key has, instead of replacing it
	TTL    time.Duration // the servers drop it after this time; 0 for never
}

// The errors of a KV.
var (
	ErrMoved    = errors.New("a key has another revision than was expected")
	ErrMoving   = errors.New("another change of a key is on its way")
	ErrTooLarge = errors.New("more than the servers take in one message")
)

// unsure is an error that is ErrMoved. Like unusable, it is a constant.
type unsure string

func (e unsure) Error() string { return string(e) }
func (e unsure) Unwrap() error { return ErrMoved }

// errUnsure: the key was changed by somebody else after the commit, or instead of it.
const errUnsure = unsure("a key has another revision, perhaps after this change")

// unusable is an error that is state.ErrUnusable. It is a constant, so that it takes no time at the
// start of the program.
type unusable string

func (e unusable) Error() string { return state.ErrUnusable.Error() + ": " + string(e) }
func (e unusable) Unwrap() error { return state.ErrUnusable }

const (
	// ErrAway: the servers give no answer.
	ErrAway = unusable("the servers do not answer")
	// ErrDenied: the servers forbid it, so it has not happened.
	ErrDenied = unusable("the servers do not permit it to these credentials")
	// ErrUnmade: nobody has made a fleet on these servers.
	ErrUnmade = unusable("there is no fleet on these servers that is called")
)
