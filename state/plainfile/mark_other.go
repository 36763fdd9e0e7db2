//go:build !linux

package plainfile

import "time"

// Mark is nothing where nothing can be kept by it.
type Mark struct{}

// MarkOf looks at nothing here.
func MarkOf(string) (Mark, bool) { return Mark{}, false }

// Changed is not known.
func (Mark) Changed() time.Time { return time.Time{} }
