//go:build !unix

package files

import "io/fs"

// noFollow has no equal here.
const noFollow = 0

// syncDir does nothing: there is no such call, the file system keeps its names by itself.
func syncDir(string) error { return nil }

// owner is not known: permissions are not kept in modes here.
func owner(fs.FileInfo) (uid int, ok bool) { return 0, false }
