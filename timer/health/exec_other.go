//go:build !unix

package health

import (
	"context"
	"errors"
)

// execute is never reached: Parse refuses exec where no process group can be ended.
func execute(context.Context, string, []string) error {
	return &fault{Cause: of(System, errors.ErrUnsupported.Error()), permanent: true, unseen: true}
}
