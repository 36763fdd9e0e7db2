// Package before keeps MCPGODEBUG from the library that speaks MCP. The library reads the variable
// when the program starts, and panics at a value that it does not understand, in whatever command;
// and what it does understand changes the protocol that we promise.
//
// It has to be initialised before the library, and is, by the specification of Go: of the packages
// whose imports are all initialised the one whose path comes first is the next. As soon as syscall
// is ready this package is, and it comes before "os", which the library needs and which needs
// syscall. So it may import nothing but syscall.
package before

import "syscall"

const name = "MCPGODEBUG"

var value, found = syscall.Getenv(name)

func init() { _ = syscall.Unsetenv(name) }

// Restore gives the variable back to the commands that are started from here: they see the user's
// environment. It is for the initialisation of the package that imports the library.
func Restore() {
	if found {
		_ = syscall.Setenv(name, value)
	}
}
