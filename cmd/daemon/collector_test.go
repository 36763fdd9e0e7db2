package daemon

import "testing"

// TestLull: what was used and is not any more is given back, as often as there is much of it.
func TestLull(t *testing.T) {
	const much = 64 << 20
	lull := lull()
	for range 2 {
		room := make([]byte, much)
		for i := 0; i < much; i += 1 << 10 {
			room[i] = 1
		}
		before := held()
		if before < much {
			t.Fatalf("%d bytes are in use, of %d that were written", before, much)
		}
		room = nil
		if lull(); held() > before-much/2 {
			t.Errorf("%d bytes are in use, of %d before", held(), before)
		}
	}
}
