package guide

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ouro-timer/ouro-timer/cmd/cli"
	"github.com/ouro-timer/ouro-timer/cmd/clitest"
	"github.com/ouro-timer/ouro-timer/timer/clock/clocktest"
	"github.com/ouro-timer/ouro-timer/timer/when"
	"github.com/ouro-timer/ouro-timer/timer/when/civil"
)

// TestCompleteTimes holds the words suggested for a time against the reader of times.
func TestCompleteTimes(t *testing.T) {
	zone, err := civil.LoadZone("Europe/Warsaw")
	if err != nil {
		t.Fatal(err)
	}
	o := when.Options{Now: clitest.Noon.In(zone), Zone: zone}
	for _, m := range oneWordTimes {
		if _, err := when.Parse(m.word, o); err != nil {
			t.Errorf("%q: %v", m.word, err)
		}
	}
	for _, b := range timeStarts {
		if _, err := when.Parse(b.about, o); err != nil || !strings.HasPrefix(b.about, b.word+" ") {
			t.Errorf("%q begins %q: %v", b.word, b.about, err)
		}
	}
}

func TestCompleteZones(t *testing.T) {
	w, _, _ := clitest.World(t, clocktest.NewManual(clitest.Noon))
	s := cli.NewCall(w)
	dir := t.TempDir()
	text := "# a remark\tx\ty\nPL\t+5215+02100\tEurope/Warsaw\nES\t+2806-01524\tAtlantic/Canary\tCanary Islands\nbroken\n"
	if err := os.WriteFile(filepath.Join(dir, "zone.tab"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ dir, want string }{
		{dir, "[{Europe/Warsaw the zone in force} {UTC } {Atlantic/Canary ES, Canary Islands}]"},
		{filepath.Join(dir, "none"), "[{Europe/Warsaw the zone in force} {UTC }]"},
	} {
		if got := fmt.Sprint(suggestZones(s, tt.dir)); got != tt.want {
			t.Errorf("offers %s, want %s", got, tt.want)
		}
	}
}
