//go:build !unix

package files

// readOnly is not told apart from a lack of permission here.
func readOnly(error) bool { return false }
