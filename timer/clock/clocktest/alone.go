package clocktest

import "testing"

// Raced says that the race detector looks on, under which everything takes five times as long.
const Raced = raced

// Alone skips a test under the race detector. It is for tests whose work is done by one goroutine
// after the other, such as replays of crashes and comparisons with another program's answers: there
// is nothing to detect in them, and they are run without it, too.
func Alone(t testing.TB) {
	t.Helper()
	if Raced {
		t.Skip("one goroutine alone has no races")
	}
}
