//go:build !linux

package clock

import "context"

func sets(ctx context.Context, f func()) { napSets(ctx, ahead, sleep, f) }
