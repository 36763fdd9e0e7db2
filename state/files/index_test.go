package files

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestIndexIsAMap puts names into an index and drops them, as the names of a queue come and go, and holds it to a map.
func TestIndexIsAMap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var list []string
	x, want := newIndex(0, func(i int) string { return list[i] }), map[string]int{}
	for step := range 20_000 {
		name := fmt.Sprint(r.IntN(400))
		at, there := want[name]
		if got, ok := x.find(name); ok != there || there && got != at {
			t.Fatalf("step %d: %s is at %d, %v, want %d, %v", step, name, got, ok, at, there)
		}
		switch {
		case !there:
			list = append(list, name)
			want[name] = len(list) - 1
			x.add(name, len(list)-1)
		case step/4000%2 == 0 && r.IntN(3) > 0: // it grows at times, and shrinks at others
		default: // the last takes the place of what goes
			x.drop(name)
			delete(want, name)
			if last := list[len(list)-1]; last != name {
				x.move(last, at)
				list[at], want[last] = last, at
			}
			list = list[:len(list)-1]
		}
		if x.taken != len(want) || 2*x.taken > len(x.slots) {
			t.Fatalf("step %d: %d of %d slots are taken, want %d", step, x.taken, len(x.slots), len(want))
		}
	}
	for name, at := range want {
		if got, ok := x.find(name); !ok || got != at {
			t.Errorf("%s is at %d, %v, want %d", name, got, ok, at)
		}
	}
	x.drop("never there")
}
