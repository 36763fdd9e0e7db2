package schedule

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
)

// TestIntakeHoldsLittle lets a reader go ahead of the disk by so much and no more.
func TestIntakeHoldsLittle(t *testing.T) {
	for _, size := range []int{1, 1 << 20} {
		in := newItemQueue()
		const n = 3 * maxBatch
		var put atomic.Int64
		go func() {
			for i := range n {
				if in.Put(t.Context(), item{Line: i + 1, Size: size}) != nil {
					return
				}
				put.Add(1)
			}
			in.End(io.EOF)
		}()
		next := 1
		for {
			if held := int(put.Load()) - next + 1; held > 2*maxBatch || held*size > maxQueuedBytes {
				t.Errorf("%d items of %d bytes are held", held, size)
			}
			batch, err := in.Take(t.Context(), nil)
			if err == io.EOF {
				break
			}
			for _, it := range batch {
				if it.Line != next {
					t.Fatalf("line %d instead of %d", it.Line, next)
				}
				next++
			}
		}
		if next != n+1 {
			t.Errorf("%d of %d came", next-1, n)
		}
	}
	// One who waits for room, or for something to come, can be ended.
	ctx, cancel := context.WithCancel(t.Context())
	in := newItemQueue()
	if err := in.Put(ctx, item{Size: maxQueuedBytes}); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := in.Put(ctx, item{Size: 1}); err == nil {
		t.Error("put went on without room")
	}
	if _, err := newItemQueue().Take(ctx, nil); err == nil {
		t.Error("take went on without anything")
	}
}
