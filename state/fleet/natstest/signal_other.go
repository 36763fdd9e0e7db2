//go:build !unix

package natstest

import "os"

// Signals for a server: where there is one alone, it is the end, and the server is started again.
var halt, goOn, quit = os.Kill, os.Kill, os.Kill
