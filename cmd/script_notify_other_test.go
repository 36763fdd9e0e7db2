//go:build !linux

package cmd

import "errors"

func desktop(*logbook, func() error, bool) error {
	return errors.New("only Linux has a bus to test with")
}
