//go:build !linux

package files

// lockHolder is not known here: the system keeps no table of locks to look into.
func lockHolder(string) holder { return holder{} }
