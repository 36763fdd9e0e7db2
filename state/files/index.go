package files

import "hash/maphash"

// index says where in a list what has a name is. Of very many a map takes three times the memory, and longer than all else that is done with
// their names. It holds no name: nameAt says which one is at a place.
type index struct {
	nameAt func(i int) string
	seed   maphash.Seed
	slots  []int32 // places from 1 on, 0 for none; at most half are taken, so that what is looked for is near
	taken  int
}

// newIndex makes an index for about n names.
func newIndex(n int, nameAt func(i int) string) *index {
	x := &index{nameAt: nameAt, seed: maphash.MakeSeed()}
	x.grow(n)
	return x
}

// grow makes room for n names.
func (x *index) grow(n int) {
	size := 2
	for size < 2*n {
		size *= 2
	}
	old := x.slots
	x.slots = make([]int32, size)
	for _, place := range old {
		if place != 0 {
			x.slots[x.slot(x.nameAt(int(place-1)))] = place
		}
	}
}

// home is the slot at which the search for a name begins.
func (x *index) home(name string) int { return int(maphash.String(x.seed, name)) & (len(x.slots) - 1) }

// slot is where a name is, or would be put.
func (x *index) slot(name string) int {
	at := x.home(name)
	for x.slots[at] != 0 && x.nameAt(int(x.slots[at]-1)) != name {
		at = (at + 1) & (len(x.slots) - 1)
	}
	return at
}

// find returns where in the list what has the name is.
func (x *index) find(name string) (i int, ok bool) {
	place := x.slots[x.slot(name)]
	return int(place - 1), place != 0
}

// add notes that what has the name is there, or about to be, unless there is one already, which it returns.
func (x *index) add(name string, i int) (was int, there bool) {
	at := x.slot(name)
	if place := x.slots[at]; place != 0 {
		return int(place - 1), true
	}
	if x.taken++; 2*x.taken > len(x.slots) {
		x.grow(x.taken)
		at = x.slot(name)
	}
	x.slots[at] = int32(i + 1)
	return i, false
}

// move notes that what has the name, which the list still has where it was, is there now.
func (x *index) move(name string, i int) {
	if at := x.slot(name); x.slots[at] != 0 {
		x.slots[at] = int32(i + 1)
	}
}

// drop forgets a name, which the list still has.
func (x *index) drop(name string) {
	last := len(x.slots) - 1
	free := x.slot(name)
	if x.slots[free] == 0 {
		return
	}
	// What follows moves up, so that the search for it does not end here.
	for at := (free + 1) & last; x.slots[at] != 0; at = (at + 1) & last {
		if home := x.home(x.nameAt(int(x.slots[at] - 1))); (at-home)&last >= (at-free)&last {
			x.slots[free] = x.slots[at]
			free = at
		}
	}
	x.slots[free] = 0
	x.taken--
}
