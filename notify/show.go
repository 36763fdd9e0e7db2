//go:build cgo || (!freebsd && !dragonfly)

package notify

import (
	"errors"
	"strings"

	"github.com/gen2brain/beeep" // shows a notification on Linux, macOS and Windows
)

// show shows a notification.
func show(n notification) error {
	beeep.AppName = agent
	err := beeep.Notify(n.Title, n.Body, "")
	if err == nil || !hasBuses {
		return err
	}
	// The library goes on to programs that it cannot find, and tells of them too.
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "beeep: dbus: "), "; notify-send:")
	return errors.New("the session bus: " + text)
}
