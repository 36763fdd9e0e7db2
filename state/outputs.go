package state

import (
	"context"
	"io"
	"os"
)

// Outputs are what runs write.
type Outputs interface {
	// Output is what a run writes, or has written, to its standard output and its standard error.
	// Neither need be there.
	Output(taskID string, number int) (stdout, stderr Stream)

	// Scratch is a new file with the text in it, to be read from its beginning by a child. It has
	// no name: it goes when nobody has it open any more.
	Scratch(text string) (*os.File, error)
}

// Stream is what a run writes to its standard output or its standard error.
type Stream interface {
	// Create makes it anew, empty: a file for a child to write to the end of. Nil: nothing of it is
	// kept.
	Create(ctx context.Context) (*os.File, error)

	// Append adds text to what is kept. fs.ErrNotExist when nothing is.
	Append(ctx context.Context, text string) error

	// Open opens what is kept, also while it grows. fs.ErrNotExist when nothing is, or is any more.
	Open(ctx context.Context) (StreamReader, error)

	// Bound keeps the room that it takes small while a child writes to it: all but the first head
	// and the last tail bytes may be given up, and are read as zeros from then on. Its size stays,
	// so that neither the writer nor a reader loses its place; Trim takes the zeros out when the
	// writer has ended. from is what Bound returned the last time, 0 at first. Where this cannot be
	// done it is whole until Trim; the error says so.
	Bound(head, tail, from int64) (int64, error)

	// Trim cuts what a run that has ended wrote to its first head and last tail bytes, with a line
	// between them that says how much is missing, and says how much that was. What fits stays as it
	// is, so that trimming again changes nothing. What cannot be trimmed is whole, and is left so:
	// its size stands beside the error.
	Trim(ctx context.Context, head, tail int64) (Output, error)

	// Own notes that n bytes which were written by f are ouro-timer's own answers: a run that wrote
	// nothing else has nothing to tell. Trim counts them, until Create makes the stream anew. f is
	// how a process below the run has the stream: false, and nothing is noted, when f leads elsewhere.
	Own(ctx context.Context, f *os.File, n int64) (bool, error)

	// Drop forgets what is kept. It is no error when nothing is.
	Drop(ctx context.Context) error

	// Where says where a person finds all that is kept; empty when there is no such place.
	Where() string
}

// StreamReader reads what is kept of a stream. When it has come to the end, more may come. What is
// trimmed while it is open is read whole or trimmed.
type StreamReader interface {
	io.Reader
	io.ReaderAt
	io.Closer

	// Size is how much there is by now.
	Size() (int64, error)
}
