//go:build !cgo && (freebsd || dragonfly)

package notify

import "errors"

// show is not available here: on FreeBSD, speaking to a bus takes C.
func show(notification) error {
	return errors.New("this build of ouro-timer cannot speak to a D-Bus: build it with CGO_ENABLED=1")
}
