package top

import (
	"os"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/clitest"
)

// TestPictures holds the pictures of docs/top.md to what is drawn; go test ./cmd/top -run
// TestPictures -update makes them anew.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path          string
		width, height int
		keys          string
	}{
		{"../../docs/top.svg", 124, 28, "down"},
		{"../../docs/top-add.svg", 80, 20, "a =in space =5m"},
	} {
		m := showing(t, &recorder{}, c.width, c.height, looks{colour: true}, busy())
		m, _ = press(t, m, strings.Fields(c.keys)...)
		m = detailed(m)
		got := clitest.Picture((picture{layout{&m}}).screen(), c.width)
		if *update {
			if err := os.WriteFile(c.path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is another picture than what is drawn; -update makes it anew", c.path)
		}
	}
}
