//go:build unix

package files

import (
	"errors"
	"syscall"
)

// readOnly reports whether nothing can be written where the file is.
func readOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
