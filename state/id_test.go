package state

import (
	"strings"
	"testing"
)

// TestIDs: a bijection, unlike neighbours, and no single slip makes another ID.
func TestIDs(t *testing.T) {
	before := ""
	for n := range uint64(31000) {
		id := ID(n)
		if back, ok := IDNumber(id); !ok || back != n {
			t.Fatalf("%d is %s is %d", n, id, back)
		}
		if want := 4; n >= 29791 {
			want = 5
			if len(id) != want {
				t.Fatalf("%d is %s", n, id)
			}
		} else if len(id) != want {
			t.Fatalf("%d is %s", n, id)
		}
		if same := 0; len(before) == len(id) {
			for i := range id {
				if id[i] == before[i] {
					same++
				}
			}
			if same > 2 {
				t.Errorf("neighbours %s and %s", before, id)
			}
		}
		before = id
		if n%100 != 0 {
			continue
		}
		for i := range id {
			for _, c := range alphabet {
				if slip := id[:i] + string(c) + id[i+1:]; slip != id && WholeID(slip) {
					t.Errorf("%s for %s is an ID", slip, id)
				}
			}
			if i > 0 && id[i] != id[i-1] {
				if slip := id[:i-1] + id[i:i+1] + id[i-1:i] + id[i+1:]; WholeID(slip) {
					t.Errorf("%s for %s is an ID", slip, id)
				}
			}
		}
	}
	for _, n := range []uint64{29790, 29791, 29791 + 923520, 29791 + 923521, 1 << 40} {
		if back, ok := IDNumber(ID(n)); !ok || back != n {
			t.Errorf("%d is %s is %d", n, ID(n), back)
		}
	}
}

// TestIDsStay: a number has the ID it always had, or a state folder that is older would give one
// out twice.
func TestIDsStay(t *testing.T) {
	for n, want := range map[uint64]string{0: "cczu", 1: "b42p", 2: "kh57", 29_791: "4huu2"} {
		if got := ID(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func TestMatchID(t *testing.T) {
	short, long := ID(0), ID(29_791)
	for _, c := range []struct {
		id, typed string
		want      bool
	}{
		{short, short, true},
		{short, short[:1], true},
		{short, short[:3], true},
		{long, long[:2], true},
		{short, "", false},
		{short, short + "a", false},
		{short, strings.ToUpper(short), false},
		{short + "abc", short, false}, // a whole ID is never a beginning
	} {
		if got := MatchID(c.id, c.typed); got != c.want {
			t.Errorf("%q for %s: %v, want %v", c.typed, c.id, got, c.want)
		}
	}
}

// FuzzID: a number has one ID and a text one number, whatever they are; and no other text is whole.
func FuzzID(f *testing.F) {
	for _, n := range []uint64{0, 1, 29_790, 29_791, 1 << 40} {
		f.Add(n, ID(n))
	}
	f.Add(uint64(7), "aaaa")
	f.Add(uint64(7), "../x")
	f.Fuzz(func(t *testing.T, n uint64, text string) {
		n %= 1 << 54 // what 12 symbols have room for
		id := ID(n)
		if back, ok := IDNumber(id); !ok || back != n {
			t.Errorf("%d is %s is %d", n, id, back)
		}
		n, ok := IDNumber(text)
		if ok && ID(n) != text {
			t.Errorf("%q is number %d, which is %q", text, n, ID(n))
		}
		if ok != WholeID(text) {
			t.Errorf("%q has a number: %v; is whole: %v", text, ok, !ok)
		}
	})
}

// TestIDKey: no two IDs have the same, and those of up to five symbols have small ones.
func TestIDKey(t *testing.T) {
	seen := map[uint64]string{}
	for _, from := range []uint64{0, 20_000, 953_000, 29_500_000} {
		for n := from; n < from+20_000; n++ {
			id := ID(n)
			key := IDKey(id)
			if other := seen[key]; other != "" || len(id) <= 5 && key >= 1<<20 {
				t.Fatalf("%s has the key %d, as %q has", id, key, other)
			}
			seen[key] = id
		}
	}
}
