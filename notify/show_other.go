//go:build !cgo && (freebsd || dragonfly)

package notify

import "errors"

// show is not to be had here: to speak to a bus of FreeBSD takes C.
func show(notification) error {
	return errors.New("this build of ouro-timer cannot speak to a D-Bus: build it with CGO_ENABLED=1")
}
