package fleet

import (
	"context"
	"errors"
	"time"

	"github.com/ouro-timer/ouro-timer/state"
)

// KV is what the store needs of servers that agree with each other: keys with revisions that only grow, changed several at once or not at all. A
// key is words with dots between. A prefix that ends with a dot stands for all keys that begin so, any other for the one key. What one commit writes has
// revisions in the order of the operations.
//
// A request that is not answered in time has an error of its own, and may have happened all the same.
type KV interface {
	// Get returns what a key has, as the server says that decides; the zero Cell: nothing. Old says that an older answer will do, as of what never
	// changes.
	Get(ctx context.Context, key string, old bool) (Cell, error)

	// Prefix yields what is kept below a prefix with a revision after one, oldest first: of a key that is replaced the last, and perhaps one before,
	// and keys that were dropped lately with nothing in them. All that was committed before the call is among it, and it returns the last revision
	// there was of it.
	Prefix(ctx context.Context, prefix string, after uint64, yield func(Cell) bool) (last uint64, err error)

	// Backward yields what is kept below a prefix, newest first, and returns the newest revision that there was below within.
	Backward(ctx context.Context, prefix, within string, yield func(Cell) bool) (last uint64, err error)

	// Commit does all operations or none. ErrMoved: a key is not as expected any more; of this try nothing has happened. ErrTooLarge: nor ever will. After any
	// other error nobody knows.
	Commit(ctx context.Context, ops []Op) error

	// Watch tells of what is written below prefixes from the call on or, where after is not Now, after that revision: in order, each once, one call
	// at a time, until ctx ends. It is in place when Watch returns, and goes on by itself after the servers were away.
	Watch(ctx context.Context, after uint64, tell func(Cell), prefixes ...string) error

	// Purge forgets what is below a prefix, up to a revision; 0: all of it.
	Purge(ctx context.Context, prefix string, to uint64) error

	// Keep keeps a text under a key in a place of its own, where the oldest go when there are too many. Kept returns it; nil when it is not there.
	Keep(ctx context.Context, key string, text []byte) error
	Kept(ctx context.Context, key string) ([]byte, error)

	// Number gives out n numbers that nobody was given before, and returns the first.
	Number(ctx context.Context, n int) (uint64, error)
}

// Now is for Watch: what comes from now on.
const Now = ^uint64(0)

// Cell is what a key has. Without data it was dropped.
type Cell struct {
	Key    string
	Rev    uint64 // 0: nothing is there
	Data   []byte
	At     time.Time // when the servers took it, by their clock; only Get says it, of what is not old
	Nonces string    // of the last commits that wrote it, the newest first, with blanks between
}

// Any is an Op's Expect when the key may be as it likes.
const Any = ^uint64(0)

// Op is one operation of a commit.
type Op struct {
	Cell                 // what is written; Rev is the revision that is expected, or Any
	Append bool          // beside what the key has, and not in its place
	TTL    time.Duration // after which the servers drop it; 0: they keep it
}

// What a KV answers.
var (
	ErrMoved    = errors.New("a key has another revision than was expected")
	ErrTooLarge = errors.New("more than the servers take in one message")
)

// unusable is an error that is state.ErrUnusable. It takes no time at the start of the program to make.
type unusable string

func (e unusable) Error() string { return state.ErrUnusable.Error() + ": " + string(e) }
func (e unusable) Unwrap() error { return state.ErrUnusable }

const (
	// ErrAway is the answer when the servers give none.
	ErrAway = unusable("the servers do not answer")
	// ErrDenied is what the servers do not let us do. It has not happened.
	ErrDenied = unusable("the servers do not permit it to these credentials")
	// ErrUnmade is a fleet that nobody has made on these servers.
	ErrUnmade = unusable("there is no fleet on these servers that is called")
)
