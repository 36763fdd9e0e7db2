//go:build !linux

package plainfile

import "os"

// WriteBehind is for systems that can be told to begin; elsewhere each sync does all of its work.
func WriteBehind(*os.File) {}
