package sim

import (
	"cmp"
	"container/heap"
)

// event is something that is to happen at an instant.
type event struct {
	at  int64
	seq uint64
	do  func()
	off bool // it was called off
}

// events has the next first. Events of the same instant are in the order in which they were pushed.
type events []*event

// Len, Less, Swap, Push and Pop are heap.Interface.
func (l events) Len() int { return len(l) }
func (l events) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[i].at, l[j].at), cmp.Compare(l[i].seq, l[j].seq)) < 0
}
func (l events) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *events) Push(e any)   { *l = append(*l, e.(*event)) }
func (l *events) Pop() any {
	end := len(*l) - 1
	e := (*l)[end]
	(*l)[end] = nil
	*l = (*l)[:end]
	return e
}

func (l *events) push(at int64, seq uint64, do func()) *event {
	e := &event{at: at, seq: seq, do: do}
	heap.Push(l, e)
	return e
}

// top returns the next event that was not called off, or nil.
func (l *events) top() *event {
	for len(*l) > 0 && (*l)[0].off {
		heap.Pop(l)
	}
	if len(*l) == 0 {
		return nil
	}
	return (*l)[0]
}
