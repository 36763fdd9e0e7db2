//go:build !unix

package notify

import "errors"

// Terminal is not to be had here: terminals are no files.
func Terminal(device, text string) error {
	return errors.New("this system has no terminal devices to write to")
}
