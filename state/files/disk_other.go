//go:build !unix

package files

// noFollow has no equal here.
const noFollow = 0

// syncDir does nothing: there is no such call, the file system keeps its names by itself.
func syncDir(string) error { return nil }
