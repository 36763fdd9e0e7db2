package state

import "os"

// Outputs are what runs write.
type Outputs interface {
	// OutputPaths names the files the run's standard output and standard error are kept in. Claim makes room for them.
	OutputPaths(taskID string, number int) (stdout, stderr string)

	// Scratch is a new file with the text in it, to be read from its beginning by a child. It has no name: it goes when nobody has it
	// open any more.
	Scratch(text string) (*os.File, error)
}
