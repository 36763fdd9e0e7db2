package sim

// event is something that is to happen at an instant.
type event struct {
	at  int64
	seq uint64
	do  func()
	off bool // it was called off
}

// heap contains events, the next first. Events of the same instant are in the order in which they
// were pushed.
type heap []*event

func (h heap) less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}

func (h *heap) push(at int64, seq uint64, do func()) *event {
	e := &event{at: at, seq: seq, do: do}
	*h = append(*h, e)
	for i := len(*h) - 1; i > 0; {
		up := (i - 1) / 2
		if !h.less(i, up) {
			break
		}
		(*h)[i], (*h)[up] = (*h)[up], (*h)[i]
		i = up
	}
	return e
}

// top returns the next event that was not called off, or nil.
func (h *heap) top() *event {
	for len(*h) > 0 && (*h)[0].off {
		h.pop()
	}
	if len(*h) == 0 {
		return nil
	}
	return (*h)[0]
}

func (h *heap) pop() *event {
	list := *h
	e, n := list[0], len(list)-1
	list[0], list[n] = list[n], nil
	*h = list[:n]
	for i := 0; ; {
		least := i
		for _, down := range []int{2*i + 1, 2*i + 2} {
			if down < n && h.less(down, least) {
				least = down
			}
		}
		if least == i {
			return e
		}
		(*h)[i], (*h)[least] = (*h)[least], (*h)[i]
		i = least
	}
}
