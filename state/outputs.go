package state

import (
	"context"
	"io"
	"os"
)

// Outputs are what runs write.
type Outputs interface {
	// Output returns what a run writes, or has written, to its standard output and its standard
	// error. Each may be missing.
	Output(taskID string, number int) (stdout, stderr Stream)

	// Scratch returns a new file with the text in it, which a child reads from its beginning. The
	// file has no name and is gone when nobody has it open.
	Scratch(text string) (*os.File, error)
}

// Stream is what a run writes to its standard output or its standard error.
type Stream interface {
	// Create makes the stream anew, empty, and returns a file to whose end a child writes. Nil: the
	// output is not kept.
	Create(ctx context.Context) (*os.File, error)

	// Append adds text to what is kept. It returns fs.ErrNotExist if nothing is kept.
	Append(ctx context.Context, text string) error

	// Open opens what is kept, also while it grows. It returns fs.ErrNotExist if nothing is kept,
	// or it was dropped.
	Open(ctx context.Context) (StreamReader, error)

	// Bound keeps the stream small on disk while a child writes to it. It may give up all but the
	// first head and the last tail bytes, which then read as zeros. The stream's size does not
	// change, so the writer and readers keep their places; Trim takes the zeros out after the
	// writer has ended. from is what Bound returned the last time, or 0. On systems that cannot do
	// this, Bound returns an error and the stream stays whole until Trim.
	Bound(head, tail, from int64) (int64, error)

	// Trim cuts what a run that has ended wrote to its first head and last tail bytes. A line
	// between them says how much is missing, and so does Trim. Output that fits stays as it is, so
	// trimming again changes nothing. If Trim fails, the output stays whole, and its size is
	// returned with the error.
	Trim(ctx context.Context, head, tail int64) (Output, error)

	// Own notes that n bytes written by f are ouro-timer's own answers: a run that wrote nothing
	// else has nothing to tell. Trim counts them, until Create makes the stream anew. f is the
	// stream as a process below the run has it. Own returns false and notes nothing if f leads
	// elsewhere.
	Own(ctx context.Context, f *os.File, n int64) (bool, error)

	// Drop deletes what is kept. It is not an error if there is nothing.
	Drop(ctx context.Context) error

	// Where is where a person finds all that is kept. It is empty if there is no such place.
	Where() string
}

// StreamReader reads what is kept of a stream. After it has reached the end, more may come. If the
// stream is trimmed meanwhile, it reads either the whole or the trimmed one.
type StreamReader interface {
	io.Reader
	io.ReaderAt
	io.Closer

	// Size is how many bytes there are now.
	Size() (int64, error)
}
