//go:build !linux

package files

import "os"

// entries reads the names in an open folder.
func entries(d *os.File) ([]string, error) { return d.Readdirnames(-1) }
