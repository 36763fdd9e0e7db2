//go:build !unix

package health

import (
	"context"
	"errors"
)

// execute is never called: Parse refuses exec where a process group cannot be ended.
func execute(context.Context, string, []string) error {
	return &fault{Cause: newCause(System, errors.ErrUnsupported.Error()), permanent: true, inconclusive: true}
}
