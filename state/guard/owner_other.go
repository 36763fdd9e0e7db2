//go:build !unix

package guard

import "io/fs"

// Owner is not known: permissions are not kept in modes here.
func Owner(fs.FileInfo) (uid int, ok bool) { return 0, false }

func group(fs.FileInfo) (gid int, ok bool) { return 0, false }

// Writable is not told without writing here.
func Writable(string) error { return nil }
