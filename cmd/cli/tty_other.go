//go:build !unix

package cli

// OwnTerminal is empty: terminals are no files here.
func OwnTerminal(World) string { return "" }
