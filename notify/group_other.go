//go:build !unix

package notify

import (
	"os/exec"
	"time"
)

// inOwnGroup makes a command from exec.CommandContext be killed when its time is up. A child that
// outlives it and holds its output open is not waited for.
func inOwnGroup(c *exec.Cmd) (release func()) {
	c.WaitDelay = 500 * time.Millisecond
	return func() {}
}
