//go:build cgo || (!freebsd && !dragonfly)

package notify

import (
	"errors"
	"strings"

	"github.com/gen2brain/beeep" // shows notifications on Linux, macOS and Windows
)

// show shows a notification.
func show(n notification) error {
	beeep.AppName = userAgent
	err := beeep.Notify(n.Title, n.Body, "")
	if err == nil || !hasBuses {
		return err
	}
	// The library then tries programs that it cannot find, and reports them as well.
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "beeep: dbus: "), "; notify-send:")
	return errors.New("the session bus: " + text)
}
