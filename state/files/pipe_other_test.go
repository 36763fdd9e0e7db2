//go:build !unix

package files

import "os"

// makePipe makes something else that cannot be read as a file.
func makePipe(path string) error { return os.Mkdir(path, 0o700) }
