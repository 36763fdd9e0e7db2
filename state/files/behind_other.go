//go:build !linux

package files

import "os"

// writeBehind is for systems that can be told to begin; elsewhere each sync does all of its work.
func writeBehind(*os.File) {}
