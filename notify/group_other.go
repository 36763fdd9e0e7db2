//go:build !unix

package notify

import (
	"os/exec"
	"time"
)

// grouped has a command made with exec.CommandContext killed when its time is up. Who outlives it
// and holds its output open is not waited for.
func grouped(c *exec.Cmd) (release func()) {
	c.WaitDelay = 500 * time.Millisecond
	return func() {}
}
