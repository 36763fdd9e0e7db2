package files

import (
	"os"
	"testing"

	"github.com/ouro-timer/ouro-timer/state"
)

// TestMendedFileStays: a file that was set aside, and was mended and moved back, is not set aside again by who finishes the last
// line once more, as after a loss of power.
func TestMendedFileStays(t *testing.T) {
	s := open(t, t.TempDir())
	e := must[state.Entry](t)(s.Add(ctx, once("n"), day0))
	n, err := nameOf(e.Task.ID, day0)
	if err != nil {
		t.Fatal(err)
	}
	queued := s.path(queueDir + "/" + n.queue())
	good := must[[]byte](t)(os.ReadFile(queued))
	if err := os.WriteFile(queued, good[:len(good)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	moved := must[[]state.Problem](t)(s.SetAside(ctx, 0))
	if len(moved) != 1 {
		t.Fatal(moved)
	}
	for _, mended := range []bool{false, true} {
		data := good[:len(good)/2]
		if mended {
			data = good
		}
		if err := os.WriteFile(moved[0].Path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(moved[0].Path, queued); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(s.path(counterFile)); err != nil {
			t.Fatal(err)
		}
		settle(t, open(t, s.Dir()))
		if _, err := os.Lstat(queued); (err == nil) != mended {
			t.Errorf("mended %v, and in the queue: %v", mended, err)
		}
	}
}
