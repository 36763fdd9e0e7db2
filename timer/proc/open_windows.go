package proc

import "os"

// openFile is os.OpenFile of a file that is there for a child.
func openFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flags, mode)
}
